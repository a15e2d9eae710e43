"""Checks what the matches of a tournament say of the processes that played them: runs, starts, standstills."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct, field

from ...text import show_json
from ...tournament import events as e
from ...tournament.match_context import Fixture
from ...tournament.spec import REMOTE, TournamentSpec
from ..reader import RecordError
from ..tournament_record import TournamentRecord
from .times import ROUNDING_MS, Presence

# One record can be consistent and still be invented. Matches that one process played are harder to invent apart from
# each other: they share its clock, and its standstills. So a stall that excuses a favourite in one match must be in all
# the others that ran then, and a match that was played in secret before has no place on the clock of the run that
# opened it.
#
# Programs that stay for several matches could remember a deal. Their starts are numbered, and no start may play the
# same deal twice, two matches at once, or more matches than the tournament allows.

_ROUNDING_MS = 0.01
"""Tolerance for the sum of an instant and a clock's reading, both rounded to a microsecond, with some room."""


class _Runs:
    """Runs of a tournament so far, and the processes that they name."""

    def __init__(self, record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
        self._path = record.path
        self._ran = ran
        self._run = 0
        self._runs: dict[str, int] = {}
        """Process -> number of the run that names it."""
        self._hosts: set[str] = set()
        """Processes of hosts that have joined."""
        self._opened: dict[str, tuple[int, dict[str, float]]] = {}
        """Match that is open -> the run that opened it, and by process when the last match was over on its clock that
        had been closed by then."""
        self._over_ms: dict[str, float] = {}

    def take(self, line: int, event: e.AnyTournamentEvent) -> None:
        """Check an event of the tournament.

        Raises:
            RecordError: it names a process once more, or for a host one that is not the run's, or a match is closed
                that no run so far explains.
        """
        match event:
            case e.Begun() | e.TournamentResumed():
                self._begin(line, event.processes)
            case e.HostCame():
                self._came(line, event.process)
            case e.MatchOpened():
                self._opened[event.fixture.match] = self._run, dict(self._over_ms)
            case e.MatchClosed():
                self._check(event.entry.match)

    def end(self) -> None:
        """Check the matches that are still open.

        Raises:
            RecordError: no run explains one of them.
        """
        for name in list(self._opened):
            self._check(name)

    def _begin(self, line: int, processes: Sequence[str]) -> None:
        self._run, self._over_ms = self._run + 1, {}
        for process in processes:
            if not process or self._runs.setdefault(process, self._run) != self._run:
                raise RecordError(self._path, line, "processes with names of their own", show_json(process))

    def _came(self, line: int, process: str) -> None:
        if self._runs.get(process) != self._run or process in self._hosts:
            raise RecordError(self._path, line, "a process of this run, and of no other host", show_json(process))
        self._hosts.add(process)

    def _check(self, name: str) -> None:
        """Check that a match ran in processes of the runs since it was opened, in their order, and after what was over.

        It need not have run in each of them: the first run may have crashed before the match began, and the last may
        have found it over.
        """
        opened, over_ms = self._opened.pop(name, (self._run, self._over_ms))
        last, earlier = opened, set[str]()
        for presence in self._ran.get(name, ()):
            process, run = presence.process, self._runs.get(presence.process)
            if run is None or not last <= run <= self._run or process in earlier:
                what = (
                    "a process of its own, once" if process in earlier else "a process that played matches of its run"
                )
                raise self._error(name, f"{what}, as {self._path.name} has them", process or "none")
            begin_ms, since_ms = presence.clock_ms + presence.begin_ms, over_ms.get(process, 0.0)
            if run == opened and begin_ms < since_ms - _ROUNDING_MS:
                what = f"a begin from {since_ms:.3f} ms of its process on, for matches were over before it was opened"
                raise self._error(name, what, f"{begin_ms:.3f} ms")
            if run == self._run:
                ended_ms = presence.clock_ms + presence.end_ms
                self._over_ms[process] = max(self._over_ms.get(process, 0.0), ended_ms)
            last = run
            earlier.add(process)

    def _error(self, name: str, expected: str, found: str) -> RecordError:
        return RecordError(self._path.with_name(f"{name}.jsonl"), None, expected, found)


def check_runs(record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
    """Check that each match ran in processes that the runs of its tournament name, in their order.

    Args:
        record: record of the tournament.
        ran: match whose record holds -> the processes that ran it, and when.

    Raises:
        RecordError: the first match that did not.
    """
    runs = _Runs(record, ran)
    for transition in record.transitions:
        runs.take(transition.n, transition.event)
    runs.end()


class _Start(Struct):
    """One start of a program, and the matches that it played according to their records."""

    entrant: int
    deals: dict[str, str] = field(default_factory=dict)
    """Deal -> a match that had it."""
    spans: list[tuple[float, float, str]] = field(default_factory=list)
    """Begin and end of each match on the clock of the process, and its name."""


class _Starts:
    """Starts of programs, as the matches so far report them."""

    def __init__(self, record: TournamentRecord, spec: TournamentSpec) -> None:
        self._path = record.path
        self._spec = spec
        self._starts: dict[tuple[str, int], _Start] = {}

    def take(self, fixture: Fixture, presence: Presence) -> None:
        """Check a time in which a process ran a match.

        Raises:
            RecordError: no tournament of that spec has such starts.
        """
        given, name = presence.starts, fixture.match
        if given and (self._spec.programs == "anew" or len(given) != len(fixture.entrants)):
            expected = (
                "no starts, as programs do not stay" if self._spec.programs == "anew" else "a start for each seat"
            )
            raise self._error(name, expected, show_json(given))
        for seat, entrant in enumerate(fixture.entrants):
            number = given[seat] if given else 0
            if not number and seat in presence.heard and self._is_kept(entrant):
                raise self._error(name, f"a start of the program that answered on seat {seat}", show_json(given))
            if number < 0 or (number and self._spec.entrants[entrant].player == REMOTE):
                raise self._error(name, "starts of programs that the referee started, from 1", show_json(given))
            if number:
                self._add(entrant, number, fixture, presence)

    def _is_kept(self, entrant: int) -> bool:
        return self._spec.programs == "kept" and self._spec.entrants[entrant].player != REMOTE

    def end(self) -> None:
        """Check that no program played two matches at once.

        Raises:
            RecordError: one did.
        """
        for (_, number), start in self._starts.items():
            for (_, over_ms, match), (begun_ms, _, following) in pairwise(sorted(start.spans)):
                if begun_ms < over_ms - _ROUNDING_MS:
                    raise self._error(following, f"another start than {number}, which played {match} then", f"{number}")

    def _add(self, entrant: int, number: int, fixture: Fixture, presence: Presence) -> None:
        start, spec, name = (
            self._starts.setdefault((presence.process, number), _Start(entrant)),
            self._spec,
            fixture.match,
        )
        if start.entrant != entrant:
            whose = spec.entrants[start.entrant].name
            raise self._error(name, f"another start than {number}, which is one of {whose}", f"{number}")
        has_more = spec.duplicate or spec.seed is not None
        deal = str(fixture.number) if has_more else name  # else it is this match's alone
        other = start.deals.setdefault(deal, name)
        if other != name:
            raise self._error(name, f"another start than {number}, which played that deal in {other}", f"{number}")
        if len(start.deals) > spec.keep_for:
            raise self._error(name, f"a start that has played fewer than {spec.keep_for} matches", f"{number}")
        begin_ms, end_ms = presence.clock_ms + presence.begin_ms, presence.clock_ms + presence.end_ms
        start.spans.append((begin_ms, end_ms, name))

    def _error(self, name: str, expected: str, found: str) -> RecordError:
        return RecordError(self._path.with_name(f"{name}.jsonl"), None, expected, found)


def check_starts(record: TournamentRecord, spec: TournamentSpec, ran: Mapping[str, Sequence[Presence]]) -> None:
    """Check that every start of a program played matches of its own entrant, one at a time and each deal once.

    Args:
        record: record of the tournament.
        spec: spec of the tournament, with entrants that joined later.
        ran: match whose record holds -> the processes that ran it, and when.

    Raises:
        RecordError: the first match of which that does not hold.
    """
    starts = _Starts(record, spec)
    for name, context in record.contexts.items():
        for presence in ran.get(name, ()):
            starts.take(context.fixture, presence)
    starts.end()


class Contradiction(Struct, frozen=True, kw_only=True):
    """A standstill that one match of a process had, and another match at the same time had not."""

    match: str
    """Match that does not have the standstill."""
    witness: str
    """Match that has it."""
    at_ms: float
    """End of the standstill, in the time of the match that does not have it."""


def contradictions(presences: Iterable[Presence]) -> Iterator[Contradiction]:
    """Yield, for each match, the first standstill that another match of its process had at that time, and it had not.

    One that was not over at the last line of either is not compared: there, its end is not known.
    """
    processes = defaultdict[str, list[Presence]](list)
    for presence in presences:
        if presence.process:
            processes[presence.process].append(presence)
    for ran in processes.values():
        on_clock = [_OnClock(presence) for presence in ran]
        everything = sorted((over_ms, begin_ms, match) for match in on_clock for begin_ms, over_ms in match.standstills)
        for match in on_clock:
            yield from match.lacking(everything)


class _OnClock:
    """A presence on the clock of its process, with the standstills that ended within it."""

    def __init__(self, presence: Presence) -> None:
        shift = self._shift = presence.clock_ms
        self.match = presence.match
        self.begin_ms, self._end_ms = presence.begin_ms + shift, presence.end_ms + shift - 2 * ROUNDING_MS
        moved = [(begin_ms + shift, over_ms + shift) for begin_ms, over_ms in presence.standstills]
        self.standstills = [standstill for standstill in moved if standstill[1] < self._end_ms]
        self._ends = [over_ms for _, over_ms in self.standstills]

    def __lt__(self, other: "_OnClock") -> bool:
        return self.begin_ms < other.begin_ms

    def lacking(self, everything: Sequence[tuple[float, float, "_OnClock"]]) -> Iterator[Contradiction]:
        """Yield the first standstill, of all that its process had, that this match lacks."""
        first = bisect_left(everything, (self.begin_ms + 2 * ROUNDING_MS,))
        last = bisect_left(everything, (self._end_ms,))
        for over_ms, begin_ms, witness in everything[first:last]:
            if not self._has(max(begin_ms, self.begin_ms), over_ms, witness.begin_ms):
                at_ms = round(over_ms - self._shift, 3)
                yield Contradiction(match=self.match, witness=witness.match, at_ms=at_ms)
                return

    def _has(self, begin_ms: float, over_ms: float, known_ms: float) -> bool:
        """Return whether it has a standstill, whose begin before an instant is unknown."""
        index = bisect_left(self._ends, over_ms - ROUNDING_MS)
        if index == len(self._ends) or self._ends[index] > over_ms + ROUNDING_MS:
            return False
        return abs(max(self.standstills[index][0], known_ms) - begin_ms) <= ROUNDING_MS
