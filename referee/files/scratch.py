"""Private temporary folders. A folder that a killed process left behind is removed by the next that needs one."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from .opened import FOLDER, open_descriptor
from .removal import remove, remove_within
from .tree import MIB

# To delete a stranger's folder by mistake would be much worse than to leave some rubbish. A folder is removed only if
# it holds the mark of this program, belongs to this user, and nobody holds the lock on the mark. The kernel releases
# that lock when its holder ends, in whatever way; a file with a process id would outlive its process, and ids are used
# again.

MARK = ".referee-scratch"
_PREFIX = "referee-"
_MEMORY = "/dev/shm"  # noqa: S108  # what is made there is this user's alone
_MOST_BYTES, _LEFT_BYTES = MIB, 64 * MIB
"""Largest program that goes into memory, and the room that must be free there, in bytes."""


@contextmanager
def scratch(purpose: str, top: str | None = None) -> Iterator[Path]:
    """Make a folder that no other user can reach, and remove it at the end.

    Args:
        purpose: part of its name.
        top: folder to make it in; None for the system's folder for temporary files.

    Raises:
        OSError: it can't be made.
    """
    top = top or tempfile.gettempdir()
    with suppress(OSError):  # leftovers that can't be removed are no reason to fail
        _remove_leftovers(top)
    folder, lock = _make(purpose, top)
    try:
        yield folder
    finally:
        with suppress(OSError):
            remove(folder)
        os.close(lock)


def find_memory(size_bytes: int) -> str | None:
    """Find a folder in memory for a program's files; None if there is none, or `TMPDIR` names another place.

    Args:
        size_bytes: size of all files together.
    """
    if size_bytes > _MOST_BYTES or "TMPDIR" in os.environ:
        return None
    try:
        system, status = os.statvfs(_MEMORY), os.stat(_MEMORY)  # noqa: PTH116  # no path is made for it
    except OSError:
        return None
    has_room = system.f_bavail * system.f_frsize >= _LEFT_BYTES and os.access(_MEMORY, os.W_OK | os.X_OK)
    return _MEMORY if has_room and not system.f_flag & os.ST_NOEXEC and _is_safe(status) else None


def _make(purpose: str, top: str) -> tuple[Path, int]:
    """Return a new folder, and the descriptor that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-", dir=top))
        lock = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return folder, lock
        os.close(lock)  # between these lines, another process removed it as a leftover


@cache
def _remove_leftovers(top: str) -> None:
    """Remove what ended processes have left behind; only once, since it looks at every name."""
    with open_descriptor(top) as above:
        if _is_safe(os.fstat(above)):
            for name in os.listdir(above):  # noqa: PTH208  # a descriptor
                with suppress(OSError):
                    _remove_leftover(above, name)


def _is_safe(top: os.stat_result) -> bool:
    """Return whether no other user can exchange the content of a folder."""
    others_write = bool(top.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) and not top.st_mode & stat.S_ISVTX
    return top.st_uid in (0, os.geteuid()) and not others_write


def _remove_leftover(above: int, name: str) -> None:
    """Remove a folder that this program made for this user, and that no process uses.

    Raises:
        OSError: it is no such folder, or can't be removed.
    """
    if not name.startswith(_PREFIX):
        return
    with (
        open_descriptor(name, FOLDER | os.O_NOFOLLOW, within=above) as folder,
        open_descriptor(MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, within=folder) as lock,
    ):
        if _is_own(os.fstat(folder)) and _is_own(os.fstat(lock)):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_within(above, name)


def _is_own(status: os.stat_result) -> bool:
    """Return whether a file or folder belongs to this user, and no other user can do anything with it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
