"""What a referee leaves behind that is killed: told by its name from what one that lives still needs.

A name has the process and when it started, for numbers of processes come back, and the namespace
in which they count: another container's processes can't be seen from here, and are nobody's to end.
"""

import os
import re
from functools import cache
from pathlib import Path

PREFIX = "referee-"
_MARK = re.compile(re.escape(PREFIX) + r"([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)-")
_STARTED = 19
"""Among the fields behind the program's name: the clock tick at which the process began."""


def own_prefix() -> str:
    """Return how the name of everything begins that goes with this process."""
    return _prefix(os.getpid())


@cache
def _prefix(pid: int) -> str:
    return f"{PREFIX}{_namespace():x}-{pid:x}-{_started(pid) or 0:x}-"


def is_left_behind(name: str) -> bool:
    """Tell whether a name is one of a process that is no more."""
    mark = _MARK.match(name)
    if mark is None:
        return False
    namespace, pid, started = (int(part, 16) for part in mark.groups())
    return namespace == _namespace() and _started(pid) != started


def _namespace() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _started(pid: int) -> int | None:
    """Return when a process began; None if there is none of that number."""
    try:
        return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[_STARTED])
    except (OSError, ValueError, IndexError):
        return None
