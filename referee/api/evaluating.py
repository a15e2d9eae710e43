"""Evaluates a player by many matches against another one, in other processes; each deal is played from both seats.

The calculation, and the sentence that states the result, are those of `referee compare` (app/comparison.py). The
matches differ: here they are played between functions, in processes forked from this one, because a function can't be
sent to another process.
"""

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
from ..app.comparison import SequentialTest, compare_pairs, run_test
from ..app.pool import map_in_processes
from ..errors import BadRequest
from ..games.arguments import describe, read_list, read_number, read_options, read_seed, read_text, read_whole
from ..match.setup import DEFAULT_TIME, MatchSetup
from ..net.matches.session import name_match
from ..plugins import find_game
from ..record.reader import read_record
from ..text import counted
from ..tournament.match_context import Fixture, MatchEntry, combine_legs, make_entry, rotate_seats
from ..tournament.pairing.base import Pairing
from ..tournament.ratings.elo import Estimate, as_elo, paired_score
from ..tournament.sprt import PLAIN, Hypotheses
from ..tournament.sprt import outcome as outcome_of_pair
from .match import Match, Matches
from .paths import read_path, writing
from .played import play_to_end, sealer
from .players import Player, SeatedPlayer, seat_players
from .playing import tell, time_control


class Evaluation(Matches):
    """The result of many matches of a player against another one. Its tables are those of its matches.

    >>> print(evaluation)
    greedy is better than random: 100 % of the points, above +101 Elo, 10 matches
    """

    def __init__(
        self,
        players: tuple[str, str],
        counts: Sequence[int],
        entries: Sequence[MatchEntry],
        test: SequentialTest | None,
        records: Path | None,
    ) -> None:
        self.players = players
        """Names of the evaluated player and of the other one."""
        self.counts = tuple(counts)
        """Deals in which the player got 0, 1/2, 1, 3/2 and 2 points, having played both seats."""
        self.test = test
        """Where the sequential test stands; None if none was asked for."""
        self._matches = tuple(entries)
        self._folder = records

    def __repr__(self) -> str:
        return f"<referee.Evaluation of {self.players[0]} against {self.players[1]}: {self.score.value:.3f}>"

    def __str__(self) -> str:
        evaluated, other = self.players
        lines = [compare_pairs(other, evaluated, self.counts, self.test).sentence]
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
        """Number of matches.

        >>> evaluation.games
        10
        """
        return len(self._matches)

    @property
    def score(self) -> Estimate:
        """The player's share of the points, with its 95 % interval (`value`, `low`, `high`).

        >>> evaluation.score
        Estimate(value=1.0, low=0.64..., high=1.0)
        """
        return paired_score(self.counts)

    @property
    def elo(self) -> Estimate:
        """The same score in points of Elo; infinite if the player got all points or none.

        >>> evaluation.elo
        Estimate(value=inf, low=101.1..., high=inf)
        """
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


_THE_OTHER, _OWN = 0, 1
"""Indices of the two players in a pairing. The second one is evaluated, as B is in a comparison."""


class _Work(Struct, frozen=True):
    """The settings that all pairs of matches of an evaluation share."""

    players: tuple[SeatedPlayer, ...]
    """The other player, and the evaluated one."""
    setup: MatchSetup
    """Setup of every match, except for its name, its seats and its seed."""
    seed: int
    records: Path | None


class _Pair(Struct, frozen=True):
    """Results of one deal."""

    legs: tuple[MatchEntry, ...]
    tracebacks: dict[str, str]
    """Player -> the traceback of what it raised."""


# Pairs of matches must be counted in the order of their deals, not in the order in which they end. Otherwise a test
# that stops early would see mostly quick matches, and these may favour one of the players. So a result waits for the
# deals before it; `map_in_processes` keeps the order.
_work: list[_Work] = []
"""The evaluation that is running. Forked processes find it here, because functions can't be sent to them."""


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
    """Play many matches between two players, and measure how good the first one is against the second.

    Each deal is played twice with the seats changed, so that luck in the deal cancels out. The matches are played in
    processes that are forked from this one: functions need no file of their own, and each process has its own copy of
    their data. The output of players is lost; the first traceback of each player is shown.

    Args:
        game: name of the game.
        players: the evaluated player and the other one, each given as for `play`.
        pairs: largest number of deals; each is played in two matches.
        sprt: two differences in points of Elo, such as (0, 20). The matches end as soon as a sequential probability
            ratio test can tell which of the two differences fits the results better; it errs in 5 % of cases.
        seed: fixes the deals; None: they are different every time.
        options: options of the game, by name.
        names: names of the two players; None: the players' own names.
        per_move_s: limit for each move, in seconds.
        processes: matches played at the same time; None: one for each core.
        records: folder for the record of every match; None: no records are kept.
        progress: whether a progress bar is shown on a terminal.

    Returns:
        The evaluation.

    Raises:
        RefereeError: there is no such game, or it can't be played with these players or options.
        KeyboardInterrupt: the user stopped it; the processes are ended.

    >>> players = ["house:greedy", "house:random"]
    >>> referee.evaluate("quincy", players, pairs=2, seed=1, processes=1).games
    4
    """
    rules = find_game(read_text("game", game, "quincy"))
    pairs = read_whole("pairs", pairs, 1)
    jobs = len(os.sched_getaffinity(0)) if processes is None else read_whole("processes", processes, 1)
    both = read_list("players", players, "a list of two, the player to evaluate and another one")
    if len(both) != 2:
        raise BadRequest(f"evaluate takes two players, the one to evaluate and another one, not {len(both)}")
    evaluated, other = seat_players(rules, both, names)
    setup = _setup(game, (other, evaluated), read_options(options), per_move_s)
    tally = _Tally(sprt)
    work = _Work((other, evaluated), setup, secrets.randbits(48) if seed is None else read_seed(seed), _folder(records))
    return _play_pairs(work, pairs, jobs, tally, is_shown=progress)


def _setup(game: str, players: Sequence[SeatedPlayer], options: Mapping[str, Any], per_move_s: float) -> MatchSetup:
    """Return the setup that all matches share, before the seats are drawn.

    Raises:
        RefereeError: the options do not fit the game, or the limit of a move is not valid.
    """
    find_game(game).parse_options(dict(options))  # a mistake is reported before any process starts
    return MatchSetup(
        match=name_match(game),
        game=game,
        options=dict(options),
        names=tuple(player.name for player in players),
        time=time_control(per_move_s),
        nonces=False,
        # Only a placeholder: each match gets the commitment to its own seed.
        commitment="0" * 64,
    )


def _folder(records: str | Path | None) -> Path | None:
    """Return the folder of the records, and make the key that seals them, here and not in every process."""
    if records is None:
        return None
    folder = read_path("records", records)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    sealer()
    return folder


def _hypotheses(sprt: tuple[float, float]) -> Hypotheses:
    what = "two numbers of Elo, as (0, 20)"
    bounds = read_list("sprt", sprt, what)
    if len(bounds) != 2:
        raise BadRequest(f"sprt is {what}, not {describe(sprt)}")
    elo0, elo1 = (read_number("each number of sprt", bound) for bound in bounds)
    try:
        return Hypotheses(elo0=elo0, elo1=elo1)
    except ValueError as error:
        raise BadRequest(f"sprt: {error}") from None


class _Tally:
    """The results so far, in the order of the deals.

    Args:
        sprt: the hypotheses of the sequential test, as for `evaluate`; None: there is no test.

    Raises:
        BadRequest: the hypotheses are not two numbers, the lower one first.
    """

    def __init__(self, sprt: tuple[float, float] | None) -> None:
        self._hypotheses = None if sprt is None else _hypotheses(sprt)
        self._told: set[str] = set()
        self.counts = [0] * 5
        self.entries: list[MatchEntry] = []
        self.test = self._run_test()

    def add(self, pair: _Pair) -> None:
        """Count a pair, and show the first traceback of each player."""
        self.entries += pair.legs
        number = len(self.entries) // 2
        pairing = Pairing(number=number, round=number, seats=(_OWN, _THE_OTHER))
        self.counts[outcome_of_pair(combine_legs(pairing, pair.legs, PLAIN).legs)] += 1
        for name in pair.tracebacks.keys() - self._told:
            tell(name, pair.tracebacks[name])
            self._told.add(name)
        self.test = self._run_test()

    @property
    def is_decided(self) -> bool:
        """Whether the test needs no more pairs."""
        return self.test is not None and self.test.verdict != "undecided"

    def _run_test(self) -> SequentialTest | None:
        return None if self._hypotheses is None else run_test(self.counts, self._hypotheses)


def _play_pairs(work: _Work, pairs: int, jobs: int, tally: _Tally, *, is_shown: bool) -> Evaluation:
    """Play until all pairs are played, or the test decides."""
    _work.append(work)
    try:
        with (
            _bar(pairs, is_shown=is_shown) as step,
            closing(map_in_processes(_play_pair, range(1, pairs + 1), jobs)) as results,
        ):
            for pair in results:
                tally.add(pair)
                step()
                if tally.is_decided:
                    break
    finally:
        _work.pop()
    other, evaluated = (player.name for player in work.players)
    return Evaluation((evaluated, other), tally.counts, tally.entries, tally.test, work.records)


def _play_pair(deal: int) -> _Pair:
    """Play a deal from both seats."""
    gc.enable()  # the pool pauses the collector for records, but functions may leave cycles
    work = _work[-1]
    legs, tracebacks = [], dict[str, str]()
    for leg in range(2):
        entrants = rotate_seats((_OWN, _THE_OTHER), leg)
        players = [work.players[entrant] for entrant in entrants]
        names = tuple(player.name for player in players)
        # The seed follows from the number of the deal alone, so it does not matter which process plays it.
        seed = chance.seed_from_number(chance.deal_number(work.seed, deal))
        name, commitment = f"{work.setup.match}-{deal}.{leg}", chance.commitment(seed)
        setup = replace(work.setup, match=name, names=names, commitment=commitment)
        played = play_to_end(find_game(work.setup.game), players, setup, seed, is_fixed=True)
        if work.records is not None:
            played.write(work.records / f"{name}.jsonl")
        fixture = Fixture(match=name, number=deal, round=deal, table="", leg=leg, attempt=0, entrants=entrants)
        legs.append(make_entry(fixture, names, played.result, ""))
        tracebacks.update((names[seat], text) for seat, text in played.tracebacks.items())
    return _Pair(tuple(legs), tracebacks)


@contextmanager
def _bar(pairs: int, *, is_shown: bool) -> Iterator[Any]:
    """Show a progress bar, if the terminal or notebook can; yield a function to call after each pair."""
    console = Console(stderr=True)
    is_possible = console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None)
    columns = (TextColumn("deals"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not (is_shown and is_possible)) as bar:
        task = bar.add_task("deals", total=pairs)
        yield lambda: bar.advance(task)
