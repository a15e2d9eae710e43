"""Which files of a folder are records of matches, told by how they begin, or what their programs printed."""

import os
from pathlib import Path

_ENDING, _PRINTED = ".jsonl", ".seat"
"""Of a record's name, and what stands in its place in the name of what a program printed."""
_RECORD = b'{"n":0,'
"""How a match's record begins."""


def record_names(folder: Path) -> frozenset[str]:
    """Return the names of the records in a folder, and of what their programs printed; none if it can't be read."""
    entries = _entries(folder)
    records = {entry.name for entry in entries if _is_record(entry)}
    stems = {name.removesuffix(_ENDING) for name in records}
    return frozenset(records | {entry.name for entry in entries if _stem_of_printed(entry.name) in stems})


def holds_records_alone(folder: Path) -> bool:
    """Tell whether a folder holds records, and nothing besides but what programs printed and what a dot hides."""
    records = record_names(folder)
    return bool(records) and all(entry.name in records or entry.name.startswith(".") for entry in _entries(folder))


def _stem_of_printed(name: str) -> str | None:
    """Return what the record is called whose program printed a file; None if none did."""
    stem, printed, _ = name.partition(_PRINTED)
    return stem if printed else None


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        return list(os.scandir(folder))
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
