"""Puts a whole file in place of the one that was there: nobody ever finds half of it, after a power failure either."""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from .opened import opened

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def write_whole(path: Path, pieces: Iterable[bytes], *, mode: int = 0o666, may_replace: bool = True) -> None:
    """Write a file beside its place, have it on the disk, and then put it there.

    Args:
        path: the file.
        pieces: what it is to hold.
        mode: its permissions, less those that the process leaves out of all its files.
        may_replace: whether it may take the place of another file.

    Raises:
        FileExistsError: there is a file, and it may not be replaced.
        OSError: it can't be written; what was there is as it was.
    """
    partial = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        with os.fdopen(os.open(partial, _NEW, mode), "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        if may_replace:
            partial.replace(path)
        else:
            _link(partial, path)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk.

    Raises:
        OSError: the disk refuses.
    """
    with opened(folder) as descriptor:
        os.fsync(descriptor)


def _link(partial: Path, path: Path) -> None:
    try:
        os.link(partial, path)
    except FileExistsError as error:
        raise FileExistsError(error.errno, error.strerror, str(path)) from None  # nobody knows the partial file
