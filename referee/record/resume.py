"""Resumes matches from their records after the referee stopped: one match, or all open matches of a tournament."""

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

# To resume a match, the referee folds the record (handles its events again), cuts off a torn line, and continues to
# write. The whole state of a match follows from its events, with two exceptions. The seed is in the header, encrypted
# for this key. The connections are gone, so every player has to come back with its token.
#
# The referee can also crash between the last event and the result, or between the result and the seal. Nothing is left
# to decide then, so the record is completed here.


@dataclass(frozen=True, slots=True)
class Resumption:
    """A match that can be continued, in the state that its record shows."""

    match: Match
    writer: RecordWriter
    """Writer that continues after the last complete line."""
    last_ms: float
    """Instant of the last event."""
    programs: tuple[str, ...]
    """Program of each seat, as the organiser named it; empty if the referee did not start the programs."""
    folder: str | None
    """Folder that the paths of the programs are relative to."""
    context: MatchContext | None
    """Place of the match in its tournament; None if it belongs to no tournament."""
    durability: str | None
    """`turn` if no command is carried out before its line is on the disk; None otherwise."""


def reopen(path: Path, find_game: FindGame, sealer: Sealer) -> Resumption:
    """Restore a match from its unfinished record, and open the record to continue it.

    If the match was over and only its result or its seal is missing, the record is completed and closed here.

    Args:
        path: the record.
        find_game: function that returns the rules of a game, given its name.
        sealer: the key that the record names.

    Raises:
        RecordError: the record does not hold, is already sealed, or belongs to another key.
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
    if header.rules_version != game.rules_version:  # one record must not mix the rules of two versions
        here, begun = name_rules(game.rules_version), name_rules(header.rules_version)
        raise RecordError(record.path, 0, f"a match by the rules of {here}, which are installed", f"one by {begun}")
    try:
        return Match(game, header.setup, sealer.unlock(header.locked_seed, header.setup.commitment))
    except (WrongKey, BadSetup, UnfitSeed) as error:
        raise RecordError(record.path, 0, "a setup and a seed that fit it", str(error)) from None


TORN = ".torn"
"""Ending of a file that was put aside because the referee crashed before it had written the whole first line."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """Matches that a tournament had opened and not closed when it stopped. A match in neither list had not begun."""

    over: list[MatchEntry] = field(default_factory=list)
    """Entries of matches whose records are sealed."""
    open: dict[str, Resumption] = field(default_factory=dict)
    """Name of a match -> the match to continue."""


def recover(folder: Path, contexts: Mapping[str, MatchContext], find_game: FindGame, sealer: Sealer) -> Recovery:
    """Read the records of the matches that a tournament had opened and not closed when it stopped.

    A file without a whole first line is put aside.

    Args:
        folder: folder of the records.
        contexts: name of a match -> the context that its record must have.
        find_game: function that returns the rules of a game, given its name.
        sealer: the tournament's key.

    Raises:
        RecordError: a record does not hold, belongs to another key, or has another context.
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
    """Check that a tournament opened all matches whose records have its name and lie in the folder.

    Raises:
        RecordError: there is a record of another match.
        OSError: the folder can't be read.
    """
    for path in sorted(folder.glob(f"{tournament}-*.jsonl")):
        if path.stem not in opened:
            raise RecordError(path, None, f"only matches that the record of {tournament} lists", "this one")


def has_line(path: Path) -> bool:
    """Return whether a record has its whole first line. Without this line, the match never began.

    The result is True for anything but a plain file: to open a pipe here would block, and reading it fails later.

    Raises:
        OSError: the file can't be read.
    """
    if not path.is_file():
        return True
    with path.open("rb") as file:
        return file.readline(MAX_LINE_BYTES).endswith(b"\n")
