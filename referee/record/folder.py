"""The files in a folder of records: the records, and the output that programs printed during the matches."""

import os
from pathlib import Path

from msgspec import Struct

from ..files.reading import files_below
from ..text import printable_lines, visible

_ENDING, _PRINTED = ".jsonl", ".seat"
"""Ending of a record's file name, and the text that follows the same stem in the name of a program's output file."""
_RECORD = b'{"n":0,'
"""First bytes of a match's record."""


def record_files(folder: Path) -> list[Path]:
    """List the records below a folder, by name. Hidden folders are skipped: they hold records that were put aside."""
    paths = files_below(folder, "*.jsonl")
    return [path for path in paths if not any(name.startswith(".") for name in path.relative_to(folder).parts)]


def record_names(folder: Path) -> frozenset[str]:
    """Return the names of a folder's records and of the output files that belong to them.

    If the folder can't be read, no names are returned.
    """
    entries = _entries(folder)
    records = {entry.name for entry in entries if _is_record(entry)}
    stems = {name.removesuffix(_ENDING) for name in records}
    return frozenset(records | {entry.name for entry in entries if _find_stem(entry.name) in stems})


def holds_records_alone(folder: Path) -> bool:
    """Return whether a folder holds records and, except for output files and hidden files, nothing else."""
    records = record_names(folder)
    return bool(records) and all(entry.name in records or entry.name.startswith(".") for entry in _entries(folder))


def _find_stem(name: str) -> str | None:
    """Return the name, without its ending, of the record that an output file belongs to; None for another file."""
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


LAST_LINES = 20
"""Number of lines shown to the author: enough for a crash's reason with the frames that lead to it."""
LINE_CHARS = 200
"""Number of characters to which each of these lines is shortened."""
_READ_BYTES = 65_536


class Printed(Struct, frozen=True, kw_only=True):
    """The end of a program's output."""

    path: str
    """Path of the file with the whole output; empty if it must not be shown to the reader."""
    lines: tuple[str, ...]
    """The last lines. Characters that can't be printed are shown as escapes."""


def output_path(folder: Path, match: str, seat: int, name: str) -> Path:
    """Return the path of the file for the output of a seat's program.

    Args:
        folder: folder of the record.
        match: the record's name without its ending.
        seat: the program's seat.
        name: name of the player.
    """
    return folder / f"{match}.seat{seat}.{name}.stderr"


def read_last_output(record: Path, seat: int, name: str) -> Printed | None:
    """Read the end of a program's output; return None if there is no such file next to the record.

    Args:
        record: the record's file.
        seat: seat of the program.
        name: name of the player in the record. If it is a path into another folder, nothing is read.
    """
    output = _find_output(record, seat, name)
    if output is None:
        return None
    path, text = output
    return Printed(path=str(path), lines=tuple(map(_show_line, text.rstrip().split("\n")[-LAST_LINES:])))


def read_output(record: Path, seat: int, name: str) -> str | None:
    """Read the whole output of a program, as far as it was kept; return None if nothing was kept.

    Characters that can't be printed are shown as escapes.

    Args:
        record: the record's file.
        seat: seat of the program.
        name: name of the player, as in `read_last_output`.
    """
    output = _find_output(record, seat, name)
    return None if output is None else printable_lines(output[1].replace("\r\n", "\n").expandtabs(4))


def _find_output(record: Path, seat: int, name: str) -> tuple[Path, str] | None:
    """Find a program's output file next to the record, and read it; return None if there is none."""
    path = output_path(record.parent, record.name.removesuffix(".jsonl"), seat, name)
    if path.parent != record.parent or "\0" in name:
        return None
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _READ_BYTES, 0))
            return path, file.read(_READ_BYTES).decode(errors="backslashreplace")
    except OSError:
        return None  # this user may not read the file, or somebody has just moved it away


def _show_line(line: str) -> str:
    shown = visible(line.rstrip("\r").expandtabs(4))
    return shown if len(shown) <= LINE_CHARS else f"{shown[: LINE_CHARS - 3]}..."
