"""Finds out, from their records, how far the matches had come that were open when a tournament's referee stopped."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..tournament.match_context import MatchContext, MatchEntry
from .audit.audit import FindGame
from .match_entries import entry_of
from .reader import MAX_LINE_BYTES, RecordError, check_key, read_record
from .resume import Resumption, reopen
from .seal import Sealer
from .writer import wait_until_left

TORN = ".torn"
"""Ending of what is left of a record whose referee died before its first line was written."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of the matches that were opened and not closed; of those in neither, nothing was played yet."""

    over: list[MatchEntry] = field(default_factory=list)
    """Their records are sealed."""
    open: dict[str, Resumption] = field(default_factory=dict)
    """Match -> what is to be played on."""


def recover(folder: Path, contexts: Mapping[str, MatchContext], find_game: FindGame, sealer: Sealer) -> Recovery:
    """Look at the records of the matches that were opened and not closed; what has no first line yet is put aside.

    Args:
        folder: of the records.
        contexts: match -> what it was opened for.
        find_game: a game's name -> its rules.
        sealer: the key that sealed them.

    Raises:
        RecordError: a record does not hold, is another key's, or says that it was opened for something else.
        OSError: the folder can't be read or written.
    """
    recovery = Recovery()
    for match, context in contexts.items():
        path = folder / f"{match}.jsonl"
        if not path.exists():
            continue
        if path.is_file():
            wait_until_left(path)
        if not has_line(path):
            path.rename(path.with_suffix(TORN))
            continue
        record = read_record(path)
        check_key(path, 0, record.header.key, (sealer.public,))
        if record.header.context != context:
            raise RecordError(path, 0, f"the match that was opened with line {context.head}", "another one")
        if record.seal is None:
            recovery.open[match] = reopen(path, find_game, sealer)
        else:
            recovery.over.append(entry_of(record))
    return recovery


def check_no_others(folder: Path, tournament: str, opened: Collection[str]) -> None:
    """Check that a folder has no records of a tournament's matches but those that its own record tells of.

    Raises:
        RecordError: it has.
        OSError: it can't be read.
    """
    for path in sorted(folder.glob(f"{tournament}-*.jsonl")):
        if path.stem not in opened:
            raise RecordError(path, None, f"no match that the record of {tournament} does not tell of", "this one")


def has_line(path: Path) -> bool:
    """Tell whether a record has its first line; without, its match was never begun.

    What is no file counts as if it had one: to read it is an error, and to open a pipe would be to wait for ever.

    Raises:
        OSError: it can't be read.
    """
    if not path.is_file():
        return True
    with path.open("rb") as file:
        return file.readline(MAX_LINE_BYTES).endswith(b"\n")
