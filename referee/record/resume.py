"""Takes up the record of a match whose referee died."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..games.base import BadSetup, Game
from ..match.machine import Match, Phase
from ..match.setup import UnfitSeed
from ..tournament.match_context import MatchContext
from .audit.audit import FindGame, refold
from .reader import Record, RecordError, read_record
from .seal import Sealer, WrongKey
from .writer import RecordWriter


@dataclass(frozen=True, slots=True)
class Resumption:
    """A match as its record left it."""

    match: Match
    writer: RecordWriter
    """Goes on behind the last complete line."""
    last_ms: float
    """Instant of the last event."""
    programs: tuple[str, ...]
    """How the players' programs were given, by seat; empty if the referee had not started them."""
    folder: str | None
    """The folder in which they were given."""
    context: MatchContext | None
    """What it was opened for, if it is one of a tournament."""
    durability: str | None
    """`turn` if whatever follows from a line waits for the disk."""


def reopen(path: Path, find_game: FindGame, sealer: Sealer) -> Resumption:
    """Fold a record as far as it goes, and open it to be continued.

    A match that was over, only its result or its seal not written yet, is finished here.

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
        found = f"one of {record.header.dialect}, whose players can't come back"
        raise RecordError(path, 0, "a match in the referee's own wire", found)
    match = _new_match(record, find_game(record.header.setup.game), sealer)
    last_ms = 0.0
    for step, _ in refold(record, match):
        last_ms = step.event.at_ms
    writer = RecordWriter(path, sealer, after=record.chain.end)
    if match.phase is Phase.OVER and match.result is not None:
        if record.result is None:
            writer.write_result(match.result, seed=match.seed.hex(), nonces=match.nonces.opened)
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
        raise RecordError(record.path, 0, f"key {sealer.public}, the one at hand", f"key {header.key}")
    try:
        return Match(game, header.setup, sealer.unlock(header.locked_seed, header.setup.commitment))
    except (WrongKey, BadSetup, UnfitSeed) as error:
        raise RecordError(record.path, 0, "a setup and a seed that fit it", str(error)) from None
