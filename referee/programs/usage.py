"""Measures the processor time and the memory of a program's processes, and whether one of them is computing."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct

_TICKS = os.sysconf("SC_CLK_TCK")
_STATE, _USER, _SYSTEM = 0, 11, 12
"""Indices of fields in /proc/PID/stat, counted after the name of the process."""
_BUSY = ("R", "D")
"""States of a thread that is computing or waits for a disk."""


class ProcessorUse(Struct, frozen=True, kw_only=True):
    """Processor time of a program, and what it is doing now."""

    used_ms: float
    """Processor time of its processes since they were started, in milliseconds."""
    is_computing: bool
    """True if at least one of its threads is computing; False if all of them are waiting."""


def measure_processor_use(pids: Collection[int]) -> ProcessorUse | None:
    """Return the processor use of some processes together; None if none of them is left."""
    stats = [fields for pid in pids if (fields := _read_stat(f"{pid}"))]
    if not stats:
        return None
    threads = (fields for pid in pids for fields in _read_threads(pid))
    return ProcessorUse(
        used_ms=sum(map(_used_ticks, stats)) * 1000 / _TICKS,
        is_computing=any(fields[_STATE] in _BUSY for fields in threads),
    )


def measure_peak_memory(pids: Collection[int]) -> int:
    """Return the sum of the peak memory of processes, in bytes."""
    return sum(_peak_bytes(pid) for pid in pids)


def _used_ticks(fields: list[str]) -> int:
    return int(fields[_USER]) + int(fields[_SYSTEM])


def _read_threads(pid: int) -> Iterator[list[str]]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # only names are needed
    except OSError:
        return
    yield from filter(None, (_read_stat(f"{pid}/task/{thread}") for thread in threads))


def _read_stat(process: str) -> list[str]:
    """Return the fields after the name of a process; an empty list if the process is gone."""
    return _read(f"/proc/{process}/stat").rpartition(")")[2].split()


def _peak_bytes(pid: int) -> int:
    lines = _read(f"/proc/{pid}/status").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""  # the process has ended
