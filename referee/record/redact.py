"""A record as one seat may see it: what concerns another seat stays hidden, the chain and the seal still hold.

Knows whose field is whose (veil.py). Refuses to explain anything (explain.py).
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from ..match.commands import AskMove, Command, ResumeSeat, StartSeat
from .audit import FindGame, audit, open_match
from .reader import Chain, RecordError, check_heads, check_key, check_seal, read_chain
from .schema import UNSEALED_FORMAT, PlainLine, encode_line
from .veil import OPEN, places


def redacted_lines(path: Path, find_game: FindGame, seat: int) -> list[bytes]:
    """Return the lines of a record, without line feeds, as one seat may see them, with the views it was shown.

    Args:
        path: a finished record.
        find_game: a game's name -> its rules.
        seat: whose.

    Raises:
        RecordError: the record does not hold, is not finished, has no such seat, or is of a format that hides nothing.
    """
    record = audit(path, find_game)
    match = open_match(record, find_game)
    if match is None or record.header.format == UNSEALED_FORMAT:
        raise RecordError(
            path, 1, f"a finished record of format {UNSEALED_FORMAT + 1} or later", f"format {record.header.format}"
        )
    if not 0 <= seat < len(match.setup.names):
        raise RecordError(path, 1, f"a seat from 0 to {len(match.setup.names) - 1}", f"seat {seat}")
    lines = []
    for number, data in enumerate(path.read_bytes().splitlines()):
        is_step = 0 < number <= len(record.steps)
        commands = match.handle(record.steps[number - 1].event) if is_step else ()
        fields = record.chain.lines[number].fields
        mine = {place.path for place in places(fields, record.header.format) if place.seat == seat}
        lines.append(_redacted(data, commands, mine))
    return lines


def _redacted(data: bytes, commands: tuple[Command, ...], mine: Collection[str]) -> bytes:
    core = msgspec.json.decode(data)
    opened = core.pop(OPEN, {})
    kept = {path: entry for path, entry in opened.items() if path in mine}
    for index, command in enumerate(commands):
        if isinstance(command, AskMove | StartSeat | ResumeSeat) and command.view and f"commands.{index}.view" in kept:
            kept[f"commands.{index}.view"].append(msgspec.msgpack.decode(command.view))
    return encode_line(core, kept)[0]


def check_redacted(path: Path, keys: Collection[str] = (), heads: Collection[str] = ()) -> Chain:
    """Check a redacted record as far as that goes: its chain, what it shows, and its seal.

    Args:
        path: the file.
        keys: public keys, one of which must have sealed it; empty: the one that it names itself.
        heads: hashes of lines, as players were sent them, that the record must have.

    Raises:
        RecordError: the first line that does not hold, or there is no seal.
    """
    chain = read_chain(path)
    check_key(path, 1, chain.lines[0].fields.get("key") if chain.lines else None, keys)
    if not chain.lines or chain.lines[-1].fields.get("kind") != "seal" or chain.rest:
        raise RecordError(path, len(chain.lines) + 1, "the seal as the last line", "another end")
    check_seal(chain)
    check_heads(chain, heads)
    for number, line in enumerate(chain.lines, 1):
        _check_opened(path, number, line, chain.lines[0].fields.get("format"))
    return chain


def _check_opened(path: Path, number: int, line: PlainLine, form: Any) -> None:
    """Check that nothing else is opened than such a line hides: a player's move may look like a hidden field."""
    try:
        hidden = {place.path for place in places(line.fields, form)}
    except (KeyError, TypeError, AttributeError, IndexError):
        raise RecordError(path, number, "a line of a record", "other fields") from None
    if not hidden.issuperset(line.opened):
        raise RecordError(path, number, "nothing opened but hidden fields", ", ".join(line.opened)[:200])
