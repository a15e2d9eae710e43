"""Messages: each field takes the values of the specification, and refuses all others with a code.

The table repeats by hand what each field accepts, so that the types and the table check each other.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from protocol import Code, RemoteProtocolError, Role
from protocol.decoding import decode
from protocol.limits import MAX_STRING_BYTES, MAX_TOKEN_CHARS
from protocol.messages import FROM_PLAYER, FROM_REFEREE, Message, encode, type_of

from .situations import typed
from .tables import EXAMPLES, NONCES, Plain, packed

KINDS: dict[str, Any] = {
    "null": None,
    "bool": True,
    "int": 1,
    "negative": -1,
    "huge": 2**64 - 1,
    "float": 1.5,
    "string": "x",
    "list": [],
    "map": {},
}
ANYTHING = set(KINDS)
TERMS: dict[str, set[str]] = {
    "match": {"string"},
    "game": {"string"},
    "options": {"map"},
    "seat": {"int"},
    "names": {"list"},
    "time": set(),
    "teams": {"list"},
    "lot": {"bool"},
    "acknowledge": {"bool"},
    "commitment": set(),
    "nonces": {"bool"},
    "resume": {"string"},
}
"""Common fields of `offer` and `resumed`."""
FIELDS: dict[str, dict[str, set[str]]] = {
    "hello": {"version": {"int"}, "name": {"string"}, "token": {"null", "string"}},
    "ready": {"match": {"string"}, "commitment": set()},
    "reveal": {"match": {"string"}, "commitments": {"list"}},
    "nonce": {"match": {"string"}, "nonce": set()},
    "move": {"match": {"string"}, "turn": {"int"}, "move": ANYTHING},
    "ack": {"match": {"string"}, "ack": {"int"}},
    "welcome": {"version": {"int"}, "referee": {"string"}},
    "refused": {"code": {"string"}, "reason": {"string"}},
    "offer": TERMS,
    "resumed": {**TERMS, "turn": {"int"}, "view": ANYTHING},
    "start": {"match": {"string"}, "view": ANYTHING, "ack": {"null", "int"}},
    "turn": {
        "match": {"string"},
        "turn": {"int"},
        "view": ANYTHING,
        "left_ms": {"int", "huge", "float"},
        "bank_ms": {"null", "int", "huge", "float"},
        "head": set(),
    },
    "told": {
        "match": {"string"},
        "turn": {"int"},
        "what": {"map"},
        "draws": {"null", "list"},
        "ack": {"null", "int"},
    },
    "paused": {"match": {"string"}, "reason": {"string"}, "head": set()},
    "expelled": {
        "match": {"string"},
        "foul": {"string"},
        "rule": {"null", "string"},
        "code": {"null", "string"},
        "detail": {"string"},
        "evidence": {"string"},
        "head": set(),
    },
    "end": {
        "match": {"string"},
        "winners": {"list"},
        "ranking": {"list"},
        "scores": {"list"},
        "void": {"null", "string"},
        "seed": {"null"},
        "nonces": {"list"},
        "head": set(),
        "ack": {"null", "int"},
    },
}
"""Message -> field -> the kinds of value that it takes."""
OPTIONAL = {("hello", "token"), ("start", "ack"), ("told", "draws"), ("told", "ack"), ("end", "ack")}
"""The optional keys."""

ROWS = [(name, field) for name, fields in FIELDS.items() for field in fields]
LIMITS: tuple[tuple[str, str, list[Any], list[Any]], ...] = (
    ("hello", "version", [0, 2**53], [2**53 + 1]),
    ("hello", "name", ["a", "Z9" * 10], ["", "a" * 21, "ada!", "ada bob", "ada\n", "\nada", "é", "\u0661"]),
    ("hello", "token", ["", "x" * MAX_TOKEN_CHARS], ["x" * (MAX_TOKEN_CHARS + 1)]),
    ("ready", "match", ["a", "x" * 80], ["", "x" * 81]),
    ("ready", "commitment", ["0" * 64], ["0" * 63, "0" * 65, "0" * 64 + "\n", "X" * 64]),
    ("reveal", "commitments", [[], [None], ["0" * 64, None]], [[""], ["0" * 63], [1], ["0" * 64 + "\n"]]),
    ("nonce", "nonce", NONCES, ["", "0" * 31, "0" * 33, "A" * 32, "0" * 32 + "\n", "g" * 32]),
    ("move", "turn", [0, 2**53], [2**53 + 1]),
    ("refused", "reason", ["", "x" * MAX_STRING_BYTES], []),
    ("offer", "options", [{"a": {"b": []}}], []),
    ("offer", "seat", [0, 11], [12]),
    ("offer", "names", [["a"], ["a", "b"]], [[""], [1], ["a b"], ["a\n"], [None], [["a"]]]),
    (
        "offer",
        "time",
        [
            {"per_move_ms": 0.001, "start_ms": 0.5, "bank_ms": None, "increment_ms": 0},
            {"per_move_ms": 1, "start_ms": 1, "bank_ms": 0.5, "increment_ms": 86_400_000},
        ],
        [
            {"per_move_ms": 0, "start_ms": 1, "bank_ms": None, "increment_ms": 0},
            {"per_move_ms": 86_400_001, "start_ms": 1, "bank_ms": None, "increment_ms": 0},
            {"per_move_ms": -1, "start_ms": 1, "bank_ms": None, "increment_ms": 0},
            {"per_move_ms": "1", "start_ms": 1, "bank_ms": None, "increment_ms": 0},
            {"per_move_ms": 1, "start_ms": 1, "bank_ms": -1, "increment_ms": 0},
            {"per_move_ms": 1, "start_ms": 1, "bank_ms": None, "increment_ms": None},
        ],
    ),
    ("offer", "commitment", ["0" * 64], ["0" * 63, "0" * 65, "0" * 64 + "\n", "X" * 64]),
    ("offer", "nonces", [True, False], [0, 1, "true", [True]]),
    ("offer", "resume", ["", "0" * 64, "x" * MAX_TOKEN_CHARS], ["x" * (MAX_TOKEN_CHARS + 1)]),
    ("resumed", "turn", [0, 2**53], [2**53 + 1]),
    ("resumed", "view", [None, {}, {"map": [[0, 0, "red-star"]]}], []),
    ("resumed", "seat", [0, 11], [12]),
    ("resumed", "commitment", ["0" * 64], ["0" * 63, "F" * 64, "0" * 64 + "\n"]),
    ("turn", "left_ms", [0, 0.0, 1e300], [-0.5]),
    ("turn", "bank_ms", [None, 0, 0.5], [-0.5, "1"]),
    ("turn", "head", ["0" * 64], ["0" * 63, "0" * 65, "F" * 64, "0" * 64 + "\n"]),
    ("told", "draws", [["red-star"], [1, None, {}]], []),
    ("end", "winners", [[], [0, 11]], [[12], [-1], [0.5], ["0"], [None], [True]]),
    ("end", "ranking", [[], [[]], [[0], [1, 2]]], [[0], [["0"]], [[12]], [None]]),
    ("end", "scores", [[], [-1, 2**63 - 1]], [[0.5], ["0"], [None], [True], [[]]]),
    ("end", "seed", [None, "f" * 64], ["f" * 63, "F" * 64, "f" * 64 + "\n"]),
    ("end", "nonces", [[], [None], NONCES], [[""], ["0" * 31], [1], ["0" * 32 + "\n"]]),
    ("end", "head", ["f" * 64], ["f" * 63, "f" * 65, "F" * 64, "f" * 64 + "\n"]),
)
"""(message, field, values at its limits, values just beyond)."""


def accepted_by(name: str) -> dict[str, type[Message]]:
    """Return all messages of the role that sends a message."""
    return FROM_PLAYER if name in FROM_PLAYER else FROM_REFEREE


def example(name: str) -> Plain:
    """Return a message with all its keys."""
    return next(plain for _, _, plain in EXAMPLES if plain["type"] == name and set(plain) == {"type", *FIELDS[name]})


def code_of(plain: Plain) -> Code | None:
    """Return the code with which a message is refused; None if it is taken."""
    try:
        decode(packed(plain), accepted_by(plain["type"]))
    except RemoteProtocolError as error:
        return Code(error.code)
    return None


def all_limits() -> Iterable[tuple[str, str, Any, Code | None]]:
    """Return a row for every value of LIMITS with the expected code."""
    for name, field, good, bad in LIMITS:
        yield from ((name, field, value, None) for value in good)
        yield from ((name, field, value, Code.WRONG_TYPE) for value in bad)


def test_the_tables_know_every_message_and_field() -> None:
    """The tables have all messages and fields."""
    kinds = {**FROM_PLAYER, **FROM_REFEREE}
    assert {name: [field.name for field in msgspec.structs.fields(kind)] for name, kind in kinds.items()} == {
        name: list(fields) for name, fields in FIELDS.items()
    }
    assert set(FIELDS) == {plain["type"] for _, _, plain in EXAMPLES}


@pytest.mark.parametrize(("sender", "plain"), [row[1:] for row in EXAMPLES], ids=[row[0] for row in EXAMPLES])
def test_every_example_survives_the_trip(sender: Role, plain: Plain) -> None:
    """An example is a message of its sender; encoded and decoded again it is the same."""
    message = decode(packed(plain), FROM_PLAYER if sender is Role.PLAYER else FROM_REFEREE)
    assert plain["type"] == type_of(message)
    assert plain.items() <= msgspec.to_builtins(message).items()
    assert message == decode(encode(message), accepted_by(plain["type"]))


@pytest.mark.parametrize(("sender", "plain"), [row[1:] for row in EXAMPLES], ids=[row[0] for row in EXAMPLES])
def test_the_other_role_does_not_send_it(sender: Role, plain: Plain) -> None:
    """A message of the other role has an unknown type."""
    with pytest.raises(RemoteProtocolError) as caught:
        decode(packed(plain), FROM_REFEREE if sender is Role.PLAYER else FROM_PLAYER)
    assert Code.UNKNOWN_TYPE is caught.value.code


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "field"), ROWS)
def test_a_field_takes_its_own_kinds_of_value_only(name: str, field: str, kind: str) -> None:
    """Every kind of value in every field is taken as the table says, or is of the wrong type."""
    expected = None if kind in FIELDS[name][field] else Code.WRONG_TYPE
    if (field, kind) == ("time", "map"):
        expected = Code.MISSING_KEY
    assert expected == code_of({**example(name), field: KINDS[kind]})


@pytest.mark.parametrize(("name", "field", "value", "code"), list(all_limits()))
def test_a_field_keeps_to_its_limits(name: str, field: str, value: Any, code: Code | None) -> None:
    """The value at each limit is taken; the next one is not."""
    assert code == code_of({**example(name), field: value})


@pytest.mark.parametrize(("name", "field"), ROWS)
def test_a_missing_key_is_named(name: str, field: str) -> None:
    """Only the keys of the table are optional."""
    expected = None if (name, field) in OPTIONAL else Code.MISSING_KEY
    assert expected == code_of({key: value for key, value in example(name).items() if key != field})


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("key", ["x", "", "Match", "missing required field", "é" * 500])
def test_an_extra_key_is_refused(name: str, key: str) -> None:
    """A message with any unknown key is refused."""
    assert Code.EXTRA_KEY is code_of({**example(name), key: None})


@pytest.mark.parametrize(("name", "field"), ROWS)
def test_an_error_names_message_and_field(name: str, field: str) -> None:
    """The error has the message's type and, if the mistake is in a key, the key."""
    if FIELDS[name][field] == ANYTHING:
        return
    with pytest.raises(RemoteProtocolError) as caught:
        decode(packed({**example(name), field: -0.5}), accepted_by(name))
    assert caught.value.detail.startswith(f"{name}: ")
    assert field in caught.value.detail


def test_keys_within_a_field_are_checked_too() -> None:
    """The time control must have exactly its keys."""
    for name in ("offer", "resumed"):
        assert Code.MISSING_KEY is code_of({**example(name), "time": {"per_move_ms": 1}})
        assert Code.EXTRA_KEY is code_of({**example(name), "time": {**example(name)["time"], "more": 1}})


def test_a_message_is_frozen() -> None:
    with pytest.raises(AttributeError):
        typed(example("hello")).name = "bob"  # type: ignore[attr-defined]  # that is the point
