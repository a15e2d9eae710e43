"""Reads a small file that somebody else gave."""

import os
import stat
from pathlib import Path

from .opened import opened

MAX_SMALL_BYTES = 16_384
"""A player.toml has ten lines, a file of players one line each, a layout of a board some hundred numbers."""


class BadFile(OSError):
    """A file that can't be read as a small one; `strerror` says why, `filename` which one."""


def read_small(path: Path, max_bytes: int = MAX_SMALL_BYTES) -> bytes:
    """Return the bytes of a small file.

    A device or a pipe is refused without waiting for it, and of a file that is too large nothing is kept.

    Args:
        path: of the file.
        max_bytes: how long it may be.

    Raises:
        BadFile: it is no file, or too long.
        OSError: it can't be read.
    """
    try:
        with opened(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise BadFile(0, "this is no file", str(path))
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(max_bytes + 1)
    except ValueError:
        raise BadFile(0, "no path has a null character", str(path)) from None
    if len(data) > max_bytes:
        raise BadFile(0, f"it is over {max_bytes} bytes, the most for such a file", str(path))
    return data
