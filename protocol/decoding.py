"""Hostile bytes -> a typed message, or a RemoteProtocolError with its code; never any other exception.

Knows msgpack's traps: ext types and timestamps, NaN, duplicate and unhashable keys, headers that announce more than
there is, nesting that would exhaust a stack. Refuses to know what a message means or when it may come.
"""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgpack
import msgspec

from .errors import Code, RemoteProtocolError
from .limits import MAX_DEPTH, MAX_ITEMS, MAX_STRING_BYTES
from .messages import Message, Move, encode, type_of

_TYPE_SHOWN_CHARS = 40


def _refuse_ext(code: int, _data: bytes) -> Any:
    raise RemoteProtocolError(Code.TYPE_NOT_ALLOWED, f"msgpack ext type {code}")


def _unique_pairs(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    result = {}
    for key, value in pairs:
        if type(key) is not str:
            raise RemoteProtocolError(Code.KEY_NOT_STRING, f"a map's key is of type {type(key).__name__}")
        if key in result:
            raise RemoteProtocolError(Code.DUPLICATE_KEY, f"a map has the key {key[:_TYPE_SHOWN_CHARS]!r} twice")
        result[key] = value
    return result


_PLAIN = frozenset((str, int, bool, type(None)))
_STRINGS = frozenset((str,))
_MOVE = type_of(Move)
_DEPTH_OF_MOVE = 1
"""Of the value `move`, which stands within a message."""
_SHORT_BYTES = min(MAX_STRING_BYTES, MAX_ITEMS)
_decode_move = msgspec.msgpack.Decoder(Move).decode


def _check(value: Any, depth: int = 0) -> None:
    """Refuse, anywhere inside a decoded value, what this protocol does not carry; level by level, without recursion."""
    level: list[Any] = [value]
    while level:
        deeper: list[Any] = []
        for element in level:
            kind = type(element)
            if kind in _PLAIN:
                continue
            if kind is list or kind is dict:
                if depth == MAX_DEPTH:
                    raise RemoteProtocolError(Code.TOO_DEEP, f"arrays and maps nested deeper than {MAX_DEPTH}")
                if kind is dict and not _STRINGS.issuperset(map(type, element)):
                    raise RemoteProtocolError(Code.KEY_NOT_STRING, "a map's key is no string")
                deeper += element if kind is list else element.values()
            elif kind is not float:
                raise RemoteProtocolError(Code.TYPE_NOT_ALLOWED, f"a value of msgpack type {kind.__name__}")
            elif not math.isfinite(element):
                raise RemoteProtocolError(Code.NOT_FINITE, f"the number {element} is not finite")
        level = deeper
        depth += 1


def unpack(body: bytes) -> Any:
    """Decode one msgpack value of hostile origin.

    Args:
        body: at most one frame.

    Returns:
        Nothing but dict (str keys), list, str, int, finite float, bool and None, within all limits.

    Raises:
        RemoteProtocolError: the bytes are not such a value; the code says why.
    """
    try:
        value = msgpack.unpackb(
            body,
            raw=False,
            strict_map_key=False,
            object_pairs_hook=_unique_pairs,
            ext_hook=_refuse_ext,
            max_str_len=MAX_STRING_BYTES,
            max_bin_len=MAX_STRING_BYTES,
            max_ext_len=MAX_STRING_BYTES,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
        )
        _check(value)
    except RemoteProtocolError as refused:
        raise _error(refused.code, refused.detail, body) from None
    except (msgpack.exceptions.StackError, RecursionError):  # msgpack without its C part recurses
        raise _error(Code.TOO_DEEP, f"arrays and maps nested deeper than {MAX_DEPTH}", body) from None
    except UnicodeDecodeError as error:
        raise _error(Code.NOT_MSGPACK, f"a string is not UTF-8: {error.reason}", body) from None
    except (ValueError, TypeError, OverflowError, msgpack.exceptions.UnpackException) as error:
        text = str(error) or "they begin no value"
        raise _error(_unpack_code(text), f"not one msgpack value within the limits: {text}", body) from None
    return value


def _unpack_code(text: str) -> Code:
    """Tell apart what msgpack raises as a ValueError; none of its texts quotes the received bytes."""
    if "exceeds max_" in text:
        return Code.TOO_LONG
    if text.startswith(("invalid timestamp", "nanoseconds", "Timestamp type")):  # an ext type posing as a timestamp
        return Code.TYPE_NOT_ALLOWED
    return Code.NOT_MSGPACK


def _error(code: StrEnum, detail: str, body: bytes) -> RemoteProtocolError:
    return RemoteProtocolError(code, detail[:400], body)


def decode(body: bytes, accepted: Mapping[str, type[Message]]) -> Message:
    """Turn a frame's body into a typed message.

    A move, which is nearly all that a referee reads, is decoded in one step if that is as good as with all care.

    Args:
        body: one frame's body.
        accepted: `type` -> the message's class, for what the sender's role may send at all.

    Raises:
        RemoteProtocolError: the body is not one of the accepted messages; the code says why.
    """
    move = _move_of(body) if accepted.get(_MOVE) is Move else None
    return decode_carefully(body, accepted) if move is None else move


def _move_of(body: bytes) -> Move | None:
    """Return the move that a body is; None if it is none, or if it takes a closer look to say whether it is one.

    Whoever finds the same bytes in what was decoded has not lost a key that was there twice. What is left to refuse
    are values that msgspec knows and this protocol does not carry; no string and no array of so few bytes is too long.
    """
    if len(body) > _SHORT_BYTES:
        return None
    try:
        move = _decode_move(body)
        _check(move.move, _DEPTH_OF_MOVE)
        return move if encode(move) == body else None
    except (ValueError, TypeError, OverflowError, RecursionError, RemoteProtocolError):
        return None


def decode_carefully(body: bytes, accepted: Mapping[str, type[Message]]) -> Message:
    """Turn a frame's body into a typed message, whatever it is.

    Args:
        body: one frame's body.
        accepted: `type` -> the message's class, for what the sender's role may send at all.

    Raises:
        RemoteProtocolError: the body is not one of the accepted messages; the code says why.
    """
    value = unpack(body)
    if type(value) is not dict:
        raise _error(Code.NOT_A_MAP, f"a message is a map, not {type(value).__name__}", body)
    name = value.get("type")
    wanted = accepted.get(name) if type(name) is str else None
    if wanted is None:
        shown = repr(name)[:_TYPE_SHOWN_CHARS]
        raise _error(Code.UNKNOWN_TYPE, f"type {shown} is none of {', '.join(accepted)}", body)
    try:
        return msgspec.convert(value, wanted, strict=True)
    except msgspec.ValidationError as error:
        raise _error(_validation_code(str(error)), f"{name}: {error}", body) from None


def _validation_code(text: str) -> Code:
    """Tell msgspec's errors apart by their first words: what follows may quote a key that the peer chose."""
    if text.startswith("Object missing required field"):
        return Code.MISSING_KEY
    if text.startswith("Object contains unknown field"):
        return Code.EXTRA_KEY
    return Code.WRONG_TYPE
