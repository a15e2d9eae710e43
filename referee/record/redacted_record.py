"""A record as one seat may see it: fields of other seats stay hidden, and the chain and the seal still hold.

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
    """A redacted record. Its chain, its seal and its shown fields are checked; the hidden fields are not."""

    header: schema.Header
    seat: int
    """Seat whose fields it shows."""
    chain: Chain
    record: Record
    """The record, with stand-ins for all that is hidden in its events and its result."""


def redact(path: Path, find_game: FindGame, seat: int, *, find_wire: FindWire = no_dialects) -> list[bytes]:
    """Return the lines of a record, without line feeds, as one seat may see them, with the views it was shown.

    Args:
        path: a finished record.
        find_game: a game's name -> its rules.
        seat: seat that may see them.
        find_wire: finds the wire of a dialect; see audit.

    Raises:
        RecordError: the record does not hold, is not finished, or has no such seat.
    """
    record = audit(path, find_game, find_wire=find_wire)
    match = open_match(record, find_game)
    assert match is not None, "a finished record tells its seed"
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
    """Check a redacted record as far as possible: its chain, what it shows, and its seal.

    Args:
        path: the file.
        find_game: a game's name -> its rules.
        keys: public keys, one of which must have sealed it; empty: the one that it names itself.
        find_wire: finds the wire of a dialect; see audit.

    Raises:
        RecordError: the first line that does not hold or shows other fields than those of one seat, or there is no
            seal.
        Exception: what find_game raises for a game, and find_wire for a dialect, that it does not know.
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
    record = parse_visible(chain, header)  # after this, values may be missing, since they are hidden
    seat = _find_seat(chain, header)
    check_header(record, is_fixed=chain.lines[0].fields["seed"] is not None)
    check_visible(record, find_game(header.setup.game))
    check_evidence(record, find_wire, seat)
    return RedactedRecord(header, seat, chain, record)


def _find_seat(chain: Chain, header: schema.Header) -> int:
    """Return the seat whose fields, and no others, every line shows in their order, with its views.

    A line that hides more would hide what it is about.
    """
    seats = set(range(len(header.setup.names)))
    for number, line in enumerate(chain.lines):
        shown, hidden = line.opened, hidden_fields(line.fields)
        seats = {seat for seat in seats if shown == tuple(field.path for field in hidden if field.seat == seat)}
        if [*line.shown] != [path for path in shown if path.endswith(".view")]:
            raise RecordError(chain.path, number, "each view, and no other", ", ".join(line.shown)[:200] or "none")
        if not seats:
            shown_paths = ", ".join(line.opened)[:200] or "nothing"
            raise RecordError(chain.path, number, "shown all that one seat may see, and nothing else", shown_paths)
    return min(seats)


_TEXT = "0" * 64
"""Stand-in for a hidden value: a seed, bytes in hex, a text."""
_HEX = re.compile("(?:[0-9a-f]{2})*")
_HASH = re.compile("[0-9a-f]{64}")
_KINDS: list[Any] = [*SeatCommand.__subclasses__(), CloseMatch]
_COMMANDS: dict[str, type[Command]] = {kind.__struct_config__.tag: kind for kind in _KINDS}


def parse_visible(chain: Chain, header: schema.Header) -> Record:
    """Return a redacted record, with stand-ins for what is hidden in events and results; nothing follows from those.

    Args:
        chain: lines of the record; the last one is a seal that was checked.
        header: the first one.

    Raises:
        RecordError: the first line that has not the form of a record's, as far as it is shown.
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
    """Refuse a line of another kind or form, and a line that hides what everybody may see."""
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
            raise schema.BadLine(f"{field.path} neither hidden nor shown with its salt")
        if field.path in line.opened and field.name != "move" and isinstance(value, dict):
            raise schema.BadLine(f"{field.path} shown as an object")
    if len(hidden) != line.hidden_count:
        raise schema.BadLine(f"{line.hidden_count} hidden values, of {len(hidden)} that are to be hidden")
    return entry


def _check_command(command: dict[str, Any]) -> None:
    """Refuse a value that is no command, or that has another form than the referee writes."""
    kind = command.get("command")
    form = _COMMANDS.get(kind) if isinstance(kind, str) else None
    if form is None:
        raise schema.BadLine(f"command {show_json(kind, 40)}")
    filled = _fill(command)
    if isinstance(command.get("draws"), dict):
        filled["draws"] = []
    if form is ResumeSeat and "view" in filled:
        filled["view"] = None  # msgspec has no type for bytes or null; if hidden, this field is checked later
    for name, fill in (("foul", _fill), ("result", _fill_result)):
        if name in command:
            filled[name] = fill(command[name])
    data = msgspec.json.encode(filled)
    decoded = msgspec.json.decode(data, type=form, strict=True)
    if msgspec.json.encode(decoded) != data:
        raise schema.BadLine(f"{kind} with keys in another order, or too many, or numbers in another form")
    if isinstance(decoded, ExpelSeat) and not _HEX.fullmatch(decoded.foul.evidence):
        raise schema.BadLine("evidence that is not in hex")


def _fill_result(result: Any) -> Any:
    fouls = result.get("fouls") if isinstance(result, dict) else None
    return {**result, "fouls": [*map(_fill, fouls)]} if isinstance(fouls, list) else result


def _fill(holder: Any) -> Any:
    """Return an object with some text in place of each field that is hidden; anything else as it is."""
    if not isinstance(holder, dict):
        return holder
    return {key: _TEXT if isinstance(value, dict) and HASH_KEY in value else value for key, value in holder.items()}


def _is_hash(value: Any) -> bool:
    """Return whether a value is only the hash of a hidden one."""
    return isinstance(value, dict) and list(value) == [HASH_KEY] and _HASH.fullmatch(str(value[HASH_KEY])) is not None
