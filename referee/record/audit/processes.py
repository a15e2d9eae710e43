"""Checks that the matches of a tournament agree about the processes that played them: runs, starts, standstills."""

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

# A single record can be invented and still be consistent. To invent one of many matches that the same process played is
# harder, because they share its clock and its standstills. A stall that excuses a favourite in one match must appear in
# all other matches that ran at that time. And if a match was played in secret before, it does not fit the clock of the
# run that opened it.
#
# A program that stays for several matches could remember a deal. So its starts are numbered. One start must not play
# the same deal twice, two matches at once, or more matches than the tournament allows.

_ROUNDING_MS = 0.01
"""Tolerance when times on a process's clock are compared. Each is the sum of two rounded values, with some room."""


class _Runs:
    """Checks the lines of a tournament's record one after the other: its runs, and the processes in each run.

    A run lasts from a start of the referee to its stop or crash.
    """

    def __init__(self, record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
        self._path = record.path
        self._ran = ran
        self._run = 0
        self._runs: dict[str, int] = {}
        """Process -> number of the run that it belongs to."""
        self._hosts: set[str] = set()
        """Processes of hosts that have joined."""
        self._opened: dict[str, tuple[int, dict[str, float]]] = {}
        """Open match -> the run that opened it, and a copy of `_over_ms` from that moment."""
        self._over_ms: dict[str, float] = {}
        """Process -> end of its latest closed match of this run, on the clock of the process."""

    def take(self, line: int, event: e.AnyTournamentEvent) -> None:
        """Check an event of the tournament.

        Raises:
            RecordError: a process belongs to two runs, a host has a process of another run, or a closed match did not
                run in the processes that the record allows.
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
            RecordError: a match did not run in the processes that the record allows.
        """
        for name in list(self._opened):
            self._check(name)

    def _begin(self, line: int, processes: Sequence[str]) -> None:
        self._run, self._over_ms = self._run + 1, {}
        for process in processes:
            if not process or self._runs.setdefault(process, self._run) != self._run:
                raise RecordError(self._path, line, "a process name that no earlier run used", show_json(process))

    def _came(self, line: int, process: str) -> None:
        if self._runs.get(process) != self._run or process in self._hosts:
            raise RecordError(self._path, line, "a process of this run that no other host has", show_json(process))
        self._hosts.add(process)

    def _check(self, name: str) -> None:
        """Check a match: it ran in processes of the runs since it was opened, in the order of the runs.

        It must have begun after the end of the matches that were closed before it was opened. It need not have run in
        each run: the first run may have crashed before the match began, and in the last run it may have been over.
        """
        opened, over_ms = self._opened.pop(name, (self._run, self._over_ms))
        last, earlier = opened, set[str]()
        for presence in self._ran.get(name, ()):
            process, run = presence.process, self._runs.get(presence.process)
            if run is None or not last <= run <= self._run or process in earlier:
                what = "another process" if process in earlier else "a process that played matches of its run"
                raise self._error(name, f"{what}, according to {self._path.name}", process or "none")
            begin_ms, since_ms = presence.clock_ms + presence.begin_ms, over_ms.get(process, 0.0)
            if run == opened and begin_ms < since_ms - _ROUNDING_MS:
                what = f"a beginning at {since_ms:.3f} ms of its process or later, when an earlier match was over"
                raise self._error(name, what, f"{begin_ms:.3f} ms")
            if run == self._run:
                ended_ms = presence.clock_ms + presence.end_ms
                self._over_ms[process] = max(self._over_ms.get(process, 0.0), ended_ms)
            last = run
            earlier.add(process)

    def _error(self, name: str, expected: str, found: str) -> RecordError:
        return RecordError(self._path.with_name(f"{name}.jsonl"), None, expected, found)


def check_runs(record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
    """Check that each match ran in processes that belong to the runs of its tournament, in the order of the runs.

    Args:
        record: record of the tournament.
        ran: match whose record holds -> the times in which a process ran it.

    Raises:
        RecordError: a match did not. The error names the first such match.
    """
    runs = _Runs(record, ran)
    for transition in record.transitions:
        runs.take(transition.n, transition.event)
    runs.end()


class _Start(Struct):
    """One start of a program, and the matches that it played according to their records."""

    entrant: int
    deals: dict[str, str] = field(default_factory=dict)
    """Deal -> a match with this deal."""
    spans: list[tuple[float, float, str]] = field(default_factory=list)
    """Begin and end of each match on the clock of the process, and its name."""


class _Starts:
    """Checks the starts of programs that the matches report."""

    def __init__(self, record: TournamentRecord, spec: TournamentSpec) -> None:
        self._path = record.path
        self._spec = spec
        self._starts: dict[tuple[str, int], _Start] = {}

    def take(self, fixture: Fixture, presence: Presence) -> None:
        """Check a time in which a process ran a match.

        Raises:
            RecordError: the spec of the tournament does not allow such starts.
        """
        given, name = presence.starts, fixture.match
        if given and (self._spec.programs == "anew" or len(given) != len(fixture.entrants)):
            expected = (
                "no starts, because programs do not stay" if self._spec.programs == "anew" else "a start for each seat"
            )
            raise self._error(name, expected, show_json(given))
        for seat, entrant in enumerate(fixture.entrants):
            number = given[seat] if given else 0
            if not number and seat in presence.heard and self._is_kept(entrant):
                raise self._error(name, f"a start of the program that answered on seat {seat}", show_json(given))
            if number < 0 or (number and self._spec.entrants[entrant].player == REMOTE):
                raise self._error(name, "starts from 1, and 0 for remote players", show_json(given))
            if number:
                self._add(entrant, number, fixture, presence)

    def _is_kept(self, entrant: int) -> bool:
        return self._spec.programs == "kept" and self._spec.entrants[entrant].player != REMOTE

    def end(self) -> None:
        """Check that no program played two matches at once.

        Raises:
            RecordError: a program did.
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
        deal = str(fixture.number) if has_more else name  # otherwise no other match has the deal
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
    """Check that each start of a program belongs to one entrant, and played one match at a time and each deal once.

    Args:
        record: record of the tournament.
        spec: spec of the tournament, including the entrants that joined later.
        ran: match whose record holds -> the times in which a process ran it.

    Raises:
        RecordError: a match contradicts this. The error names the first such match.
    """
    starts = _Starts(record, spec)
    for name, context in record.contexts.items():
        for presence in ran.get(name, ()):
            starts.take(context.fixture, presence)
    starts.end()


class Contradiction(Struct, frozen=True, kw_only=True):
    """A standstill that one match of a process reports, though another match of it at the same time does not."""

    match: str
    """Match that does not report the standstill."""
    witness: str
    """Match that reports it."""
    at_ms: float
    """End of the standstill, as an instant of the match that does not report it."""


def contradictions(presences: Iterable[Presence]) -> Iterator[Contradiction]:
    """Yield, for each match, the first standstill that only another match of the same process reports.

    If a standstill was not over at the last line of one of the matches, it is not compared, since this match does not
    know its end.
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
    """A presence in the time of its process's clock, with the standstills that ended within it."""

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
        """Yield the first standstill that this match lacks, if there is one.

        Args:
            everything: all standstills of the process, each with its end, its begin, and the match that reports it.
        """
        first = bisect_left(everything, (self.begin_ms + 2 * ROUNDING_MS,))
        last = bisect_left(everything, (self._end_ms,))
        for over_ms, begin_ms, witness in everything[first:last]:
            if not self._has(max(begin_ms, self.begin_ms), over_ms, witness.begin_ms):
                at_ms = round(over_ms - self._shift, 3)
                yield Contradiction(match=self.match, witness=witness.match, at_ms=at_ms)
                return

    def _has(self, begin_ms: float, over_ms: float, known_ms: float) -> bool:
        """Return whether this match reports a standstill.

        Args:
            begin_ms: begin of the standstill.
            over_ms: end of the standstill.
            known_ms: instant before which the begin of the standstill is not known.
        """
        index = bisect_left(self._ends, over_ms - ROUNDING_MS)
        if index == len(self._ends) or self._ends[index] > over_ms + ROUNDING_MS:
            return False
        return abs(max(self.standstills[index][0], known_ms) - begin_ms) <= ROUNDING_MS
