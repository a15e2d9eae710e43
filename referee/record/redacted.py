"""A record as one seat may see it: what concerns another seat stays hidden, the chain and the seal still hold.

What is whose tells redaction.py.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..match.commands import AskMove, Command, ResumeSeat, StartSeat
from ..match.fouls import Foul
from .audit.audit import FindGame, audit, open_match
from .audit.checks import MovesIn, no_dialects
from .reader import Chain, RecordError, check_heads, check_key, check_seal, read_chain
from .redaction import HASH_KEY, OPEN, hidden_fields
from .schema import BadLine, Header, RecordedStep, ResultLine, encode_line, forms, header_of, owners

_TEXT = "0" * 64
"""Stands for whatever is hidden: a seed, bytes in hex, what somebody said."""
_HEX = re.compile("(?:[0-9a-f]{2})*")


@dataclass(frozen=True, slots=True)
class Redaction:
    """A redacted record: its chain, its seal, and that it shows what was sealed, are checked; what is hidden is not."""

    header: Header
    seat: int
    """Whose fields it shows."""
    chain: Chain


def redacted_lines(path: Path, find_game: FindGame, seat: int, *, moves_in: MovesIn = no_dialects) -> list[bytes]:
    """Return the lines of a record, without line feeds, as one seat may see them, with the views it was shown.

    Args:
        path: a finished record.
        find_game: a game's name -> its rules.
        seat: whose.
        moves_in: as for audit.

    Raises:
        RecordError: the record does not hold, is not finished, or has no such seat.
    """
    record = audit(path, find_game, moves_in=moves_in)
    match = open_match(record, find_game)
    assert match is not None, "a finished record tells its seed"
    if not 0 <= seat < len(match.setup.names):
        raise RecordError(path, 1, f"a seat from 0 to {len(match.setup.names) - 1}", f"seat {seat}")
    lines = []
    for number, data in enumerate(path.read_bytes().splitlines()):
        is_step = 0 < number <= len(record.steps)
        commands = match.handle(record.steps[number - 1].event) if is_step else ()
        fields = record.chain.lines[number].fields
        mine = {field.path for field in hidden_fields(fields) if field.seat == seat}
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


def check_redacted(path: Path, keys: Collection[str] = (), heads: Collection[str] = ()) -> Redaction:
    """Check a redacted record as far as that goes: its chain, what it shows, and its seal.

    Args:
        path: the file.
        keys: public keys, one of which must have sealed it; empty: the one that it names itself.
        heads: hashes of lines, as players were sent them, that the record must have.

    Raises:
        RecordError: the first line that does not hold or shows other fields than those of one seat, or there is no
            seal.
    """
    chain = read_chain(path)
    if not chain.lines or chain.lines[-1].fields.get("kind") != "seal" or chain.rest:
        raise RecordError(path, len(chain.lines) + 1, "the seal as the last line", "another end")
    try:
        header = header_of(chain.lines[0])
    except BadLine as error:
        raise RecordError(path, 1, "a header", str(error)) from None
    check_key(path, 1, header.key, keys)
    check_seal(chain)
    check_heads(chain, heads)
    _check_forms(chain, len(header.setup.names))
    return Redaction(header, _seat_of(chain, header), chain)


def _seat_of(chain: Chain, header: Header) -> int:
    """Return the seat for which a record is redacted: a line that hides more would hide what it is about.

    Raises:
        RecordError: a line shows other fields than those of one seat.
    """
    seats = set(range(len(header.setup.names)))
    for number, line in enumerate(chain.lines, 1):
        try:
            owned = owners(line.fields)
        except BadLine as error:
            raise RecordError(chain.path, number, "a line of a record", str(error)) from None
        shown = set(line.opened)
        seats = {seat for seat in seats if shown == {path for path, owner in owned.items() if owner == seat}}
        if not seats:
            found = ", ".join(line.opened)[:200] or "nothing"
            raise RecordError(chain.path, number, "shown all that one seat may see, and nothing else", found)
    return min(seats)


def _check_forms(chain: Chain, seats: int) -> None:
    """Check that the lines behind the header have the form of a record's, as far as they are shown.

    Raises:
        RecordError: the first one that has not.
    """
    kinds = ["header", *["step"] * (len(chain.lines) - 3), "result", "seal"]
    for number, (line, kind) in enumerate(zip(chain.lines, kinds, strict=False), 1):
        try:
            _check_form(line.fields, kind, seats)
        except (BadLine, msgspec.ValidationError, RecursionError, OverflowError) as error:
            found = str(error) or type(error).__name__
            raise RecordError(chain.path, number, f"a line of kind {kind}", found) from None


def _check_form(fields: dict[str, Any], kind: str, seats: int) -> None:
    """Check the form of a line whose seal and header were checked before.

    Raises:
        BadLine: it is of another kind, or has not the form of that.
        msgspec.ValidationError: as BadLine.
    """
    if fields.get("kind") != kind:
        raise BadLine(f"kind {fields.get('kind')!r:.40}")
    if kind == "step":
        step = msgspec.convert({**fields, "event": _filled(fields.get("event"))}, RecordedStep)
        forms(step)
        for command in step.commands:
            if "foul" in command:
                _check_foul(command["foul"])
    elif kind == "result":
        result = fields.get("result")
        fouls = result.get("fouls") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(fouls, list):
            raise BadLine("no result with its fouls")
        plain = {**fields, "seed": _TEXT, "result": {**result, "fouls": [*map(_filled, fouls)]}}
        told = msgspec.convert(plain, ResultLine).result
        if not len(told.scores) == len(told.used_ms) == seats:
            raise BadLine(f"scores and times of other than {seats} seats")


def _check_foul(foul: Any) -> None:
    if not isinstance(foul, dict) or set(foul) != {*Foul.__struct_fields__}:
        raise BadLine("a foul that lacks a field, or has one too many")
    evidence = msgspec.convert(_filled(foul), Foul).evidence
    if not _HEX.fullmatch(evidence):
        raise BadLine("evidence that is not in hex")


def _filled(holder: Any) -> Any:
    """Return an object with some text in place of each field that is hidden; anything else as it is."""
    if not isinstance(holder, dict):
        return holder
    return {key: _TEXT if isinstance(value, dict) and HASH_KEY in value else value for key, value in holder.items()}
