"""Lists what lies below a folder of the organiser's own, while others may write and remove there."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path


def everything_below(folder: Path) -> Iterator[Path]:
    """Yield what lies below a folder, by name: folders, what is in them, files; links are not followed.

    What is removed during the walk is left out. What can't be read is an error: an audit of "all files" must not skip
    some of them silently.

    Args:
        folder: where to begin; it may be gone, too.

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
        folder: where to begin.
        pattern: for instance "*.jsonl".

    Raises:
        OSError: a folder can't be read.
    """
    return sorted(path for path in everything_below(folder) if fnmatchcase(path.name, pattern) and path.is_file())
