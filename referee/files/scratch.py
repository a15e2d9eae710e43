"""Private folders for a while. One that a killed process has left behind is removed by the next that needs one.

That such a folder is this program's is proven by the file in it, that it is this user's by its owner, and that nobody
uses it any more by the lock on the file: the kernel takes it off when its holder ends, however that ends.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from .removal import remove, remove_within

MARK = ".referee-scratch"
_PREFIX = "referee-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_THERE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Make a folder that nobody else can reach, in the system's folder for temporary files, and remove it at the end.

    Args:
        purpose: becomes part of its name.

    Raises:
        OSError: it can't be made.
    """
    with suppress(OSError):  # another one's rest is no reason to do nothing
        _remove_rests(tempfile.gettempdir())
    folder, lock = _made(purpose)
    try:
        yield folder
    finally:
        with suppress(OSError):
            remove(folder)
        os.close(lock)


def _made(purpose: str) -> tuple[Path, int]:
    """Return a new folder, and the descriptor that locks it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
        lock = os.open(folder / MARK, _NEW, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return folder, lock
        os.close(lock)  # between these lines, somebody took it for a rest


@cache
def _remove_rests(top: str) -> None:
    """Remove what processes that are gone have left; once, for it takes a look at all that is there."""
    above = os.open(top, _FOLDER)
    try:
        if not _is_safe(os.fstat(above)):
            return
        with os.scandir(above) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(_PREFIX)]
        for name in names:
            with suppress(OSError):
                _remove_rest(above, name)
    finally:
        os.close(above)


def _is_safe(top: os.stat_result) -> bool:
    """Tell whether nobody else can exchange what lies in a folder for something else."""
    others_write = bool(top.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) and not top.st_mode & stat.S_ISVTX
    return top.st_uid in (0, os.geteuid()) and not others_write


def _remove_rest(above: int, name: str) -> None:
    """Remove a folder that is this program's and this user's, and that nobody uses.

    Raises:
        OSError: it is none, or it can't be removed.
    """
    folder = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
    try:
        if not _is_own(os.fstat(folder)):
            return
        lock = os.open(MARK, _THERE, dir_fd=folder)
        try:
            if _is_own(os.fstat(lock)):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_within(above, name)
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def _is_own(found: os.stat_result) -> bool:
    """Tell whether a file or folder is this user's, and nobody else can do anything with it."""
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
