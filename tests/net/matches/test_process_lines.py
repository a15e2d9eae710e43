"""The lines about the processes that play a tournament's matches, for other programs."""

from typing import Any

from msgspec.structs import replace

from referee.observers import PlayingProcess
from referee.observers.base import OWN_PROCESS
from referee.observers.process_lines import EVERY, ProcessLines

OWN = PlayingProcess(name=OWN_PROCESS, state="plays", tables=None, matches=("a",), silent_s=0.0)
WORKER = PlayingProcess(name="worker 1", state="plays", tables=None, matches=("b", "c"), silent_s=2.0)


def test_each_line_has_the_longest_lag_since_the_last_one() -> None:
    """The lag of the process, and the lag that a host reports in an answer."""
    lines: list[Any] = []
    watch = ProcessLines(lines.append)
    watch.note("loop-stalled", stalled_s=0.25)
    watch.note("loop-stalled", stalled_s=0.1)
    watch.note("loop-stalled", stalled_s=0.5, worker=2)
    watch.note("worker-started", worker=1)
    watch.note("host-match", host="host", lag_s=0.125)
    for _ in range(2 * EVERY):
        watch.on_processes_seen(
            (OWN, WORKER, *(replace(WORKER, name=name, matches=()) for name in ("worker 2", "host")))
        )
    first, second = lines
    assert [process["lag_ms"] for process in first["processes"]] == [250.0, 0.0, 500.0, 125.0]
    assert [process["lag_ms"] for process in second["processes"]] == [0.0] * 4
    assert first["event"] == "processes-seen"
    assert first["processes"][1] | {"matches": ("b", "c"), "silent_s": 2.0, "state": "plays"} == first["processes"][1]
