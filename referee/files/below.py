"""Lists a folder of the organiser, while other processes may write and remove there."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path


def everything_below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder, by name, each folder before its content; links are not followed.

    What is removed during the walk is left out. What can't be read is an error: an audit of "all files" must not skip
    some of them silently.

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
