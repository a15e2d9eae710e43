"""A tournament in the numbers that its report and its exports show."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..tournament.history import History
from ..tournament.machine import Tournament
from ..tournament.match_context import FoulEntry, MatchEntry
from ..tournament.placing import placed
from ..tournament.ratings.elo import Rating, elo_ratings
from ..tournament.spec import TournamentSpec
from ..tournament.standings import Standing
from .digest import Digest, SeatTime
from .notation import places_of


@dataclass(frozen=True)
class Summary:
    """What is told of a tournament.

    Args:
        history: its course so far.
        digests: match -> what its record tells besides; matches without one are told of all the same.
    """

    history: History
    digests: Mapping[str, Digest]

    @property
    def tournament(self) -> Tournament:
        """Where it stands."""
        return self.history.tournament

    @property
    def spec(self) -> TournamentSpec:
        """What was settled beforehand."""
        return self.tournament.spec

    @cached_property
    def names(self) -> list[str]:
        """Of the entrants."""
        return [entrant.name for entrant in self.spec.entrants]

    @cached_property
    def suspended(self) -> Mapping[int, str]:
        """Entrant who plays no more -> why."""
        return {suspension.entrant: suspension.why for suspension in self.tournament.suspended.values()}

    @cached_property
    def changed(self) -> Mapping[str, str]:
        """Entrant, by name, that went on with another program -> when that was found the last time."""
        return {self.names[entrant]: at for entrant, at in self.history.changes}

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Everybody, from first to last."""
        return placed(self.tournament)

    @cached_property
    def order(self) -> list[int]:
        """The entrants, from first to last."""
        return [line.entrant for line in self.standings]

    @cached_property
    def ratings(self) -> tuple[Rating, ...]:
        """By entrant: Elo for matches of two, the Plackett-Luce model's for larger ones."""
        skills = self.tournament.skills
        return elo_ratings(self.tournament.table) if skills is None else skills.ratings()

    @cached_property
    def points_by_round(self) -> Mapping[int, Mapping[int, Fraction]]:
        """Round -> entrant -> what its results of this round are worth; rounds in their order."""
        return self.history.points_by_round()

    @cached_property
    def counted(self) -> list[MatchEntry]:
        """The matches that count."""
        return [entry for entry in self.history.entries if entry.match not in self.uncounted]

    @cached_property
    def uncounted(self) -> Mapping[str, str]:
        """Match that does not count -> why not."""
        found = {entry.match: entry.void for entry in self.history.entries if entry.void is not None}
        return {**found, **self.history.disregarded}

    def places(self, entry: MatchEntry) -> list[int]:
        """Return the place of each seat of a match, from 1; zeros if it does not count."""
        return [0] * len(entry.names) if entry.match in self.uncounted else places_of(entry)

    def fouls(self) -> Iterator[tuple[MatchEntry, FoulEntry]]:
        """Yield every foul that counts, in the order in which the results were taken."""
        for entry in self.counted:
            for foul in entry.fouls:
                yield entry, foul

    @cached_property
    def fouls_by_cause(self) -> Mapping[int, Counter[str]]:
        """Entrant -> cause -> how often; those alone who fouled."""
        found: dict[int, Counter[str]] = {}
        for entry, foul in self.fouls():
            found.setdefault(entry.fixture.entrants[foul.seat], Counter())[foul.cause] += 1
        return found

    def fouls_of(self, entrant: int) -> int:
        """Return how often an entrant fouled."""
        return self.fouls_by_cause.get(entrant, Counter()).total()

    def wins_of(self, entrant: int) -> int:
        """Return how many matches an entrant was first in, alone."""
        return self.tournament.table.sums(entrant).wins

    @cached_property
    def times(self) -> Sequence[SeatTime]:
        """By entrant, of the matches that count and whose records are there."""
        found = [SeatTime() for _ in self.names]
        for entry in self.counted:
            if entry.match in self.digests:
                for entrant, time in zip(entry.fixture.entrants, self.digests[entry.match].times, strict=True):
                    found[entrant] = found[entrant].plus(time)
        return found
