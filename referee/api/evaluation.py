"""Tells how good a player is: plays many matches against another one, in other processes, each deal from both seats."""

import gc
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .. import chance
from ..app.pool import each
from ..errors import BadRequest
from ..games.base import Game
from ..match.setup import DEFAULT_TIME, MatchSetup
from ..pairing.base import Pairing
from ..plugins import find_game
from ..record.match_entries import outcome
from ..record.reader import read_record
from ..text import counted
from ..tournament.legs import combined, rotated
from ..tournament.match_context import Fixture, MatchEntry
from ..tournament.ratings.paired import Estimate, as_elo, paired_score
from ..tournament.sprt import Hypotheses, SprtDecision
from ..tournament.sprt import sprt as sprt_of
from ..tournament.sprt_match import PLAIN
from ..tournament.sprt_match import outcome as outcome_of_pair
from .match import Match, Matches
from .played import new_name, play_out, sealer
from .players import Player, SeatedPlayer, seated
from .playing import tell, time_control

_THE_OTHER, _OWN = 0, 1
"""Indices of the players in a pairing: what is counted is how the second one fares."""


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


class _Work(Struct, frozen=True, kw_only=True):
    """What all pairs of matches have in common."""

    game: Game[Any, Any, Any]
    players: tuple[SeatedPlayer, ...]
    """The other one, and the one that is evaluated."""
    setup: MatchSetup
    """Of every match, but for its name, its seats and its seed."""
    seed: int
    records: Path | None


class _Pair(Struct, frozen=True):
    """What came of a deal."""

    legs: tuple[MatchEntry, ...]
    tracebacks: dict[str, str]
    """Player -> what it raised."""


_work: list[_Work] = []
"""What is at work, for the processes that are forked from this one: functions can't be sent to them."""


def evaluate(
    game: str,
    players: Sequence[Player],
    *,
    pairs: int = 100,
    sprt: tuple[float, float] | None = None,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    per_move_s: float = DEFAULT_TIME.per_move_ms / 1000,
    processes: int | None = None,
    records: str | Path | None = None,
    progress: bool = True,
) -> Evaluation:
    """Play many matches between two players, and tell how good the first one is against the second.

    Each deal is played twice with the seats changed, so that luck in the deal cancels out. The matches are played in
    processes that are forked from this one: functions need no file of their own, and what they keep, each process
    keeps for itself. What they print is lost; of the first thing that each raises, the traceback is shown.

    Args:
        game: name of the game.
        players: the one that is evaluated, and the other one, each given as for `play`.
        pairs: so many deals are played at most, with two matches each.
        sprt: two numbers of Elo, as (0, 20); the matches end as soon as a sequential probability ratio test tells
            whether the player is better by the second rather than by the first; it errs in 5 % of the cases.
        seed: fixes the deals; None: they are different ones each time.
        options: of the game, by name.
        names: of the players.
        per_move_s: how long a move may take, in seconds.
        processes: so many matches are played at the same time; None: one for each core.
        records: folder that takes the record of every match; None: none are kept.
        progress: whether a bar is shown on a terminal.

    Returns:
        What the matches say.

    Raises:
        RefereeError: there is no such game, or it can't be played with these players or options.
        KeyboardInterrupt: the user stopped it; the processes are ended.
    """
    rules = find_game(game)
    if len(players) != 2 or pairs < 1:
        raise BadRequest("evaluate takes two players, the one to evaluate and another one, and at least one pair")
    own, other = seated(rules, players, names)
    hypotheses = None if sprt is None else _hypotheses(*sprt)
    folder = None if records is None else Path(records)
    if folder is not None:
        sealer()  # once, and not in every process
    setup = MatchSetup(
        match=new_name(game),
        game=game,
        options=dict(options or {}),
        names=(own.name, other.name),
        time=time_control(per_move_s),
        nonces=False,
        commitment="0" * 64,
    )
    rules.parse_options(setup.options)  # a mistake is told before any process is begun
    number = secrets.randbits(48) if seed is None else seed
    work = _Work(game=rules, players=(other, own), setup=setup, seed=number, records=folder)
    jobs = len(os.sched_getaffinity(0)) if processes is None else processes
    return _evaluated(work, pairs, jobs, hypotheses, is_shown=progress)


def _hypotheses(elo0: float, elo1: float) -> Hypotheses:
    try:
        return Hypotheses(elo0=elo0, elo1=elo1)
    except ValueError as error:
        raise BadRequest(f"sprt: {error}") from None


def _evaluated(work: _Work, pairs: int, jobs: int, hypotheses: Hypotheses | None, *, is_shown: bool) -> Evaluation:
    """Play until all is played, or the test decides; results count in the order of the deals."""
    counts, entries, told = [0] * 5, list[MatchEntry](), set[str]()
    test = None if hypotheses is None else _test(counts, hypotheses)
    _work.append(work)
    try:
        with _bar(pairs, is_shown=is_shown) as step, closing(each(_play_pair, range(1, pairs + 1), jobs)) as results:
            for number, pair in enumerate(results, 1):
                entries += pair.legs
                pairing = Pairing(number=number, round=number, seats=(_OWN, _THE_OTHER))
                counts[outcome_of_pair(combined(pairing, pair.legs, PLAIN).legs)] += 1
                for name in pair.tracebacks.keys() - told:
                    tell(name, pair.tracebacks[name])
                    told.add(name)
                step()
                if hypotheses is not None:
                    test = _test(counts, hypotheses)
                    if test.verdict != "undecided":
                        break
    finally:
        _work.pop()
    other, own = (player.name for player in work.players)
    return Evaluation((own, other), counts, entries, test, work.records)


def _test(counts: Sequence[int], hypotheses: Hypotheses) -> SequentialTest:
    found = sprt_of(counts, hypotheses)
    verdicts = {SprtDecision.ACCEPT: "better", SprtDecision.REJECT: "not better", SprtDecision.CONTINUE: "undecided"}
    return SequentialTest(
        elo0=hypotheses.elo0,
        elo1=hypotheses.elo1,
        verdict=verdicts[found.verdict],
        llr=found.llr,
        lower=found.lower,
        upper=found.upper,
    )


def _play_pair(deal: int) -> _Pair:
    """Play a deal from both seats."""
    gc.enable()  # unlike records, what functions leave may be cycles
    work = _work[-1]
    legs, tracebacks = [], dict[str, str]()
    for leg in range(2):
        entrants = rotated((_OWN, _THE_OTHER), leg)
        players = [work.players[entrant] for entrant in entrants]
        names = tuple(player.name for player in players)
        seed = chance.seed_from_number(chance.deal_number(work.seed, deal))
        name, commitment = f"{work.setup.match}-{deal}.{leg}", chance.commitment(seed)
        setup = replace(work.setup, match=name, names=names, commitment=commitment)
        played = play_out(work.game, players, setup, seed, is_fixed=True)
        if work.records is not None:
            played.write(work.records / f"{name}.jsonl")
        fixture = Fixture(match=name, number=deal, round=deal, table="", leg=leg, attempt=0, entrants=entrants)
        legs.append(outcome(fixture, names, played.result, ""))
        tracebacks.update((names[seat], text) for seat, text in played.tracebacks.items())
    return _Pair(tuple(legs), tracebacks)


@contextmanager
def _bar(pairs: int, *, is_shown: bool) -> Iterator[Any]:
    """Show how far it is, on a terminal or in a notebook that can; yield what is called after each pair."""
    console = Console(stderr=True)
    is_possible = console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)
    columns = (TextColumn("deals"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not (is_shown and is_possible)) as bar:
        task = bar.add_task("deals", total=pairs)
        yield lambda: bar.advance(task)
