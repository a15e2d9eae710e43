"""Reports to other programs which processes play the matches of a tournament, and how late their event loops were."""

from collections.abc import Callable
from typing import Any

import msgspec

from .base import OWN_PROCESS, Observer, PlayingProcess

EVERY = 5
"""Number of calls of on_processes_seen for each line that is written. There is one call per second."""


class SeenProcess(PlayingProcess, frozen=True, kw_only=True):
    """A process that plays matches, with its lag."""

    lag_ms: float
    """Longest time in which the process was not listening, since the last line that was written, in milliseconds."""


class ProcessLines(Observer):
    """Writes `processes-seen` every few seconds.

    Args:
        write: function that writes one object.
    """

    def __init__(self, write: Callable[[Any], None]) -> None:
        self._write = write
        self._lag_ms: dict[str, float] = {}
        """Process -> its longest lag since the last line that was written, in milliseconds."""
        self._looks = 0

    def note(self, event: str, /, **facts: Any) -> None:
        """Note a standstill of this process or of a worker, and the lag of a host during a match."""
        if event == "loop-stalled":
            self._note_lag(f"worker {facts['worker']}" if "worker" in facts else OWN_PROCESS, 1000 * facts["stalled_s"])
        elif event == "host-match":
            self._note_lag(facts["host"], 1000 * facts["lag_s"])

    def on_processes_seen(self, processes: tuple[PlayingProcess, ...]) -> None:
        """Write a line, at every fifth call."""
        self._looks += 1
        if self._looks % EVERY:
            return
        processes_with_lag = [self._add_lag(process) for process in processes]
        self._write({"event": "processes-seen", "processes": msgspec.to_builtins(processes_with_lag)})
        self._lag_ms.clear()

    def _note_lag(self, name: str, lag_ms: float) -> None:
        self._lag_ms[name] = max(self._lag_ms.get(name, 0.0), lag_ms)

    def _add_lag(self, process: PlayingProcess) -> SeenProcess:
        lag_ms = self._lag_ms.get(process.name, 0.0)
        return SeenProcess(**msgspec.structs.asdict(process), lag_ms=round(lag_ms, 3))
