"""Where records of matches lie: which folders hold some, and what lies beside them. Reads how a file begins, no more.

Found are records by how they begin, whatever a folder is called.
"""

import os
from collections.abc import Container, Iterator
from pathlib import Path

_ENDING, _PRINTED = ".jsonl", ".seat"
"""Of a record's name, and what stands in its place in the name of what a program printed."""
_RECORD = b'{"n":0,'
"""How a match's record begins."""
_DEPTH = 2
"""Folders below the working directory in which records are looked for: those of --logs and of a tournament."""


def record_folders(folder: Path, left_out: Container[Path], depth: int = _DEPTH) -> Iterator[Path]:
    """Yield the folders that hold records of matches: a folder, and those just below it.

    Args:
        folder: where to look.
        left_out: folders not to look into, besides those whose name begins with a dot.
        depth: how many folders deep to look.
    """
    if folder in left_out:
        return
    entries = _entries(folder)
    if any(_is_record(entry) for entry in entries):
        yield folder
    for entry in entries if depth else ():
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from record_folders(Path(entry.path), left_out, depth - 1)


def besides_records(folder: Path, left_out: Container[str]) -> tuple[str, ...]:
    """Return the names of what is in a folder, without records and what their programs printed.

    Args:
        folder: where to look.
        left_out: names to leave out as well.
    """
    records: list[str] = []
    others: list[str] = []
    for entry in _entries(folder):
        (records if _is_record(entry) else others).append(entry.name)
    stems = {name.removesuffix(_ENDING) for name in records}
    return tuple(name for name in others if name not in left_out and _stem_of_printed(name) not in stems)


def _stem_of_printed(name: str) -> str | None:
    """Return what the record is called whose program printed a file; None if none did."""
    stem, printed, _ = name.partition(_PRINTED)
    return stem if printed else None


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _is_record(entry: "os.DirEntry[str]") -> bool:
    if not entry.name.endswith(_ENDING) or not entry.is_file(follow_symlinks=False):
        return False
    try:
        with open(entry.path, "rb") as file:  # noqa: PTH123  # scandir's entries are strings
            return file.read(len(_RECORD)) == _RECORD
    except OSError:
        return False


def holds_records_alone(folder: Path) -> bool:
    """Tell whether a folder holds records, and nothing besides but what programs printed and what a dot hides."""
    entries = _entries(folder)
    others = besides_records(folder, ())
    return len(others) < len(entries) and all(name.startswith(".") for name in others)
