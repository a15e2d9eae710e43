"""Opens files and folders by their descriptors, for as long as they are needed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY
"""Flags to open a folder; add O_NOFOLLOW to refuse a link to one."""


@contextmanager
def open_descriptor(path: Path | str, flags: int = FOLDER, *, within: int | None = None) -> Iterator[int]:
    """Open a file or folder, and close it at the end.

    Args:
        path: of it.
        flags: how it is opened, as for os.open.
        within: descriptor of the folder that a relative path begins at.

    Raises:
        OSError: it can't be opened.
    """
    descriptor = os.open(path, flags, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
