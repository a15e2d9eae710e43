"""What the processes of one launched program use."""

import os
from pathlib import Path

from ..programs.processes import find_marked

_TICKS = os.sysconf("SC_CLK_TCK")


def used_cpu_s(mark: str) -> float:
    """Return the CPU time of all processes that carry a mark, in seconds."""
    return sum(_cpu_ticks(pid) for pid in find_marked(mark)) / _TICKS


def used_memory_bytes(mark: str) -> int:
    """Return the most memory that the processes which carry a mark had at once, each by itself, in all."""
    return sum(_peak_bytes(pid) for pid in find_marked(mark))


def _cpu_ticks(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) if fields else 0


def _peak_bytes(pid: int) -> int:
    lines = _read(pid, "status").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""  # gone
