"""Messages in valid but unusual encodings.

The longest ones, and keys in another order, are the check's affair.
"""

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from protocol import Role
from protocol.decoding import unpack
from referee.check.steps_wire import lengthen, reorder

from .tables import END, MATCH, OFFER, PLACE, START, TURN, VIEW, Plain

_FORMS = {
    "positive": {1: 0xCC, 2: 0xCD, 4: 0xCE},
    "negative": {1: 0xD0, 2: 0xD1, 4: 0xD2},
    "string": {1: 0xD9, 2: 0xDA, 4: 0xDB},
    "array": {2: 0xDC, 4: 0xDD},
    "map": {2: 0xDE, 4: 0xDF},
}
"""First byte of a number, or of a length, of so many bytes."""


def of_width(width: int, body: bytes) -> bytes:
    """Return a message whose numbers and lengths take so many bytes, or the next larger form; floats take 4.

    Args:
        width: 1, 2 or 4.
        body: of a message whose floats lose nothing by that.
    """
    return _of_width(width, unpack(body))


def _of_width(width: int, value: Any) -> bytes:
    match value:
        case None | bool():
            return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
        case int():
            return _head("negative" if value < 0 else "positive", width, value)
        case float():
            return struct.pack(">Bf", 0xCA, value)
        case str():
            data = value.encode()
            return _head("string", width, len(data)) + data
        case list():
            return _head("array", width, len(value)) + b"".join(_of_width(width, item) for item in value)
    pairs = [_of_width(width, key) + _of_width(width, inner) for key, inner in value.items()]
    return _head("map", width, len(value)) + b"".join(pairs)


def _head(kind: str, width: int, number: int) -> bytes:
    signed = kind == "negative"
    needed = (number.bit_length() + signed + 7) // 8
    bytes_taken, first = next(form for form in _FORMS[kind].items() if form[0] >= max(width, needed))
    return bytes([first]) + number.to_bytes(bytes_taken, "big", signed=signed)


_FAR_TURN: Plain = {**TURN, "view": {**VIEW, "map": [*VIEW["map"], [-1, 0, "red-star"]]}}
_END: Plain = {key: value for key, value in END.items() if key != "ack"}

OTHER_FORMS: tuple[tuple[str, Role, Plain, Callable[[bytes], bytes]], ...] = (
    ("offer in the longest forms of msgpack", Role.REFEREE, OFFER, lengthen),
    ("start in the longest forms of msgpack", Role.REFEREE, START, lengthen),
    ("turn in the longest forms of msgpack", Role.REFEREE, _FAR_TURN, lengthen),
    ("end in the longest forms of msgpack", Role.REFEREE, END, lengthen),
    (
        "move in the longest forms of msgpack, with a negative number",
        Role.PLAYER,
        {"type": "move", "match": MATCH, "turn": 1, "move": {**PLACE, "tiles": [[-1, 0, "red-star"]]}},
        lengthen,
    ),
    *(
        (
            f"turn with {words} at least for each number and length, and floats of four",
            Role.REFEREE,
            _FAR_TURN,
            partial(of_width, width),
        )
        for width, words in ((1, "one byte"), (2, "two bytes"), (4, "four bytes"))
    ),
    ("turn with its keys the other way round", Role.REFEREE, TURN, reorder),
    ("end without the key ack, its keys the other way round", Role.REFEREE, _END, reorder),
)
"""Name, sender, message, and the fate of its shortest encoding."""
