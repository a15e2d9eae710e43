"""A tournament's folder of records, as its referee left it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from ..tournament.match_context import MatchContext, MatchEntry
from .match_entries import entry_of
from .reader import read_record

TORN = ".torn"
"""Ending of what is left of a record whose referee died before its first line was written."""


@dataclass(frozen=True, slots=True)
class Found:
    """What stands in the folder and not yet in the ledger."""

    over: list[MatchEntry] = field(default_factory=list)
    open: dict[str, tuple[Path, MatchContext]] = field(default_factory=dict)
    """Match -> its record and what it was opened for."""


def look_through(folder: Path, tournament: str, known: Collection[str]) -> Found:
    """Read the records that the ledger knows no result of; what has no first line yet is put aside.

    Args:
        folder: of the records.
        tournament: its name; records of others are left alone.
        known: names of the matches whose results the ledger has.

    Raises:
        RecordError: a record does not hold.
        OSError: the folder can't be read, or a file not be put aside.
    """
    found = Found()
    for path in sorted(folder.glob(f"{tournament}-*.jsonl")):
        if path.stem in known:
            continue
        if not has_line(path):
            path.rename(path.with_suffix(TORN))
            continue
        record = read_record(path)
        context = record.header.context
        if context is None or context.tournament != tournament:
            continue
        if record.state == "unfinished":
            found.open[path.stem] = (path, context)
        else:
            found.over.append(entry_of(record))
    return found


def has_line(path: Path) -> bool:
    """Tell whether a record has its first line; without, its match was never begun.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")
