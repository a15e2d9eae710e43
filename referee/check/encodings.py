"""Other encodings of a message, which the wire allows as well."""

import struct
from typing import Any

from msgspec import msgpack

from protocol.decoding import unpack

_MAY_BE_MISSING = ("ack", "draws")
"""Keys of the referee's messages that may be left out if they are null."""


def longest(body: bytes) -> bytes:
    """Return a message with the longest form of everything in it, as no encoder makes it and every decoder takes it."""
    return _longest(unpack(body))


def reordered(body: bytes) -> bytes:
    """Return a message with its keys the other way round, and without those that may be left out."""
    message = unpack(body)
    kept = {key: value for key, value in message.items() if value is not None or key not in _MAY_BE_MISSING}
    return msgpack.encode(dict(reversed(kept.items())))


def _longest(value: Any) -> bytes:
    match value:
        case None | bool() | float():
            return msgpack.encode(value)
        case int():
            return struct.pack(">Bq", 0xD3, value) if value < 0 else struct.pack(">BQ", 0xCF, value)
        case str():
            data = value.encode()
            return struct.pack(">BI", 0xDB, len(data)) + data
        case list():
            return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(_longest, value))
    pairs = [_longest(key) + _longest(inner) for key, inner in value.items()]
    return struct.pack(">BI", 0xDF, len(pairs)) + b"".join(pairs)
