"""Hostile bytes: the decoder returns a value of this protocol, or raises RemoteProtocolError with the right code."""

import math
from collections.abc import Callable
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import Code, Connection, RemoteProtocolError, Role
from protocol.decoding import decode, decode_carefully, unpack
from protocol.limits import MAX_DEPTH, MAX_EVIDENCE_BYTES, MAX_ITEMS, MAX_STRING_BYTES
from protocol.messages import FROM_PLAYER, Message

from .situations import OTHER, receive_all
from .tables import BAD_FRAMES, BAD_MESSAGES, BAD_VALUES, DEEP_VALUES, framed, packed


def nested(levels: int) -> Any:
    """Return arrays and maps by turns inside each other, with a number of levels in all."""
    value: Any = []
    for level in range(levels - 1):
        value = [value] if level % 2 else {"k": value}
    return value


GOOD_VALUES: tuple[Any, ...] = (
    *(None, False, True, 0, -1, -(2**63), 2**64 - 1, 0.5, -0.0, 1e308, "", "ä", "\x00", "\U0001f600", [], {}),
    {"": 1, "a": {"a": 1}},
    "x" * MAX_STRING_BYTES,
    [0] * MAX_ITEMS,
    {str(number): None for number in range(MAX_ITEMS)},
    nested(MAX_DEPTH),
)


def code_of(body: bytes) -> Code:
    """Return the code with which a body is refused."""
    with pytest.raises(RemoteProtocolError) as caught:
        unpack(body)
    assert body == caught.value.evidence
    assert len(caught.value.detail) <= MAX_EVIDENCE_BYTES
    return Code(caught.value.code)


@pytest.mark.parametrize("value", GOOD_VALUES, ids=lambda value: repr(value)[:20])
def test_what_the_wire_carries_passes(value: Any) -> None:
    """Every type and the largest value of every limit is decoded to an equal value."""
    assert value == unpack(packed(value))


@pytest.mark.parametrize(("body", "code"), [row[1:] for row in BAD_VALUES], ids=[row[0] for row in BAD_VALUES])
def test_what_the_wire_does_not_carry_is_refused(body: bytes, code: Code) -> None:
    """Each body of the table is refused with its code, also as an item of an array and as a value of a map."""
    assert code is code_of(body)
    assert code is code_of(b"\x91" + body)
    assert code is code_of(b"\x81\xa1z" + body)


@pytest.mark.parametrize("body", [row[1] for row in DEEP_VALUES], ids=[row[0] for row in DEEP_VALUES])
def test_deep_nesting_exhausts_nothing(body: bytes) -> None:
    """At any depth over the limit, arrays and maps are refused."""
    assert Code.TOO_DEEP is code_of(body)


@pytest.mark.parametrize(
    "header", [b"\xdc\xff\xff", b"\xdd\x00\x01\x00\x00", b"\xdf\x00\x01\x00\x00", b"\xde\x0f\xff\xa1k"]
)
def test_headers_within_headers_exhaust_nothing(header: bytes) -> None:
    """A thousand nested headers that announce many items are refused."""
    assert code_of(header * 1000) in (Code.TOO_LONG, Code.NOT_MSGPACK, Code.TOO_DEEP)


@pytest.mark.parametrize(("body", "code"), [row[1:] for row in BAD_MESSAGES], ids=[row[0] for row in BAD_MESSAGES])
def test_what_is_no_message_is_refused(body: bytes, code: Code) -> None:
    """A value that is no message of the sender is refused with its code."""
    if code is Code.OUT_OF_TURN:
        assert FROM_PLAYER["move"] is type(decode(body, FROM_PLAYER))
        return
    with pytest.raises(RemoteProtocolError) as caught:
        decode(body, FROM_PLAYER)
    assert code is caught.value.code
    assert body == caught.value.evidence


@pytest.mark.parametrize("chunk_bytes", [1, 7, 65_536])
@pytest.mark.parametrize(
    ("sender", "data", "code"), [row[1:] for row in BAD_FRAMES], ids=[row[0] for row in BAD_FRAMES]
)
def test_bad_frames_are_refused_however_they_come(sender: Role, data: bytes, code: Code, chunk_bytes: int) -> None:
    """Whole, byte by byte and with trailing data, a bad frame gives a new conversation the same code."""
    for trailing in (b"",) if code is Code.TRUNCATED else (b"", b"\x00", framed(packed({"type": "ack"}))):
        with pytest.raises(RemoteProtocolError) as caught:
            receive_all(Connection(OTHER[sender]), data + trailing, chunk_bytes)
        assert code is caught.value.code


@pytest.mark.parametrize("name", ["x" * 4000, ["x" * 4000] * 10, "\U0001f600" * 1000, nested(10), 2**64 - 1, True, 1.5])
def test_a_strange_type_is_shown_shortened(name: Any) -> None:
    """The error names the value of `type` in a short sentence."""
    with pytest.raises(RemoteProtocolError) as caught:
        decode(packed({"type": name}), FROM_PLAYER)
    assert Code.UNKNOWN_TYPE is caught.value.code
    assert len(caught.value.detail) < 200


@given(st.binary(max_size=200))
@settings(max_examples=1000)
def test_random_bytes_raise_nothing_else(body: bytes) -> None:
    try:
        value = unpack(body)
    except RemoteProtocolError:
        return
    assert is_plain(value)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=10)
    | st.binary(max_size=10)
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=17))
    | st.builds(msgpack.Timestamp, st.integers(0, 2**34 - 1), st.integers(0, 10**9 - 1))
)
KEYS = st.text(max_size=2) | st.none() | st.integers(-9, 9) | st.binary(max_size=2)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


@given(VALUES)
@settings(max_examples=300)
def test_any_value_of_msgpack_passes_unchanged_or_is_refused(value: Any) -> None:
    """Every value of this protocol is decoded to an equal one; all other values of msgpack are refused."""
    if is_plain(value):
        assert value == unpack(packed(value))
    else:
        assert code_of(packed(value)) in (Code.KEY_NOT_STRING, Code.TYPE_NOT_ALLOWED, Code.NOT_FINITE)


def is_plain(value: Any) -> bool:
    """Return whether this protocol can carry a value, apart from its limits."""
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(is_plain(item) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    return value is None or type(value) in (bool, int, str)


def outcome_of(how: Callable[..., Message], body: bytes) -> tuple[Any, ...]:
    """Return the message of a body, down to its types, or the error with which it is refused."""
    try:
        message = how(body, FROM_PLAYER)
    except RemoteProtocolError as error:
        return error.code, error.detail, error.evidence
    return type(message), repr(message)


def move_of(value: Any) -> bytes:
    """Return the body of a move as this side would write it."""
    return packed({"type": "move", "match": "m", "turn": 1, "move": value})


WHOLE_MOVES = (
    packed({"type": "move", "match": "m", "turn": 1, "move": {"a": 1}, "more": 1}),
    packed({"match": "m", "type": "move", "move": {"a": 1}, "turn": 1}),
    move_of({"a": [0, 1]}).replace(b"\xa1a", b"\xd9\x01a"),
    b"\x84" + move_of({})[1:-6] + b"\xa4move\x82\xa1a\x01\xa1a\x02",
    b"\x84" + move_of({})[1:-6] + b"\xa4move\x82\xa1a\x01\xd9\x01a\x02",
    b"\x84" + move_of({})[1:-6] + b"\xa4move\x92\x81\xa1a\x01\xde\x00\x02\xa1a\x01\xa1a\x01",
    b"\x85" + move_of(7)[1:] + b"\xa4move\x07",
    move_of(7)[:-1] + b"\xcc\x07",
    move_of(7)[:-1] + b"\xca\x40\xe0\x00\x00",
    move_of(7)[:-1] + b"\xa1\xff",
    move_of(7) + b"\x07",
    move_of(7)[:-1],
    move_of("x" * MAX_STRING_BYTES),
    move_of([nested(MAX_DEPTH - 2)]),
    move_of([nested(MAX_DEPTH - 1)]),
    move_of({"a": 1}).replace(b"\x81\xa1a", b"\x81\x01"),
)


@pytest.mark.parametrize("body", [*WHOLE_MOVES, *(row[1] for row in (*BAD_VALUES, *BAD_MESSAGES))])
def test_a_move_in_one_step_is_the_move_with_care(body: bytes) -> None:
    """A move that may be decoded in one step gives the same message; any other is refused with the same words."""
    for whole in (body, move_of(0)[:-1] + body):
        assert outcome_of(decode, whole) == outcome_of(decode_carefully, whole)


def pack_long(value: Any) -> bytes:
    """Return a value with the longest heads that exist, as simple players write them."""
    if isinstance(value, str):
        return b"\xdb" + len(value.encode()).to_bytes(4, "big") + value.encode()
    if isinstance(value, list):
        return b"\xdd" + len(value).to_bytes(4, "big") + b"".join(map(pack_long, value))
    if isinstance(value, dict):
        pairs = [pack_long(key) + pack_long(element) for key, element in value.items()]
        return b"\xdf" + len(value).to_bytes(4, "big") + b"".join(pairs)
    return packed(value)


@given(VALUES, st.integers(0, 300), st.binary(max_size=3), st.sampled_from((packed, pack_long)))
@settings(max_examples=300)
def test_so_is_any_value_as_a_move_and_any_damage_to_it(
    value: Any, at: int, damage: bytes, pack: Callable[[Any], bytes]
) -> None:
    """Every value and every damaged byte is judged alike by the one step and by the careful decoder."""
    body = pack({"type": "move", "match": "m", "turn": 1, "move": value})
    for whole in (body, body[:at] + damage + body[at + len(damage) :]):
        assert outcome_of(decode, whole) == outcome_of(decode_carefully, whole)
