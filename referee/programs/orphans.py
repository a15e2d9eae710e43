"""Processes that a program has started and that left its process group, found by what they inherited.

In a sandbox there are none: its end is theirs. Without one, and without control groups, a process that leaves its group
and changes its environment can't be told from the user's own.
"""

import os
import signal
from contextlib import suppress

from ..files.opened import opened

_READ_BYTES = 65_536


def orphans(mark: str) -> list[int]:
    """Return the processes of this user whose environment holds a mark.

    Args:
        mark: `NAME=VALUE` that nothing else has.
    """
    wanted, own = mark.encode(), os.getpid()
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208  # names are all that is wanted
    return [pid for pid in pids if pid != own and _has(pid, wanted)]


def kill_orphans(mark: str) -> bool:
    """Kill the processes whose environment holds a mark; tell whether there were any."""
    pids = orphans(mark)
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(pids)


def _has(pid: int, wanted: bytes) -> bool:
    """Tell whether a process inherited a variable; read without ado, for the loop waits meanwhile."""
    environment = b""
    try:
        with opened(f"/proc/{pid}/environ", os.O_RDONLY) as file:
            while data := os.read(file, _READ_BYTES):
                environment += data
    except OSError:
        return False  # gone, or another user's
    return wanted in environment and wanted in environment.split(b"\0")
