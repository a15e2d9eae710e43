"""Examples of the wire, good and bad, that the tests, vectors.json and SPEC.md share.

The examples are plain values and bytes, packed by msgpack itself and not by the encoder under test.
"""

import hashlib
from typing import Any

import msgpack

from protocol import Code, Role
from protocol.deal import nonce_commitment
from protocol.limits import (
    MAX_DEPTH,
    MAX_FRAME_FROM_PLAYER_BYTES,
    MAX_FRAME_FROM_REFEREE_BYTES,
    MAX_ITEMS,
    MAX_STRING_BYTES,
)
from referee import chance

Plain = dict[str, Any]

MATCH = "q-1"
SEED = chance.seed_from_number(7)
NONCES = ["00112233445566778899aabbccddeeff", "0123456789abcdef0123456789abcdef"]
SALT = "fedcba9876543210fedcba9876543210"
HEAD = hashlib.sha256(b"a line of a record").hexdigest()
FOUL_HEAD = hashlib.sha256(b"the line of an expulsion").hexdigest()
LAST_HEAD = hashlib.sha256(b"the line of the last ack").hexdigest()
VIEW: Plain = {
    "seat": 0,
    "hand": ["red-star", "red-8star", "blue-clover", "blue-clover", "green-square", "purple-diamond"],
    "scores": [0, 0],
    "order": [0, 1],
    "tiles_left": 1067,
    "map": [[0, 0, "green-star"]],
}
PLACE: Plain = {"action": "place", "tiles": [[0, 1, "red-star"]]}
PLAYED: Plain = {"kind": "played", **PLACE, "points": 3, "seat": 0, "score": 3}
OFFER: Plain = {
    "type": "offer",
    "match": MATCH,
    "game": "q",
    "options": {},
    "seat": 0,
    "names": ["ada", "bob"],
    "time": {"per_move_ms": 6000.0, "start_ms": 30000.0, "bank_ms": None, "increment_ms": 0.0},
    "teams": [],
    "lot": False,
    "acknowledge": False,
    "commitment": chance.commitment(SEED),
    "nonces": True,
    "resume": hashlib.sha256(b"a token of seat 0").hexdigest(),
}
COMMITMENTS: list[str | None] = [nonce_commitment(MATCH, seat, nonce) for seat, nonce in enumerate(NONCES)]
READY: Plain = {"type": "ready", "match": MATCH, "commitment": COMMITMENTS[0]}
REVEAL: Plain = {"type": "reveal", "match": MATCH, "commitments": COMMITMENTS}
NONCE: Plain = {"type": "nonce", "match": MATCH, "nonce": NONCES[0]}
RESUMED: Plain = {**OFFER, "type": "resumed", "turn": 1, "view": VIEW}
TURN: Plain = {
    "type": "turn",
    "match": MATCH,
    "turn": 1,
    "view": VIEW,
    "left_ms": 6000.0,
    "bank_ms": None,
    "head": HEAD,
}
START: Plain = {"type": "start", "match": MATCH, "view": VIEW, "ack": None}
TOLD: Plain = {"type": "told", "match": MATCH, "turn": 1, "what": PLAYED, "draws": None, "ack": None}
END: Plain = {
    "type": "end",
    "match": MATCH,
    "winners": [0],
    "ranking": [[0], [1]],
    "scores": [46, 13],
    "void": None,
    "seed": SEED.hex(),
    "nonces": NONCES,
    "head": HEAD,
    "ack": None,
}
EXPELLED: Plain = {
    "type": "expelled",
    "match": MATCH,
    "foul": "illegal-move",
    "rule": "q.fit.row",
    "code": None,
    "detail": "red-star on row 0, column 1 disagrees with its neighbours in the row",
    "evidence": "",
    "head": FOUL_HEAD,
}
PAUSED: Plain = {"type": "paused", "match": MATCH, "reason": "the organiser stopped the referee", "head": HEAD}


def _without(message: Plain, *keys: str) -> Plain:
    return {key: value for key, value in message.items() if key not in keys}


EXAMPLES: tuple[tuple[str, Role, Plain], ...] = (
    ("hello", Role.PLAYER, {"type": "hello", "version": 1, "name": "ada", "token": None}),
    ("hello with a token", Role.PLAYER, {"type": "hello", "version": 1, "name": "ada", "token": "5ec2e7"}),
    (
        "hello of every kind of sign",
        Role.PLAYER,
        {"type": "hello", "version": 1, "name": "my_1st-Player_", "token": None},
    ),
    ("hello without the key token", Role.PLAYER, {"type": "hello", "version": 1, "name": "ada"}),
    ("welcome", Role.REFEREE, {"type": "welcome", "version": 1, "referee": "referee"}),
    (
        "refused",
        Role.REFEREE,
        {"type": "refused", "code": "name-taken", "reason": "there is a player named ada already"},
    ),
    ("offer", Role.REFEREE, OFFER),
    (
        "offer with options and acknowledgements",
        Role.REFEREE,
        {
            **OFFER,
            "options": {"q_bonus": 8},
            "acknowledge": True,
            "seat": 1,
            "resume": hashlib.sha256(b"a token of seat 1").hexdigest(),
        },
    ),
    (
        "offer with whole milliseconds as integers",
        Role.REFEREE,
        {**OFFER, "time": {"per_move_ms": 6000, "start_ms": 30000, "bank_ms": 600_000, "increment_ms": 500}},
    ),
    (
        "offer to teams whose seats were drawn by lot",
        Role.REFEREE,
        {**OFFER, "names": ["ada", "bob", "cyd", "dan"], "teams": [[0, 2], [1, 3]], "lot": True},
    ),
    ("offer of a fixed deal", Role.REFEREE, {**OFFER, "nonces": False}),
    ("resumed", Role.REFEREE, RESUMED),
    ("resumed before the deal", Role.REFEREE, {**RESUMED, "turn": 0, "view": None}),
    ("ready", Role.PLAYER, READY),
    ("reveal", Role.REFEREE, REVEAL),
    ("reveal, a seat is out", Role.REFEREE, {**REVEAL, "commitments": [COMMITMENTS[0], None]}),
    ("nonce", Role.PLAYER, NONCE),
    ("start", Role.REFEREE, START),
    ("start that demands an ack", Role.REFEREE, {**START, "ack": 1}),
    ("start without the key ack", Role.REFEREE, _without(START, "ack")),
    ("turn", Role.REFEREE, TURN),
    ("move: place", Role.PLAYER, {"type": "move", "match": MATCH, "turn": 1, "move": PLACE}),
    ("move: exchange", Role.PLAYER, {"type": "move", "match": MATCH, "turn": 1, "move": {"action": "exchange"}}),
    ("move: pass", Role.PLAYER, {"type": "move", "match": MATCH, "turn": 1, "move": {"action": "pass"}}),
    ("told", Role.REFEREE, TOLD),
    ("told with draws", Role.REFEREE, {**TOLD, "draws": ["blue-star"]}),
    ("told with draws that demands an ack", Role.REFEREE, {**TOLD, "draws": ["blue-star"], "ack": 2}),
    (
        "told of an expulsion, without the keys draws and ack",
        Role.REFEREE,
        {"type": "told", "match": MATCH, "turn": 1, "what": {"kind": "expelled", "seat": 1, "cause": "timeout"}},
    ),
    ("ack", Role.PLAYER, {"type": "ack", "match": MATCH, "ack": 1}),
    ("paused", Role.REFEREE, PAUSED),
    ("expelled", Role.REFEREE, EXPELLED),
    (
        "expelled for bytes that are no message",
        Role.REFEREE,
        {
            **EXPELLED,
            "foul": "malformed-message",
            "rule": None,
            "code": "not-a-map",
            "detail": "a message is a map, not int",
            "evidence": "01",
        },
    ),
    ("end", Role.REFEREE, END),
    ("end that demands an ack", Role.REFEREE, {**END, "ack": 3}),
    (
        "end without the key ack, a seat opened no nonce",
        Role.REFEREE,
        {**_without(END, "ack"), "nonces": [NONCES[0], None]},
    ),
    ("end of a fixed deal whose seed is kept back", Role.REFEREE, {**END, "seed": None, "nonces": [None, None]}),
    (
        "end of a void match",
        Role.REFEREE,
        {**END, "winners": [], "ranking": [], "scores": [0, 0], "void": "the organiser stopped the referee"},
    ),
)


def packed(value: Any) -> bytes:
    """Return the msgpack bytes of a plain value."""
    data: bytes = msgpack.packb(value)
    return data


def framed(body: bytes) -> bytes:
    """Return a frame, without looking at the body."""
    return len(body).to_bytes(4, "big") + body


_HELLO = packed({"type": "hello", "version": 1, "name": "ada"})


def _hello_with(key: bytes, value: bytes) -> bytes:
    """Return a hello's body with one more key."""
    return bytes([_HELLO[0] + 1]) + _HELLO[1:] + key + value


_K = b"\xa1k"
BAD_VALUES: tuple[tuple[str, bytes, Code], ...] = (
    ("a reserved byte", b"\xc1", Code.NOT_MSGPACK),
    ("an incomplete map", b"\x81\xa1k", Code.NOT_MSGPACK),
    ("two values", b"\x80\x80", Code.NOT_MSGPACK),
    ("invalid UTF-8", b"\xa2\xc3\x28", Code.NOT_MSGPACK),
    ("half of a surrogate pair", b"\xa3\xed\xa0\x80", Code.NOT_MSGPACK),
    ("a string header that announces 2**32-1 bytes", b"\xdb\xff\xff\xff\xff", Code.NOT_MSGPACK),
    ("a binary header that announces 2**32-1 bytes", b"\xc6\xff\xff\xff\xff", Code.NOT_MSGPACK),
    ("a list as a key", b"\x81\x90\x01", Code.KEY_NOT_STRING),
    ("a map as a key", b"\x81\x80\x01", Code.KEY_NOT_STRING),
    ("a number as a key", b"\x81\x01\x01", Code.KEY_NOT_STRING),
    ("null as a key", b"\x81\xc0\x01", Code.KEY_NOT_STRING),
    ("bytes as a key", b"\x81\xc4\x01k\x01", Code.KEY_NOT_STRING),
    ("a timestamp as a key", b"\x81\xd6\xff\x00\x00\x00\x00\x01", Code.KEY_NOT_STRING),
    ("a key that is no string, deep inside", b"\x81\xa1k\x91\x81\x01\x01", Code.KEY_NOT_STRING),
    ("a key twice", b"\x82\xa1k\x01\xa1k\x01", Code.DUPLICATE_KEY),
    ("a key twice, deep inside", b"\x81\xa1k\x91\x82\xa1k\x01\xa1k\x02", Code.DUPLICATE_KEY),
    ("raw bytes", b"\x81\xa1k\xc4\x01a", Code.TYPE_NOT_ALLOWED),
    ("an ext type", b"\x81\xa1k\xd4\x05a", Code.TYPE_NOT_ALLOWED),
    ("an ext type as a key", b"\x81\xd4\x05a\x01", Code.TYPE_NOT_ALLOWED),
    ("a timestamp of 4 bytes", b"\x81\xa1k\xd6\xff\x00\x00\x00\x00", Code.TYPE_NOT_ALLOWED),
    ("a timestamp of 8 bytes", b"\x81\xa1k\xd7\xff" + bytes(8), Code.TYPE_NOT_ALLOWED),
    ("a timestamp of 12 bytes", b"\x81\xa1k\xc7\x0c\xff" + bytes(12), Code.TYPE_NOT_ALLOWED),
    ("a timestamp of a wrong length", b"\x81\xa1k\xc7\x03\xff\x00\x00\x00", Code.TYPE_NOT_ALLOWED),
    ("a timestamp with too many nanoseconds", b"\x81\xa1k\xd7\xff" + b"\xff" * 8, Code.TYPE_NOT_ALLOWED),
    ("not a number, 4 bytes", b"\x81\xa1k\xca\x7f\xc0\x00\x00", Code.NOT_FINITE),
    ("not a number, 8 bytes", b"\x81\xa1k\xcb\x7f\xf8" + bytes(6), Code.NOT_FINITE),
    ("infinity", b"\x81\xa1k\xcb\x7f\xf0" + bytes(6), Code.NOT_FINITE),
    ("minus infinity, deep inside", b"\x91\x81\xa1k\x91\xcb\xff\xf0" + bytes(6), Code.NOT_FINITE),
    ("arrays one level too deep", b"\x91" * MAX_DEPTH + b"\x90", Code.TOO_DEEP),
    ("maps one level too deep", (b"\x81" + _K) * MAX_DEPTH + b"\x80", Code.TOO_DEEP),
    ("a string one byte too long", packed("x" * (MAX_STRING_BYTES + 1)), Code.TOO_LONG),
    ("a key one byte too long", packed({"x" * (MAX_STRING_BYTES + 1): 1}), Code.TOO_LONG),
    ("bytes one byte too long", packed(b"x" * (MAX_STRING_BYTES + 1)), Code.TOO_LONG),
    ("an array one item too long", packed([0] * (MAX_ITEMS + 1)), Code.TOO_LONG),
    ("an array header that announces 2**32-1 items", b"\xdd\xff\xff\xff\xff", Code.TOO_LONG),
    ("a map header that announces 2**32-1 pairs", b"\xdf\xff\xff\xff\xff", Code.TOO_LONG),
    ("an ext header that announces 2**32-1 bytes", b"\xc9\xff\xff\xff\xff\x05", Code.TOO_LONG),
)
"""Bodies that are not a value of the protocol."""

ALSO: dict[str, tuple[Code, ...]] = {
    "a string header that announces 2**32-1 bytes": (Code.TOO_LONG,),
    "a binary header that announces 2**32-1 bytes": (Code.TOO_LONG, Code.TYPE_NOT_ALLOWED),
    "bytes as a key": (Code.TYPE_NOT_ALLOWED,),
    "a timestamp as a key": (Code.TYPE_NOT_ALLOWED,),
    "an ext type as a key": (Code.KEY_NOT_STRING,),
    "a timestamp of a wrong length": (Code.NOT_MSGPACK,),
    "a timestamp with too many nanoseconds": (Code.NOT_MSGPACK,),
    "an array header that announces 2**32-1 items": (Code.NOT_MSGPACK,),
    "a map header that announces 2**32-1 pairs": (Code.NOT_MSGPACK,),
    "an ext header that announces 2**32-1 bytes": (Code.NOT_MSGPACK, Code.TYPE_NOT_ALLOWED),
}
"""Other codes that fit such a body, by name. Another decoder may find that error first."""

DEEP_VALUES = tuple(
    (f"{levels} levels of {kind}", opening * (levels - 1) + closing)
    for levels in (17, 1023, 1024, 1025, 2000, 60_000)
    for kind, opening, closing in (("arrays", b"\x91", b"\x90"), ("maps", b"\x81" + _K, b"\x80"))
)
"""Bodies that would exhaust a stack; all of them are TOO_DEEP. They are too long for vectors.json."""

BAD_MESSAGES: tuple[tuple[str, bytes, Code], ...] = (
    ("null", b"\xc0", Code.NOT_A_MAP),
    ("an array", b"\x90", Code.NOT_A_MAP),
    ("a string", b"\xa5hello", Code.NOT_A_MAP),
    ("a map without type", packed({"version": 1, "name": "ada"}), Code.UNKNOWN_TYPE),
    ("a type that is no string", packed({"type": 1}), Code.UNKNOWN_TYPE),
    ("a type that is a list", packed({"type": ["hello"]}), Code.UNKNOWN_TYPE),
    ("a type of nobody", packed({"type": "Hello", "version": 1, "name": "ada"}), Code.UNKNOWN_TYPE),
    ("a type of the other role", packed({"type": "welcome", "version": 1, "referee": "me"}), Code.UNKNOWN_TYPE),
    ("a hello without a name", packed({"type": "hello", "version": 1}), Code.MISSING_KEY),
    ("a hello with one key too many", _hello_with(b"\xa1x", b"\x01"), Code.EXTRA_KEY),
    (
        "a key that sounds like another error",
        _hello_with(packed("missing required field `name`"), b"\x01"),
        Code.EXTRA_KEY,
    ),
    ("a version in a string", packed({"type": "hello", "version": "1", "name": "ada"}), Code.WRONG_TYPE),
    ("a negative version", packed({"type": "hello", "version": -1, "name": "ada"}), Code.WRONG_TYPE),
    ("an empty name", packed({"type": "hello", "version": 1, "name": ""}), Code.WRONG_TYPE),
    ("a name of 21 letters", packed({"type": "hello", "version": 1, "name": "a" * 21}), Code.WRONG_TYPE),
    *(
        (f"a name like {name}", packed({"type": "hello", "version": 1, "name": name}), Code.WRONG_TYPE)
        for name in ("-ada", "_ada", "a.da", "a/da", "a da", "ädä")
    ),
    ("a name with a line feed", packed({"type": "hello", "version": 1, "name": "ada\n"}), Code.WRONG_TYPE),
    (
        "a token that is too long",
        packed({"type": "hello", "version": 1, "name": "ada", "token": "x" * 129}),
        Code.WRONG_TYPE,
    ),
    ("a move before hello", packed({"type": "move", "match": MATCH, "turn": 1, "move": None}), Code.OUT_OF_TURN),
)
"""Bodies that are values, but no valid first message of a player."""

_OVERSIZE = MAX_FRAME_FROM_PLAYER_BYTES + 1
BAD_FRAMES: tuple[tuple[str, Role, bytes, Code], ...] = (
    ("a frame of length 0", Role.PLAYER, bytes(4), Code.EMPTY),
    ("a prefix one byte over the limit", Role.PLAYER, _OVERSIZE.to_bytes(4, "big"), Code.OVERSIZE),
    ("a prefix of 2**32-1 bytes", Role.PLAYER, b"\xff\xff\xff\xff", Code.OVERSIZE),
    (
        "a prefix one byte over the limit, from the referee",
        Role.REFEREE,
        (MAX_FRAME_FROM_REFEREE_BYTES + 1).to_bytes(4, "big"),
        Code.OVERSIZE,
    ),
    ("HTTP", Role.PLAYER, b"GET / HTTP/1.1\r\n\r\n", Code.OVERSIZE),
    ("the end inside a prefix", Role.PLAYER, b"\x00\x00", Code.TRUNCATED),
    ("the end behind a prefix", Role.PLAYER, b"\x00\x00\x00\x05", Code.TRUNCATED),
    ("the end inside a body", Role.PLAYER, framed(_HELLO)[:-1], Code.TRUNCATED),
    *((name, Role.PLAYER, framed(body), code) for name, body, code in BAD_VALUES + BAD_MESSAGES),
    ("a start before welcome", Role.REFEREE, framed(packed(START)), Code.OUT_OF_TURN),
)
"""Bytes that a new conversation refuses, each with the sender; TRUNCATED once the connection has ended."""

OTHER_SEED = bytes(range(32))
NUMBERS = (0, 7, 123456789)
"""Values that a user writes after --seed."""
PURPOSES = (
    (SEED, "player:0"),
    (SEED, "player:1"),
    (OTHER_SEED, "player:11"),
    (SEED, "seating"),
    (SEED, ""),
    (SEED, "a purpose with spaces, \u00e4 and \u732b"),
)
DEALS: tuple[tuple[str, bytes, tuple[str | None, ...]], ...] = (
    ("two seats with nonces", SEED, (NONCES[0], NONCES[1])),
    ("the same nonces, the other way round", SEED, (NONCES[1], NONCES[0])),
    ("a fixed deal of two seats", SEED, (None, None)),
    ("three seats, the one in the middle without a nonce", OTHER_SEED, ("00" * 16, None, "ff" * 16)),
    ("a fixed deal of three seats", OTHER_SEED, (None, None, None)),
    ("four seats with nonces", bytes(32), (NONCES[0], NONCES[1], "00" * 16, "ff" * 16)),
    ("four seats with the same nonce", b"\xff" * 32, (NONCES[0],) * 4),
)
"""(name, seed, nonces by seat), for as many seats as Q takes."""
BOUNDS = (2**63 + 1, 2**63 + 1, 3 * 2**62, 1, 2, 6, 36, 1080, 2**32, 2**63, 2**63 - 1, 2**64 - 1, 2**64)
"""Bounds of numbers that are drawn one after another.

With the first ones, every second and every fourth word is rejected; 1 takes a word, too; 2**64 takes every word as it
is.
"""
DEALT: tuple[tuple[str, int, int], ...] = (
    ("quincy", 0, 0),
    ("quincy", 2, 0),
    ("quincy", 5, 0),
    ("quadominos", 0, 0),
    ("quadominos", 0, 1),
    ("quadominos", 3, 2),
    ("quadominos", 5, 1),
)
"""(game, index in DEALS, number of the deal in the match)."""
LISTS: tuple[tuple[Any, ...], ...] = ((), ("A",), ("A", "B"), tuple("ABCDE"), tuple(range(10)), ("A", "A", "B"))
COMMITTED = (
    (MATCH, 0, NONCES[0]),
    (MATCH, 1, NONCES[0]),
    (MATCH, 0, NONCES[1]),
    ("q-10", 0, NONCES[0]),
    ("m." + "-_Z9" * 19, 11, "f" * 32),
)
"""(match, seat, nonce): if one differs, so does the commitment."""
