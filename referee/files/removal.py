"""Removes a folder with any content, however deep and whatever its modes, and follows no link."""

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from .opened import FOLDER, open_descriptor

# A program can leave folders nested so deep that no path reaches the bottom, and that recursion would run out of stack
# or descriptors. What lies deep is therefore moved up into the outermost folder before that is emptied.

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
                    _unlock(folder, entry.name)  # what changes its place must be writable itself
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
            with suppress(OSError):  # another user's, which may be open to this one all the same
                Path(f"/proc/self/fd/{descriptor}").chmod(0o700)
