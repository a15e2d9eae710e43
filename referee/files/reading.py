"""Opens, lists and reads files that strangers made, within bounds."""

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY
"""Flags to open a folder; add O_NOFOLLOW to refuse a link to one."""


@contextmanager
def open_descriptor(path: Path | str, flags: int = FOLDER, *, within: int | None = None) -> Iterator[int]:
    """Open a file or folder, and close it at the end.

    Args:
        path: path of the file or folder.
        flags: flags of os.open.
        within: descriptor of the folder that a relative path begins at.

    Raises:
        OSError: it can't be opened.
    """
    descriptor = os.open(path, flags, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def everything_below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder, by name, each folder before its content; links are not followed.

    A file that is removed during the walk is left out. An unreadable folder is an error: an audit of "all files" must
    not skip some of them silently.

    Args:
        folder: folder to begin with; it may be missing.

    Raises:
        OSError: a folder can't be read.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        yield folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from everything_below(folder / entry.name)


def files_below(folder: Path, pattern: str) -> list[Path]:
    """Return the files below a folder whose names match a pattern, by path.

    Args:
        folder: folder to begin with.
        pattern: pattern of names, such as "*.jsonl".

    Raises:
        OSError: a folder can't be read.
    """
    return sorted(path for path in everything_below(folder) if fnmatchcase(path.name, pattern) and path.is_file())


MAX_SMALL_BYTES = 16_384
"""Largest small file: a player.toml has ten lines, a list of players one line each, a board some hundred numbers."""

_REMEDY = "save it as UTF-8 in your editor"


class BadFile(OSError):
    """A file is not a readable small file; `strerror` says why, `filename` which file it is."""


class BadText(BadFile):
    """A file is not text in UTF-8; `strerror` has the place of the first wrong byte, or the actual encoding.

    Args:
        path: path of the file.
        line: first line that is not UTF-8, from 1.
        why: text for `strerror`.
    """

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(0, why, str(path))
        self.line = line


def read_small_text(path: Path, max_bytes: int = MAX_SMALL_BYTES) -> str:
    """Return the text of a small file in UTF-8, without its byte order mark; line ends stay as they are.

    Args:
        path: path of the file.
        max_bytes: largest size in bytes.

    Raises:
        BadText: it is not text in UTF-8.
        BadFile: it is no file, or too long.
        OSError: it can't be read.
    """
    data = read_small(path, max_bytes)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _is_utf_16(data):
        raise BadText(path, 1, f"this is text in UTF-16; {_REMEDY}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        begin = data.rfind(b"\n", 0, error.start) + 1
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[begin : error.start].decode("utf-8", "replace").removeprefix("\ufeff")) + 1
        where = f"line {line}, column {column}: the byte 0x{data[error.start]:02x} is no UTF-8"
        sign = bytes([data[error.start]]).decode("latin-1")
        guess = f"; in Latin-1 it is {sign}" if sign.isprintable() else ""
        raise BadText(path, line, f"{where}{guess}; {_REMEDY}") from None


def _is_utf_16(data: bytes) -> bool:
    """Return whether a text is in UTF-16 without a byte order mark: every other byte of ASCII characters is 0 then."""
    head = data[:64]
    return len(head) >= 2 and 0 in head and not (any(head[::2]) and any(head[1::2]))


def read_small(path: Path, max_bytes: int = MAX_SMALL_BYTES) -> bytes:
    """Return the bytes of a small file.

    A device or a pipe is refused without waiting for it, and a file that is too large is not kept in memory.

    Args:
        path: path of the file.
        max_bytes: largest size in bytes.

    Raises:
        BadFile: it is no file, or too long.
        OSError: it can't be read.
    """
    try:
        with open_descriptor(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadFile(0, "this is no file", str(path))
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(max_bytes + 1)
    except ValueError:
        raise BadFile(0, "no path has a null character", str(path)) from None
    if len(data) > max_bytes:
        raise BadFile(0, f"it is over {max_bytes} bytes, the most for such a file", str(path))
    return data
