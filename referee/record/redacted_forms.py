"""The form of the lines of a redacted record: what is shown of each must be what a whole record has there.

Who has a key can seal whatever he likes; behind this check, nothing that reads such a record stumbles over it.
"""

import re
from typing import Any

import msgspec

from ..match.commands import CloseMatch, Command, ExpelSeat, ResumeSeat, SeatCommand
from ..text import show_json
from .hidden_fields import HASH_KEY, hidden_fields
from .reader import Chain, Record, RecordError, check_seats
from .schema import BadLine, Header, PlainLine, RecordedStep, ResultLine, SealLine, check_form, encode_plain, typed

_TEXT = "0" * 64
"""Stands for whatever is hidden: a seed, bytes in hex, what somebody said."""
_HEX = re.compile("(?:[0-9a-f]{2})*")
_HASH = re.compile("[0-9a-f]{64}")
_KINDS: list[Any] = [*SeatCommand.__subclasses__(), CloseMatch]
_COMMANDS: dict[str, type[Command]] = {kind.__struct_config__.tag: kind for kind in _KINDS}


def record_as_shown(chain: Chain, header: Header) -> Record:
    """Return a redacted record, with stand-ins for what is hidden in events and results; nothing follows from those.

    Args:
        chain: its lines; the last one is a seal that was checked.
        header: the first one.

    Raises:
        RecordError: the first line that has not the form of a record's, as far as it is shown.
    """
    kinds = ["step"] * (len(chain.lines) - 3) + ["result"]
    steps, result, seats = [], None, len(header.setup.names)
    for number, (line, kind) in enumerate(zip(chain.lines[1:-1], kinds, strict=False), 1):
        try:
            found = _typed(line, kind)
        except (BadLine, msgspec.MsgspecError, RecursionError, OverflowError) as error:
            raise RecordError(chain.path, number, f"a line of kind {kind}", str(error) or "too deep a line") from None
        if isinstance(found, RecordedStep):
            check_seats(chain.path, number, found, seats)
            steps.append(found)
        else:
            result = found
    if result is None or not len(result.result.scores) == len(result.result.used_ms) == len(result.nonces) == seats:
        found_text = "none" if result is None else f"scores, times and nonces of other than {seats} seats"
        raise RecordError(chain.path, len(steps) + 1, "a line of kind result", found_text)
    seal = typed(chain.lines[-1])
    assert isinstance(seal, SealLine), "the last line was looked at"
    return Record(chain.path, header, tuple(steps), result, seal, chain)


def _typed(line: PlainLine, kind: str) -> RecordedStep | ResultLine:
    """Refuse a line of another kind, or without the form of that, or that hides what everybody may see."""
    fields = line.fields
    if fields.get("kind") != kind:
        raise BadLine(f"kind {show_json(fields.get('kind'), 40)}")
    found: RecordedStep | ResultLine
    if kind == "step":
        filled = {**fields, "event": _filled(fields.get("event"))}
        found = msgspec.json.decode(encode_plain(filled), type=RecordedStep)
    else:
        filled = {**_filled(fields), "result": _result_filled(fields.get("result"))}
        found = msgspec.convert(filled, ResultLine)
    check_form(filled, found)
    for command in found.commands if isinstance(found, RecordedStep) else ():
        _check_command(command)
    hidden = hidden_fields(fields)
    for field in hidden:
        value = field.holder[field.name]
        if field.path not in line.opened and not _is_hash(value):
            raise BadLine(f"{field.path} neither hidden nor shown with its salt")
        if field.path in line.opened and field.name != "move" and isinstance(value, dict):
            raise BadLine(f"{field.path} shown as an object")
    if len(hidden) != line.hidden_count:
        raise BadLine(f"{line.hidden_count} hidden values, of {len(hidden)} that are to be hidden")
    return found


def _check_command(command: dict[str, Any]) -> None:
    """Refuse a command that is none, or has another form than the referee writes."""
    kind = command.get("command")
    form = _COMMANDS.get(kind) if isinstance(kind, str) else None
    if form is None:
        raise BadLine(f"command {show_json(kind, 40)}")
    filled = _filled(command)
    if isinstance(command.get("draws"), dict):
        filled["draws"] = []
    if form is ResumeSeat and "view" in filled:
        filled["view"] = None  # msgspec reads no bytes that may be null; as a hidden field, it is looked at later
    for name, fill in (("foul", _filled), ("result", _result_filled)):
        if name in command:
            filled[name] = fill(command[name])
    data = msgspec.json.encode(filled)
    found = msgspec.json.decode(data, type=form, strict=True)
    if msgspec.json.encode(found) != data:
        raise BadLine(f"{kind} with keys in another order, or too many, or numbers in another form")
    if isinstance(found, ExpelSeat) and not _HEX.fullmatch(found.foul.evidence):
        raise BadLine("evidence that is not in hex")


def _result_filled(result: Any) -> Any:
    fouls = result.get("fouls") if isinstance(result, dict) else None
    return {**result, "fouls": [*map(_filled, fouls)]} if isinstance(fouls, list) else result


def _filled(holder: Any) -> Any:
    """Return an object with some text in place of each field that is hidden; anything else as it is."""
    if not isinstance(holder, dict):
        return holder
    return {key: _TEXT if isinstance(value, dict) and HASH_KEY in value else value for key, value in holder.items()}


def _is_hash(value: Any) -> bool:
    """Tell whether a value is nothing but the hash of a hidden one."""
    return isinstance(value, dict) and list(value) == [HASH_KEY] and _HASH.fullmatch(str(value[HASH_KEY])) is not None
