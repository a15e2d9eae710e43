"""Redacted records: records as one seat may see them. Fields of other seats are hidden; chain and seal still hold.

hidden_fields.py says which field belongs to which seat.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..match.commands import AskMove, CloseMatch, Command, ExpelSeat, ResumeSeat, SeatCommand, StartSeat
from ..text import show_json
from . import schema
from .audit.evidence import FindWire, check_evidence, no_dialects
from .audit.match import FindGame, audit, check_header, open_match
from .audit.redacted import check_visible
from .hidden_fields import HASH_KEY, OPEN, hidden_fields
from .reader import Chain, Record, RecordError, check_key, check_seal, check_seats, read_chain


@dataclass(frozen=True, slots=True)
class RedactedRecord:
    """A redacted record whose chain, seal and visible fields were checked. Hidden fields can't be checked."""

    header: schema.Header
    seat: int
    """Seat whose fields the record shows."""
    chain: Chain
    record: Record
    """The record, with placeholders for the hidden fields of its events and its result."""


def redact(path: Path, find_game: FindGame, seat: int, *, find_wire: FindWire = no_dialects) -> list[bytes]:
    """Return the lines of a record as one seat may see them, with the views that it was sent, without line feeds.

    Args:
        path: a finished record.
        find_game: function that returns the rules of a game, given its name.
        seat: the seat.
        find_wire: function that finds the wire of a dialect; see audit.

    Raises:
        RecordError: the record does not hold, is not finished, or has no such seat.
    """
    record = audit(path, find_game, find_wire=find_wire)
    match = open_match(record, find_game)
    assert match is not None, "a finished record holds its seed"
    if not 0 <= seat < len(match.setup.names):
        raise RecordError(path, 0, f"a seat from 0 to {len(match.setup.names) - 1}", f"seat {seat}")
    lines = []
    for number, data in enumerate(path.read_bytes().splitlines()):
        is_step = 0 < number <= len(record.transitions)
        commands = match.handle(record.transitions[number - 1].event) if is_step else ()
        fields = record.chain.lines[number].fields
        mine = {field.path for field in hidden_fields(fields) if field.seat == seat}
        lines.append(_redact_line(data, commands, mine))
    return lines


def _redact_line(data: bytes, commands: tuple[Command, ...], mine: Collection[str]) -> bytes:
    core = msgspec.json.decode(data)
    opened = core.pop(OPEN, {})
    entries = {path: entry for path, entry in opened.items() if path in mine}
    for index, command in enumerate(commands):
        if (
            isinstance(command, AskMove | StartSeat | ResumeSeat)
            and command.view
            and f"commands.{index}.view" in entries
        ):
            entries[f"commands.{index}.view"].append(msgspec.msgpack.decode(command.view))
    return schema.encode_line(core, entries)[0]


def check_redacted_record(
    path: Path, find_game: FindGame, keys: Collection[str] = (), *, find_wire: FindWire = no_dialects
) -> RedactedRecord:
    """Check a redacted record as far as possible: its chain, its visible fields, and its seal.

    Args:
        path: the file.
        find_game: function that returns the rules of a game, given its name.
        keys: public keys, one of which must have sealed the record. If empty, the key that the record names counts.
        find_wire: function that finds the wire of a dialect; see audit.

    Raises:
        RecordError: a line does not hold, or does not show exactly the fields of one seat, or there is no seal.
        Exception: find_game does not know the game, or find_wire does not know the dialect.
    """
    chain = read_chain(path)
    if not chain.lines or chain.lines[-1].fields.get("kind") != "seal" or chain.rest:
        raise RecordError(path, len(chain.lines), "the seal as the last line", "another end")
    try:
        header = schema.parse_header(chain.lines[0])
    except schema.BadLine as error:
        raise RecordError(path, 0, "a header", str(error)) from None
    check_key(path, 0, header.key, keys)
    check_seal(chain)
    record = parse_visible(chain, header)  # from here on, hidden values are placeholders
    seat = _find_seat(chain, header)
    check_header(record, is_fixed=chain.lines[0].fields["seed"] is not None)
    check_visible(record, find_game(header.setup.game))
    check_evidence(record, find_wire, seat)
    return RedactedRecord(header, seat, chain, record)


def _find_seat(chain: Chain, header: schema.Header) -> int:
    """Return the seat of a redacted record: every line must show all fields of this seat, its views, and no others.

    A line that hid more could keep from the seat what happened to it.
    """
    seats = set(range(len(header.setup.names)))
    for number, line in enumerate(chain.lines):
        shown, hidden = line.opened, hidden_fields(line.fields)
        seats = {seat for seat in seats if shown == tuple(field.path for field in hidden if field.seat == seat)}
        if [*line.shown] != [path for path in shown if path.endswith(".view")]:
            raise RecordError(chain.path, number, "each view, and no other", ", ".join(line.shown)[:200] or "none")
        if not seats:
            shown_paths = ", ".join(line.opened)[:200] or "nothing"
            raise RecordError(chain.path, number, "exactly the fields that one seat may see", shown_paths)
    return min(seats)


_TEXT = "0" * 64
"""Placeholder for a hidden value. It is valid as a seed, as bytes in hex, and as a text."""
_HEX = re.compile("(?:[0-9a-f]{2})*")
_HASH = re.compile("[0-9a-f]{64}")
_KINDS: list[Any] = [*SeatCommand.__subclasses__(), CloseMatch]
_COMMANDS: dict[str, type[Command]] = {kind.__struct_config__.tag: kind for kind in _KINDS}


def parse_visible(chain: Chain, header: schema.Header) -> Record:
    """Parse a redacted record. Hidden fields of events and results get placeholders, and no check may rely on them.

    Args:
        chain: lines of the record. The last line is a seal that was checked.
        header: the first line.

    Raises:
        RecordError: the visible part of a line does not have the form that a record requires.
    """
    kinds = ["step"] * (len(chain.lines) - 3) + ["result"]
    transitions, result, seats = [], None, len(header.setup.names)
    for number, (line, kind) in enumerate(zip(chain.lines[1:-1], kinds, strict=False), 1):
        try:
            entry = _parse_line(line, kind)
        except (schema.BadLine, msgspec.MsgspecError, RecursionError, OverflowError) as error:
            raise RecordError(chain.path, number, f"a line of kind {kind}", str(error) or "too deep a line") from None
        if isinstance(entry, schema.Transition):
            check_seats(chain.path, number, entry, seats)
            transitions.append(entry)
        else:
            result = entry
    if result is None or not len(result.result.scores) == len(result.result.used_ms) == len(result.nonces) == seats:
        found_text = "none" if result is None else f"scores, times and nonces of other than {seats} seats"
        raise RecordError(chain.path, len(transitions) + 1, "a line of kind result", found_text)
    seal = schema.parse_line(chain.lines[-1])
    assert isinstance(seal, schema.SealLine), "the last line was looked at"
    return Record(chain.path, header, tuple(transitions), result, seal, chain)


def _parse_line(line: schema.PlainLine, kind: str) -> schema.Transition | schema.ResultLine:
    """Parse a line of a given kind; raise BadLine if it has another form, or hides a field that everybody may see."""
    fields = line.fields
    if fields.get("kind") != kind:
        raise schema.BadLine(f"kind {show_json(fields.get('kind'), 40)}")
    entry: schema.Transition | schema.ResultLine
    if kind == "step":
        filled = {**fields, "event": _fill(fields.get("event"))}
        entry = msgspec.json.decode(schema.encode_plain(filled), type=schema.Transition)
    else:
        filled = {**_fill(fields), "result": _fill_result(fields.get("result"))}
        entry = msgspec.convert(filled, schema.ResultLine)
    schema.check_form(filled, entry)
    for command in entry.commands if isinstance(entry, schema.Transition) else ():
        _check_command(command)
    hidden = hidden_fields(fields)
    for field in hidden:
        value = field.holder[field.name]
        if field.path not in line.opened and not _is_hash(value):
            raise schema.BadLine(f"{field.path}, which is neither hidden nor shown with its salt")
        if field.path in line.opened and field.name != "move" and isinstance(value, dict):
            raise schema.BadLine(f"{field.path}, which is shown as an object")
    if len(hidden) != line.hidden_count:
        raise schema.BadLine(f"{line.hidden_count} hidden values in place of {len(hidden)}")
    return entry


def _check_command(command: dict[str, Any]) -> None:
    """Raise BadLine if a value is no command, or is not in the form that the referee writes."""
    kind = command.get("command")
    form = _COMMANDS.get(kind) if isinstance(kind, str) else None
    if form is None:
        raise schema.BadLine(f"command {show_json(kind, 40)}")
    filled = _fill(command)
    if isinstance(command.get("draws"), dict):
        filled["draws"] = []
    if form is ResumeSeat and "view" in filled:
        filled["view"] = None  # msgspec has no type for "bytes or null"; a hidden view is checked later
    for name, fill in (("foul", _fill), ("result", _fill_result)):
        if name in command:
            filled[name] = fill(command[name])
    data = msgspec.json.encode(filled)
    decoded = msgspec.json.decode(data, type=form, strict=True)
    if msgspec.json.encode(decoded) != data:
        raise schema.BadLine(f"{kind} with unknown keys, keys in another order, or numbers in another form")
    if isinstance(decoded, ExpelSeat) and not _HEX.fullmatch(decoded.foul.evidence):
        raise schema.BadLine("evidence that is not in hex")


def _fill_result(result: Any) -> Any:
    fouls = result.get("fouls") if isinstance(result, dict) else None
    return {**result, "fouls": [*map(_fill, fouls)]} if isinstance(fouls, list) else result


def _fill(holder: Any) -> Any:
    """Return an object with a placeholder for each hidden field; return any other value unchanged."""
    if not isinstance(holder, dict):
        return holder
    return {key: _TEXT if isinstance(value, dict) and HASH_KEY in value else value for key, value in holder.items()}


def _is_hash(value: Any) -> bool:
    """Return whether a value is the hash that stands for a hidden value."""
    return isinstance(value, dict) and list(value) == [HASH_KEY] and _HASH.fullmatch(str(value[HASH_KEY])) is not None
