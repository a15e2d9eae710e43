"""Hidden fields: which seat may know which, and that no other value can take their place."""

import hashlib
import json
from copy import deepcopy
from typing import Any

import msgspec
import pytest

from referee.record.hidden_fields import OPEN, BadRedaction, hidden_fields, hide, reveal
from referee.record.schema import BadLine, encode_line, parse_line, read_line

ZEROS = "0" * 64
FOUL = {"seat": 1, "cause": "flood", "at_ms": 1.0, "turn": 1, "rule": None, "code": "c", "detail": "d", "evidence": "e"}
MOVE = {
    "event": "move-received",
    "at_ms": 2.0,
    "seat": 1,
    "sent_ms": 1.0,
    "first_byte_ms": 2.0,
    "lag_ms": 0.0,
    "turn": 1,
}
TOLD = {"command": "tell-seat", "seat": 0, "turn": 1, "what": {"a": 1}, "draws": ["x"], "ack": None, "limit_ms": None}


def step(event: dict[str, Any], *commands: dict[str, Any]) -> dict[str, Any]:
    """Return a plain step."""
    return {"n": 1, "prev": ZEROS, "kind": "step", "event": event, "commands": list(commands)}


BROKEN = {"event": "protocol-broken", "seat": 2, "at_ms": 1.0, "code": "c", "detail": "d", "evidence": "e"}
OVERDUE = {"event": "deadline-passed", "seat": 2, "at_ms": 9.0, "sent_ms": 1.0, "lag_ms": 0.0, "pending": "00"}
RESULT = {"fouls": [FOUL, {**FOUL, "seat": 3}]}
HIDDEN: tuple[tuple[str, dict[str, Any], dict[str, int | None]], ...] = (
    ("a move", step({**MOVE, "move": {"action": "pass"}}), {"event.move": 1}),
    ("a move that is null", step({**MOVE, "move": None}), {}),
    ("a breach", step(BROKEN), {"event.detail": 2, "event.evidence": 2}),
    ("what came for a hello", step({**BROKEN, "event": "seat-vacant"}), {"event.detail": 2, "event.evidence": 2}),
    ("half an answer", step(OVERDUE), {"event.pending": 2}),
    ("an instant", step({"event": "match-opened", "at_ms": 0.0}), {}),
    ("views", step(MOVE, {"command": "ask-move", "seat": 0, "view": "v"}), {"commands.0.view": 0}),
    (
        "a start",
        step(MOVE, TOLD, {"command": "start-seat", "seat": 3, "view": "v"}),
        {"commands.0.draws": 0, "commands.1.view": 3},
    ),
    ("no draws", step(MOVE, {**TOLD, "draws": None}), {}),
    ("a return", step(MOVE, {"command": "resume-seat", "seat": 3, "view": "v"}), {"commands.0.view": 3}),
    (
        "an expulsion",
        step(MOVE, {"command": "expel-seat", "seat": 1, "foul": FOUL}),
        {"commands.0.foul.detail": 1, "commands.0.foul.evidence": 1},
    ),
    (
        "the end",
        step(MOVE, {"command": "close-match", "result": RESULT}),
        {
            f"commands.0.result.fouls.{index}.{name}": seat
            for index, seat in ((0, 1), (1, 3))
            for name in ("detail", "evidence")
        },
    ),
    (
        "a result",
        {"n": 1, "prev": ZEROS, "kind": "result", "seed": "s", "nonces": [], "result": {"fouls": [FOUL]}},
        {"seed": None, "result.fouls.0.detail": 1, "result.fouls.0.evidence": 1},
    ),
    (
        "a header",
        {"n": 0, "prev": ZEROS, "kind": "header", "seed": "s", "programs": ["p"], "setup": {"position": {"a": 1}}},
        {"seed": None, "programs": None, "setup.position": None},
    ),
    ("a seal", {"n": 1, "prev": ZEROS, "kind": "seal", "signature": "s"}, {}),
)


@pytest.mark.parametrize(("_name", "line", "expected"), HIDDEN, ids=[row[0] for row in HIDDEN])
def test_what_is_hidden_from_whom(_name: str, line: dict[str, Any], expected: dict[str, int | None]) -> None:
    """Each field has its path and the only seat that may know it; null is not hidden."""
    assert {place.path: place.seat for place in hidden_fields(line)} == expected


@pytest.mark.parametrize(("_name", "line", "expected"), HIDDEN, ids=[row[0] for row in HIDDEN])
def test_a_line_comes_back_as_it_was(_name: str, line: dict[str, Any], expected: dict[str, int | None]) -> None:
    """Hidden and opened again it is the same line, and leaving out entries does not change its hash."""
    core = deepcopy(line)
    opened = hide(core)
    assert opened.keys() == expected.keys()
    data, digest = encode_line(core, opened)
    read = read_line(data)
    assert read.fields == line
    assert (read.hash, read.opened, read.is_redacted) == (digest, tuple(expected), False)
    for path in expected:
        rest = {other: entry for other, entry in opened.items() if other != path}
        part = read_line(encode_line(core, rest)[0])
        assert (part.hash, part.is_redacted) == (digest, True)
        with pytest.raises(BadLine, match="redacted record"):
            parse_line(part)


def test_equal_values_have_different_hashes() -> None:
    """Two cores do not show whether they hide the same value."""
    line = step({**MOVE, "move": {"action": "pass"}})
    first, second = deepcopy(line), deepcopy(line)
    assert hide(first) != hide(second)
    assert first != second


VALUE = {"action": "pass"}


def hidden_move() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a core with a hidden move, and the move."""
    core = step({**MOVE, "move": deepcopy(VALUE)})
    return core, hide(core)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (lambda salt, _value: [salt, {"action": "exchange"}], "its hash"),
        (lambda salt, value: [salt[:-1] + "g", value], "neither"),
        (lambda salt, value: [salt, value, {"a": 1}], "its digest"),
        (lambda salt, value: [salt.upper(), value], "neither|its hash"),
        (lambda salt, value: [salt + "0", value], "neither"),
        (lambda salt, value: [salt, value, value, value], "neither"),
        (lambda salt, _value: [salt], "neither"),
        (lambda salt, value: [7, value], "neither"),
        (lambda salt, value: {"salt": salt, "value": value}, "neither"),
        (lambda _salt, _value: None, "neither"),
    ],
    ids=["value", "salt", "view", "capitals", "long", "four", "one", "number", "map", "null"],
)
def test_nothing_else_can_be_put_in_its_place(entry: Any, problem: str) -> None:
    """Another value, another salt or another form is refused."""
    core, opened = hidden_move()
    with pytest.raises(BadRedaction, match=problem):
        reveal(core, {"event.move": entry(*opened["event.move"])})


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "event",
        "event.move.x",
        "event.at_ms",
        "move",
        "commands.0.view",
        "commands.x",
        "commands.-1.view",
        "n",
        "a" * 999,
    ],
)
def test_what_is_not_hidden_cannot_be_opened(path: str) -> None:
    """A path without a hidden field is refused, and shown cut off."""
    core, opened = hidden_move()
    with pytest.raises(BadRedaction) as caught:
        reveal(core, {path: opened["event.move"]})
    assert len(str(caught.value)) < 200


def test_nothing_can_be_moved_from_a_value_to_its_salt() -> None:
    """A salt has a fixed length: 12345 is not 2345 with a longer salt."""
    core = step({**MOVE, "move": 12345})
    salt, _ = hide(core)["event.move"]
    with pytest.raises(BadRedaction, match="neither"):
        reveal(core, {"event.move": [salt + "1", 2345]})


def test_a_field_that_must_be_hidden_cannot_stand_openly() -> None:
    """A line that shows the move in its core is refused, although it is well-formed."""
    data = json.dumps(step({**MOVE, "move": VALUE}), separators=(",", ":")).encode()
    with pytest.raises(BadLine, match="not hidden though they must be"):
        parse_line(read_line(data))


def test_only_a_redacted_record_shows_views() -> None:
    """A whole record may not have the views behind the digests."""
    view = {"hand": ["a"]}
    digest = hashlib.sha256(msgspec.msgpack.encode(view)).hexdigest()
    asked = {"command": "ask-move", "seat": 0, "turn": 1, "view": digest, "limit_ms": 1.0}
    core = step({"event": "match-opened", "at_ms": 0.0}, asked)
    opened = hide(core)
    opened["commands.0.view"].append(view)
    read = read_line(encode_line(core, opened)[0])
    assert read.shown == {"commands.0.view": view}
    with pytest.raises(BadLine, match="only a redacted record"):
        parse_line(read)


def test_open_comes_last_and_only_once() -> None:
    """`open` is the last key of a line, and is left out if it is empty."""
    core, opened = hidden_move()
    data, _ = encode_line(core, opened)
    fields = json.loads(data)
    moved = json.dumps({OPEN: fields.pop(OPEN), **fields}, separators=(",", ":")).encode()
    empty = json.dumps({**step({"event": "match-opened", "at_ms": 0.0}), OPEN: {}}, separators=(",", ":")).encode()
    for other in (moved, empty, data + b" ", data.replace(b":", b": ", 1), data[:-1] + b',"open":{}}'):
        with pytest.raises(BadLine):
            read_line(other)
