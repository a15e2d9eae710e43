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

from .opened import FOLDER, opened
from .removal import remove, remove_within

MARK = ".referee-scratch"
_PREFIX = "referee-"


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
        lock = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return folder, lock
        os.close(lock)  # between these lines, somebody took it for a rest


@cache
def _remove_rests(top: str) -> None:
    """Remove what processes that are gone have left; once, for it takes a look at all that is there."""
    with opened(top) as above:
        if _is_safe(os.fstat(above)):
            for name in os.listdir(above):  # noqa: PTH208  # a descriptor
                with suppress(OSError):
                    _remove_rest(above, name)


def _is_safe(top: os.stat_result) -> bool:
    """Tell whether nobody else can exchange what lies in a folder for something else."""
    others_write = bool(top.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) and not top.st_mode & stat.S_ISVTX
    return top.st_uid in (0, os.geteuid()) and not others_write


def _remove_rest(above: int, name: str) -> None:
    """Remove a folder that is this program's and this user's, and that nobody uses.

    Raises:
        OSError: it is none, or it can't be removed.
    """
    if not name.startswith(_PREFIX):
        return
    with (
        opened(name, FOLDER | os.O_NOFOLLOW, within=above) as folder,
        opened(MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, within=folder) as lock,
    ):
        if _is_own(os.fstat(folder)) and _is_own(os.fstat(lock)):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_within(above, name)


def _is_own(found: os.stat_result) -> bool:
    """Tell whether a file or folder is this user's, and nobody else can do anything with it."""
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
