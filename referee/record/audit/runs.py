"""Checks that the matches of a tournament ran in the process of the referee that opened and closed them."""

from collections.abc import Mapping, Sequence

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
        self._opened: dict[str, tuple[int, float]] = {}
        """Match -> the run that opened it, and when on its clock the last match was over that it had closed by then."""
        self._processes: dict[str, tuple[int, str]] = {}
        """Process -> its run, and a match that says so."""
        self._of_run: dict[int, tuple[str, str]] = {}
        """Run -> its process, and a match that says so."""
        self._over_ms = 0.0

    def take(self, event: e.AnyTournamentEvent) -> None:
        """Take an event of the tournament.

        Raises:
            RecordError: a match that was opened and closed in one run had another process, or ran at another time.
        """
        match event:
            case e.Begun() | e.TournamentResumed():
                self._run, self._over_ms = self._run + 1, 0.0
            case e.MatchOpened():
                self._opened[event.fixture.match] = self._run, self._over_ms
            case e.MatchClosed():
                name = event.entry.match
                run, since_ms = self._opened.get(name, (0, 0.0))
                if run == self._run:
                    self._close(name, since_ms)

    def _close(self, name: str, since_ms: float) -> None:
        found = self._ran.get(name, ())
        if len(found) > 1:
            raise self._error(name, "one process, as its tournament was not gone on with", f"{len(found)} processes")
        for presence in found:
            self._check_process(name, presence.process)
            begin_ms = presence.clock_ms + presence.begin_ms
            if begin_ms < since_ms - _ROUNDING_MS:
                what = f"a begin from {since_ms:.3f} ms of its process on, for matches were over before it was opened"
                raise self._error(name, what, f"{begin_ms:.3f} ms")
            self._over_ms = max(self._over_ms, presence.clock_ms + presence.end_ms)

    def _check_process(self, name: str, process: str) -> None:
        """Check that each run has one process, and each process one run."""
        known, witness = self._of_run.setdefault(self._run, (process, name))
        if not process or process != known:
            what = f"process {known}, as {witness} has it" if known else "the name of a process"
            raise self._error(name, what, process or "none")
        run, witness = self._processes.setdefault(process, (self._run, name))
        if run != self._run:
            raise self._error(name, f"another process than {witness}, which ran before the tournament stopped", process)

    def _error(self, name: str, expected: str, found: str) -> RecordError:
        return RecordError(self._path.with_name(f"{name}.jsonl"), 2, expected, found)


def check_runs(record: TournamentRecord, ran: Mapping[str, Sequence[Presence]]) -> None:
    """Check that all matches which one run of a tournament opened and closed ran in its one process, in their order.

    Args:
        record: of the tournament.
        ran: match -> when which process ran it, of those whose records hold.

    Raises:
        RecordError: the first match that did not.
    """
    runs = _Runs(record, ran)
    for step in record.steps:
        runs.take(step.event)
