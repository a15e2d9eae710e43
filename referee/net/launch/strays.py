"""Processes that a program has started and that left its process group, found by what they inherited.

Knows Linux's /proc. Refuses to kill. In a sandbox there are none: its end is theirs. Without one, and without control
groups, a process that leaves its group and changes its environment can't be told from the user's own.
"""

import os
from pathlib import Path


def strays(mark: str) -> list[int]:
    """Return the processes of this user whose environment holds a mark.

    Args:
        mark: `NAME=VALUE` that nothing else has.
    """
    wanted, own = mark.encode(), os.getpid()
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return [pid for pid in pids if pid != own and wanted in _environment(pid)]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []  # gone, or another user's
