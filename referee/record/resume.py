"""Resumes matches from their records after the referee stopped: one match, or all that a tournament had open."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..games.base import BadSetup, Game
from ..match.machine import Match, Phase
from ..match.setup import UnfitSeed
from ..tournament.match_context import MatchContext, MatchEntry
from .audit.match import FindGame, name_rules, refold
from .key import Sealer, WrongKey
from .reader import MAX_LINE_BYTES, Record, RecordError, check_key, read_entry, read_record
from .writer import RecordWriter, wait_until_free

# To resume is to fold the record, to cut off a torn line, and to go on writing. Nothing has to be reconstructed,
# because the whole state of a match follows from its events. Only two things are not in the events: the seed, which the
# header has, encrypted for this key; and the connections, which are gone: every player has to come back with its token.
#
# A crash can fall between the last event and the result, or between the result and the seal. Both are completed here,
# since nothing is left to decide.


@dataclass(frozen=True, slots=True)
class Resumption:
    """A match as its record left it."""

    match: Match
    writer: RecordWriter
    """Writer that continues after the last complete line."""
    last_ms: float
    """Instant of the last event."""
    programs: tuple[str, ...]
    """Program of each seat, as it was given; empty if the referee had not started them."""
    folder: str | None
    """The folder in which they were given."""
    context: MatchContext | None
    """Place of the match in its tournament; None if it is a match by itself."""
    durability: str | None
    """`turn` if all that follows from a line waits for the disk."""


def reopen(path: Path, find_game: FindGame, sealer: Sealer) -> Resumption:
    """Fold a record as far as it goes, and open it to continue it.

    If the match was over and only its result or its seal is missing, the record is completed and closed here.

    Args:
        path: the record.
        find_game: a game's name -> its rules.
        sealer: the key that the record names.

    Raises:
        RecordError: the record does not hold, is sealed already, or is another key's.
        OSError: the file can't be written.
    """
    record = read_record(path)
    if record.state != "unfinished":
        raise RecordError(path, len(record.chain.lines), "an unfinished record", f"one that is {record.state}")
    if record.header.dialect is not None:
        wire = f"one of {record.header.dialect}, whose players can't come back"
        raise RecordError(path, 0, "a match in the referee's own wire", wire)
    match = _new_match(record, find_game(record.header.setup.game), sealer)
    last_ms = 0.0
    for transition, _ in refold(record, match):
        last_ms = transition.event.at_ms
    writer = RecordWriter(path, sealer, after=record.chain.end)
    if match.phase is Phase.OVER and match.result is not None:
        if record.result is None:
            writer.end(match)
        else:
            writer.seal()
        writer.sync()
        writer.close()
    header = record.header
    return Resumption(
        match, writer, last_ms, tuple(header.programs or ()), header.folder, header.context, header.durability
    )


def _new_match(record: Record, game: Game[Any, Any, Any], sealer: Sealer) -> Match:
    header = record.header
    if header.key != sealer.public:
        raise RecordError(record.path, 0, f"key {sealer.public}, the referee's key", f"key {header.key}")
    if header.rules_version != game.rules_version:  # its record would follow by neither
        here, begun = name_rules(game.rules_version), name_rules(header.rules_version)
        raise RecordError(record.path, 0, f"a match by the rules of {here}, which are installed", f"one by {begun}")
    try:
        return Match(game, header.setup, sealer.unlock(header.locked_seed, header.setup.commitment))
    except (WrongKey, BadSetup, UnfitSeed) as error:
        raise RecordError(record.path, 0, "a setup and a seed that fit it", str(error)) from None


TORN = ".torn"
"""Ending of a file in which a crashed referee did not get to write a whole first line."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """The matches that were opened and not closed. A match that is in neither list had not begun."""

    over: list[MatchEntry] = field(default_factory=list)
    """Entries of matches whose records are sealed."""
    open: dict[str, Resumption] = field(default_factory=dict)
    """Match -> the match to continue."""


def recover(folder: Path, contexts: Mapping[str, MatchContext], find_game: FindGame, sealer: Sealer) -> Recovery:
    """Read the records of the matches that were opened and not closed; a file without a whole first line is put aside.

    Args:
        folder: folder of the records.
        contexts: match -> the context that its record must have.
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
            wait_until_free(path)
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
            recovery.over.append(read_entry(record))
    return recovery


def check_no_others(folder: Path, tournament: str, opened: Collection[str]) -> None:
    """Check that a folder has no records of a tournament's matches except those that the tournament opened.

    Raises:
        RecordError: there is another one.
        OSError: it can't be read.
    """
    for path in sorted(folder.glob(f"{tournament}-*.jsonl")):
        if path.stem not in opened:
            raise RecordError(path, None, f"no match that the record of {tournament} does not tell of", "this one")


def has_line(path: Path) -> bool:
    """Return whether a record has its first line; without it, its match never began.

    Anything but a plain file counts as having one: opening a pipe here would block, and reading the record will fail
    later.

    Raises:
        OSError: it can't be read.
    """
    if not path.is_file():
        return True
    with path.open("rb") as file:
        return file.readline(MAX_LINE_BYTES).endswith(b"\n")
