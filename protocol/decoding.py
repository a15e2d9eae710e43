r"""Turn hostile bytes into a typed message, or raise a RemoteProtocolError with a code, but no other exception.

    >>> unpack(b"\x81\xa1k\x01")
    {'k': 1}

This module guards against the traps of msgpack: ext types and timestamps, NaN, duplicate and unhashable keys, headers
that announce more than there is, and nesting that would exhaust a stack. It does not know what a message means, or when
it may come.
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
"""Depth of the value `move` within its message."""
_SHORT_BYTES = min(MAX_STRING_BYTES, MAX_ITEMS)
_decode_move = msgspec.msgpack.Decoder(Move).decode


# msgpack's own limits stop values that would cost much memory while they are decoded. The rest is checked afterwards,
# on plain values, and without recursion: 60,000 levels of arrays fit into one frame, and a recursive check would crash
# on them.
def _check(value: Any, depth: int = 0) -> None:
    """Refuse a decoded value if it has, at any level, something that this protocol does not allow."""
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
    r"""Decode one msgpack value of hostile origin.

    Args:
        body: at most one frame.

    Returns:
        A value made only of dict (str keys), list, str, int, finite float, bool and None, within all limits.

    Raises:
        RemoteProtocolError: the bytes are not such a value; the code says why.

    >>> unpack(b"\x82\xa1k\x01\xa1k\x02")
    Traceback (most recent call last):
    protocol.errors.RemoteProtocolError: duplicate-key: a map has the key 'k' twice
    >>> unpack(b"\xdd\xff\xff\xff\xff")  # the header of an array of 4 billion items
    Traceback (most recent call last):
    protocol.errors.RemoteProtocolError: too-long: not one msgpack value within the limits: ...
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
    except (msgpack.exceptions.StackError, RecursionError):  # msgpack without its C extension is recursive
        raise _error(Code.TOO_DEEP, f"arrays and maps nested deeper than {MAX_DEPTH}", body) from None
    except UnicodeDecodeError as error:
        raise _error(Code.NOT_MSGPACK, f"a string is not UTF-8: {error.reason}", body) from None
    except (ValueError, TypeError, OverflowError, msgpack.exceptions.UnpackException) as error:
        text = str(error) or "they begin no value"
        raise _error(_unpack_code(text), f"not one msgpack value within the limits: {text}", body) from None
    return value


def _unpack_code(text: str) -> Code:
    """Return the code of a ValueError of msgpack by its text.

    That is safe, because none of these texts quotes the received bytes: a peer can't influence the code.
    """
    if "exceeds max_" in text:
        return Code.TOO_LONG
    if text.startswith(("invalid timestamp", "nanoseconds", "Timestamp type")):  # an ext type posing as a timestamp
        return Code.TYPE_NOT_ALLOWED
    return Code.NOT_MSGPACK


def _error(code: StrEnum, detail: str, body: bytes) -> RemoteProtocolError:
    return RemoteProtocolError(code, detail[:400], body)


def decode(body: bytes, accepted: Mapping[str, type[Message]]) -> Message:
    r"""Turn a frame's body into a typed message.

    Nearly all messages that a referee reads are moves: these take a short cut, which is as strict.

    Args:
        body: one frame's body.
        accepted: `type` -> the message's class, for all messages of the sender's role.

    Raises:
        RemoteProtocolError: the body is not one of the accepted messages; the code says why.

    >>> from protocol.messages import FROM_PLAYER
    >>> decode(b"\x81\xa4type\xa5hello", FROM_PLAYER)
    Traceback (most recent call last):
    protocol.errors.RemoteProtocolError: missing-key: hello: Object missing required field `version`
    """
    move = _decode_quickly(body) if accepted.get(_MOVE) is Move else None
    return decode_carefully(body, accepted) if move is None else move


# Why the short cut is as strict. msgspec drops a duplicate key without an error. If encoding the move again gives
# identical bytes, no key was dropped. Many players write longer headers than they need, so that the bytes differ. Then
# both bodies are read pair by pair, and equal pairs in equal order prove the same. In so few bytes, no string and no
# array can be too long. The values that msgspec decodes but this protocol does not allow are found by `_check`. In
# every other case, `decode_carefully` decides.
def _decode_quickly(body: bytes) -> Move | None:
    """Return a body as a move; None if it is not a move, or if only `decode_carefully` can decide."""
    if len(body) > _SHORT_BYTES:
        return None
    try:
        move = _decode_move(body)
        _check(move.move, _DEPTH_OF_MOVE)
        encoded = encode(move)
        return move if encoded == body or _read_pairs(encoded) == _read_pairs(body) else None
    except (ValueError, TypeError, OverflowError, RecursionError, RemoteProtocolError):
        return None


def _read_pairs(body: bytes) -> Any:
    """Decode a value, with each map as the list of all its pairs."""
    return msgpack.unpackb(body, object_pairs_hook=list, strict_map_key=False)


def decode_carefully(body: bytes, accepted: Mapping[str, type[Message]]) -> Message:
    r"""Turn a frame's body into a typed message, without a short cut.

    Args:
        body: one frame's body.
        accepted: `type` -> the message's class, for all messages of the sender's role.

    Raises:
        RemoteProtocolError: the body is not one of the accepted messages; the code says why.

    >>> from protocol.messages import FROM_PLAYER
    >>> decode_carefully(b"\x90", FROM_PLAYER)
    Traceback (most recent call last):
    protocol.errors.RemoteProtocolError: not-a-map: a message is a map, not list
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
    """Return the code of msgspec's error by its first words: the other words may quote a key that the peer chose."""
    if text.startswith("Object missing required field"):
        return Code.MISSING_KEY
    if text.startswith("Object contains unknown field"):
        return Code.EXTRA_KEY
    return Code.WRONG_TYPE
