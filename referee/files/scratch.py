"""Temporary folders, which only their owner can use, and which are removed with any content, however deep."""

import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path

from .reading import FOLDER, open_descriptor
from .tree import MIB

# A program can leave folders nested so deep that no path reaches the bottom, and that recursion would run out of stack
# or descriptors. So nested folders are first moved up into the outermost folder, which is then emptied.

_BATCH = 10_000


@contextmanager
def temporary_folder(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Make a folder that only its owner can use, and remove it with all its content at the end.

    Args:
        prefix: first part of its name.
        within: folder to make it in; None for the system's folder for temporary files.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))  # its mode is 0700
    try:
        yield folder
    finally:
        with suppress(OSError):
            remove(folder)


def remove(path: Path) -> None:
    """Remove a folder with its content, or a file in its place; do nothing if there is neither.

    Raises:
        OSError: something in it can't be removed.
    """
    with suppress(FileNotFoundError), open_descriptor(path.parent) as above:
        remove_within(above, path.name)


def remove_within(above: int, name: str, outermost: int | None = None) -> None:
    """Remove a name from a folder.

    Args:
        above: descriptor of the folder.
        name: name in that folder.
        outermost: descriptor of the folder that nested content is moved up to; None to remove that folder itself.

    Raises:
        OSError: the name does not exist, or something below it can't be removed.
    """
    if not _is_folder(above, name):
        os.unlink(name, dir_fd=above)
        return
    _unlock(above, name)
    with open_descriptor(name, FOLDER | os.O_NOFOLLOW, within=above) as folder:
        while entries := _entries(folder):
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.name, dir_fd=folder)
                elif outermost is None:
                    remove_within(folder, entry.name, folder)
                else:
                    _unlock(folder, entry.name)  # a folder can be moved only if it is writable itself
                    os.rename(entry.name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=outermost)
    os.rmdir(name, dir_fd=above)


def _entries(folder: int) -> list["os.DirEntry[str]"]:
    with os.scandir(folder) as inner:
        return list(islice(inner, _BATCH))


def _is_folder(above: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)


def _unlock(above: int, name: str) -> None:
    """Give a folder's owner all rights, by its descriptor: a path could be exchanged for a link at any time."""
    with open_descriptor(name, FOLDER | os.O_NOFOLLOW | os.O_PATH, within=above) as descriptor:
        if os.fstat(descriptor).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            with suppress(OSError):  # it belongs to another user, but may be writable all the same
                Path(f"/proc/self/fd/{descriptor}").chmod(0o700)


# Deleting a stranger's folder by mistake would be much worse than leaving some rubbish. A folder is removed only if it
# holds the mark of this program, belongs to this user, and nobody holds the lock on the mark. The kernel releases that
# lock however its holder ends. A file with a process id would outlive its process, and such ids are used again.

MARK = ".referee-scratch"
_PREFIX = "referee-"
_MEMORY = "/dev/shm"  # noqa: S108  # folders made there belong to this user alone
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
        system, status = os.statvfs(_MEMORY), os.stat(_MEMORY)  # noqa: PTH116  # a Path object is not needed
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
    """Remove folders that ended processes have left behind; only once, since this looks at every name."""
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
