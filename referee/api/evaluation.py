"""What many matches between two players say of the first one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from ..errors import BadRequest
from ..record.reader import read_record
from ..text import counted
from ..tournament.match_context import MatchEntry
from ..tournament.ratings.elo import Estimate, as_elo, paired_score
from .match import Match, Matches


class SequentialTest(Struct, frozen=True, kw_only=True):
    """What the sequential test says: is the player better by `elo1` rather than by `elo0`?"""

    elo0: float
    elo1: float
    verdict: str
    """`better`, `not better`, or `undecided`."""
    llr: float
    """Logarithm of how much likelier the results are under `elo1` than under `elo0`."""
    lower: float
    upper: float
    """Bounds of the logarithm, at which the test decides."""


class Evaluation(Matches):
    """What many matches say of a player against another one. Its tables are those of its matches."""

    def __init__(
        self,
        players: tuple[str, str],
        counts: Sequence[int],
        entries: Sequence[MatchEntry],
        test: SequentialTest | None,
        records: Path | None,
    ) -> None:
        self.players = players
        """The names: of who was evaluated, and of the other one."""
        self.counts = tuple(counts)
        """Deals of which the player got 0, 1/2, 1, 3/2 and 2 points, playing both seats."""
        self.test = test
        """What the sequential test says; None: none was asked for."""
        self._matches = tuple(entries)
        self._folder = records

    def __repr__(self) -> str:
        return f"<referee.Evaluation of {self.players[0]} against {self.players[1]}: {self.score.value:.3f}>"

    def __str__(self) -> str:
        own, other = self.players
        score, elo = self.score, self.elo
        lines = [
            f"{own} against {other}: {counted(self.games, 'match', 'matches')}, each deal from both seats",
            f"  score  {score.value:.3f}, with 95 % between {score.low:.3f} and {score.high:.3f}",
            f"  Elo    {elo.value:+.0f}, with 95 % between {elo.low:+.0f} and {elo.high:+.0f}",
        ]
        if self.test is not None:
            test = self.test
            bounds = f"log-likelihood ratio {test.llr:.2f} within {test.lower:.2f} and {test.upper:.2f}"
            lines.append(f"  SPRT   {test.verdict} by {test.elo1:g} rather than {test.elo0:g} Elo ({bounds})")
        for name in self.players:
            fouls = sum(entry.names[foul.seat] == name for entry in self._matches for foul in entry.fouls)
            if fouls:
                lines.append(f"  {name} was expelled in {counted(fouls, 'match', 'matches')}")
        return "\n".join(lines)

    @property
    def games(self) -> int:
        """How many matches were played."""
        return len(self._matches)

    @property
    def score(self) -> Estimate:
        """The player's share of the points, with the interval (`value`, `low`, `high`) that holds it with 95 %."""
        return paired_score(self.counts)

    @property
    def elo(self) -> Estimate:
        """The same in points of Elo; infinite if all points were won or lost."""
        return as_elo(self.score)

    def _entries(self) -> Sequence[MatchEntry]:
        return self._matches

    def _records(self) -> Iterator[Match]:
        if self._folder is None:
            raise BadRequest(
                "turns and times need the records of the matches: evaluate(..., records=FOLDER) keeps them"
            )
        for entry in self._matches:
            yield Match(read_record(self._folder / f"{entry.match}.jsonl"))
