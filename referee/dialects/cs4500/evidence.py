"""Reads the bytes of course players that a record keeps as evidence, for audits."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from protocol import Code, RemoteProtocolError
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_UNASKED_BYTES

from ...match import events as e
from ...record.audit.evidence import same
from .conversation import NO_NONCE
from .forms import MalformedValue, parse_choice
from .json_stream import JsonCode, JsonReader, JsonValue

_VOID = "void"


class _Tile(Struct, forbid_unknown_fields=True):
    color: str
    shape: str


class _Spot(Struct, forbid_unknown_fields=True):
    row: int
    column: int


class _Placement(Struct, forbid_unknown_fields=True):
    coordinate: _Spot
    tile: _Tile = msgspec.field(name="1tile")


_ACTIONS = {"pass": {"action": "pass"}, "replace": {"action": "exchange"}}


def move_in_json(data: bytes) -> dict[str, Any] | None:
    """Return the plain move of a JChoice in bytes; None if the bytes are not a JChoice.

    Source: The course CS4500 of Fall 2023, milestones 6 and 9: JChoice.
    """
    try:
        choice = msgspec.json.decode(data, type=Literal["pass", "replace"] | list[_Placement])
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, too
        return None
    if isinstance(choice, str):
        return _ACTIONS[choice]
    tiles = [
        [placement.coordinate.row, placement.coordinate.column, f"{placement.tile.color}-{placement.tile.shape}"]
        for placement in choice
    ]
    return {"action": "place", "tiles": tiles}


class CourseWire:
    """The protocol of protocol/CS4500.md as a Wire; reads moves without the code that has accepted them."""

    codes = frozenset(map(str, (*Code, *JsonCode)))
    game: str | None = "q"
    nonce: str | None = NO_NONCE

    def breach(self, code: str, data: bytes, asked: str | None, match: str) -> str:
        """Return what the bytes are (see Wire.breach)."""
        if code == Code.NOT_READING:
            return f"{len(data)} bytes that were sent" if data else code
        if code == Code.FLOOD:
            # The record keeps only the beginning of the bytes. Only their number can be verified: more than may come
            # unasked.
            is_flood = asked is None and len(data) > MAX_UNASKED_BYTES and self.is_unfinished(data)
            return code if is_flood else f"{len(data)} bytes"
        try:
            value = _read_only_value(data)
        except RemoteProtocolError as error:
            return str(error.code)
        if value is None or value.body != data:
            return "other than one value"
        if asked is None:
            return str(Code.OUT_OF_TURN)
        return f"a result of the {asked}" if _is_result(value.value, asked) else str(Code.WRONG_TYPE)

    def is_answer(self, data: bytes, event: e.Answer, match: str) -> bool:
        """Return whether bytes are an answer (see Wire.is_answer). Course players send no `ready` and no nonce."""
        if isinstance(event, e.MoveReceived):
            return same(move_in_json(data), event.move)
        try:
            return isinstance(event, e.AckReceived) and bool(msgspec.json.decode(data) == _VOID)
        except (ValueError, RecursionError):
            return False

    def is_unfinished(self, data: bytes) -> bool:
        """Return whether bytes begin a value (see Wire.is_unfinished)."""
        reader = JsonReader(MAX_FRAME_FROM_PLAYER_BYTES)
        reader.receive_data(data)
        try:
            return reader.next_value() is None
        except RemoteProtocolError:
            return False


def _read_only_value(data: bytes) -> JsonValue | None:
    """Return the first value of bytes that are the end of a stream.

    Raises:
        RemoteProtocolError: there is no value.
    """
    reader = JsonReader(MAX_FRAME_FROM_PLAYER_BYTES)
    reader.receive_data(data)
    value = reader.next_value()
    if value is None:
        reader.receive_end()
        value = reader.next_value()
    return value


def _is_result(value: Any, asked: str) -> bool:
    if asked != "move":
        return bool(value == _VOID)
    try:
        parse_choice(value)
    except MalformedValue:
        return False
    return True
