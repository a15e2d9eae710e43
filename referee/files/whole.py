"""Replaces a file as a whole: nobody ever finds half of it, not even after a power failure."""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from .reading import open_descriptor

# A file that is overwritten in place is half old and half new for a moment, and stays so if the power fails then. So
# the new content is written to a file without a name and synced. Then that file replaces the old one, in one step of
# the kernel. The folder is synced, too: a name that is not on the disk can be lost together with the file.

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def write_whole(path: Path, pieces: Iterable[bytes], *, mode: int = 0o666, may_replace: bool = True) -> None:
    """Write a file, sync it to the disk, and then put it into its place.

    Until then the file has no name, so that a process that is killed leaves nothing of it. If the file system can't do
    that, the file is next to its place as `.HEX.new` until then.

    Args:
        path: path of the file.
        pieces: new content.
        mode: permissions, before the process's umask.
        may_replace: True if it may replace another file.

    Raises:
        FileExistsError: there is a file, and it may not be replaced.
        OSError: it can't be written; the old file is unchanged.
    """
    partial = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        with os.fdopen(_begin(partial, mode), "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
            _give_name(file.fileno(), partial)
        if may_replace:
            partial.replace(path)
        else:
            _link(partial, path)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk.

    Raises:
        OSError: the disk refuses.
    """
    with open_descriptor(folder) as descriptor:
        os.fsync(descriptor)


def _begin(partial: Path, mode: int) -> int:
    """Open a new file, without a name if the file system can, and return its descriptor."""
    try:
        return os.open(partial.parent, os.O_WRONLY | os.O_TMPFILE, mode)
    except (AttributeError, OSError):  # not Linux, or another error, which the next line meets again
        return os.open(partial, _NEW, mode)


def _give_name(descriptor: int, partial: Path) -> None:
    """Give a file a name next to its place, if it has none yet."""
    if not os.fstat(descriptor).st_nlink:
        # # With `src_dir_fd`, Python makes a call that follows the link in /proc to the file; without it, it does not.
        os.link(f"/proc/self/fd/{descriptor}", partial, src_dir_fd=descriptor)


def _link(partial: Path, path: Path) -> None:
    try:
        os.link(partial, path)
    except FileExistsError as error:
        raise FileExistsError(error.errno, error.strerror, str(path)) from None  # not of the partial file


def json_bytes(value: msgspec.Struct) -> bytes:
    """Encode a struct as indented JSON, for a small file that people may read."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def write_json(path: Path, value: msgspec.Struct) -> None:
    """Replace a file of JSON as a whole; nobody ever finds half of it.

    Raises:
        OSError: it can't be written.
    """
    write_whole(path, [json_bytes(value)])
