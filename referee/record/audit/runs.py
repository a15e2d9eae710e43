"""Checks that the matches of a tournament ran in the processes that its record names, run by run of the referee."""

from collections.abc import Mapping, Sequence

from ...text import show_json
from ...tournament import events as e
from ..reader import RecordError
from ..tournament_record import TournamentRecord
from .standstills import Presence

_ROUNDING_MS = 0.01
"""Of an instant and of a clock's, each rounded to a microsecond; with some room."""


class _Runs:
    """What the runs of a tournament so far tell of their processes."""

    def __init__(self, record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
        self._path = record.path
        self._ran = ran
        self._run = 0
        self._runs: dict[str, int] = {}
        """Process -> the run that names it."""
        self._hosts: set[str] = set()
        """Processes of hosts that have come."""
        self._opened: dict[str, tuple[int, dict[str, float]]] = {}
        """Match that is open -> the run that opened it, and by process when the last match was over on its clock that
        had been closed by then."""
        self._over_ms: dict[str, float] = {}

    def take(self, line: int, event: e.AnyTournamentEvent) -> None:
        """Take an event of the tournament, which stands in a line.

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
        """Check what the matches tell that are still open.

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

        Which of the runs it ran in it need not tell: the first one may have died before it began, and the last one may
        have found it over.
        """
        opened, over_ms = self._opened.pop(name, (self._run, self._over_ms))
        last, seen = opened, set[str]()
        for presence in self._ran.get(name, ()):
            process, run = presence.process, self._runs.get(presence.process)
            if run is None or not last <= run <= self._run or process in seen:
                what = "a process of its own, once" if process in seen else "a process that played matches of its run"
                raise self._error(name, f"{what}, as {self._path.name} has them", process or "none")
            begin_ms, since_ms = presence.clock_ms + presence.begin_ms, over_ms.get(process, 0.0)
            if run == opened and begin_ms < since_ms - _ROUNDING_MS:
                what = f"a begin from {since_ms:.3f} ms of its process on, for matches were over before it was opened"
                raise self._error(name, what, f"{begin_ms:.3f} ms")
            if run == self._run:
                ended_ms = presence.clock_ms + presence.end_ms
                self._over_ms[process] = max(self._over_ms.get(process, 0.0), ended_ms)
            last = run
            seen.add(process)

    def _error(self, name: str, expected: str, found: str) -> RecordError:
        return RecordError(self._path.with_name(f"{name}.jsonl"), None, expected, found)


def check_runs(record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
    """Check that each match ran in processes that the runs of its tournament name, in their order.

    Args:
        record: of the tournament.
        ran: match -> when which process ran it, of those whose records hold.

    Raises:
        RecordError: the first match that did not.
    """
    runs = _Runs(record, ran)
    for step in record.steps:
        runs.take(step.n, step.event)
    runs.end()
