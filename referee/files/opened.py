"""Opens files and folders as descriptors, and closes them again."""

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
