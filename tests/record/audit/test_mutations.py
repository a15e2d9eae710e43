"""Forgeries: every change of a record is found, with the chain repaired or not, with the old seal or without.

With a repaired chain, a change of a value without consequences in an event can't be found. `has_no_consequence` finds
these values, and test_no_consequence.py lists all of them.
"""

from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.match.setup import DEFAULT_LAG_MARGIN_MS
from referee.record.audit.match import audit
from referee.record.reader import RecordError

from ...match.folding import EXCHANGE, NONCE, PASS, place
from ..forging import (
    REGISTRY,
    WAYS,
    Keys,
    Line,
    chained,
    changed,
    is_accepted,
    leaves,
    lines_of,
    refused,
    sealed,
    unchained,
    unsealed,
)
from ..records import STORIES, record_of

EVENTS = {
    "late ready, acknowledged": range(1, 17),
    "deadline": range(6, 7),
    "late move": range(6, 9),
    "late for a stall": range(5, 7),
    "bad frame": range(6, 7),
    "disconnected": range(6, 7),
    "void": range(1, 8),
    "dealt": range(2, 8),
    "late nonce": range(7, 8),
    "another nonce": range(6, 7),
}
"""Records, and the lines of each that are changed: the lines that none of the other records has."""
KINDS = {
    *("match-opened", "ready-received", "nonce-received", "move-received", "ack-received"),
    *("deadline-passed", "protocol-broken", "connection-lost", "referee-failed"),
}
KEYS = {"seat", "turn", "ack", "move", "frame", "commitment", "nonce", "code", "detail", "evidence", "pending", "event"}
MARGIN_MS = DEFAULT_LAG_MARGIN_MS
INSTANTS = {"at_ms", "sent_ms", "first_byte_ms", "lag_ms", "stalled_ms"}
MOVES = (PASS, EXCHANGE, {"action": "fly"}, place((0, -1, "blue-star")), None)


# --- the events


def other_values(key: str, value: Any) -> list[Any]:
    """Return what a forger may write in place of a value of an event."""
    if key in INSTANTS:
        return [value + 0.001, value - 0.001, value + 1.0, -1.0, *([MARGIN_MS] if key == "stalled_ms" else [])]
    if key in ("seat", "turn", "ack"):
        return [value + 1, value - 1, 2**63]
    if key == "move":
        return list(MOVES)
    if key == "code":
        return ["out-of-turn", "type", ""]
    if key == "event":
        return ["connection-lost", "seat-vacant", "none"]
    return [value + "0", value[:-1], NONCE]


def event_changes(lines: list[Line], numbers: range) -> Iterator[tuple[int, str, Any]]:
    """Yield every line, key and value that turn the event into another one."""
    for number in numbers:
        for key, value in lines[number]["event"].items():
            for new in other_values(key, value):
                if new != value:
                    yield number, key, new


def has_no_consequence(lines: list[Line], number: int, key: str, new: Any) -> bool:
    """Return whether nothing follows from a value of an event: first bytes, the first and the last instant."""
    event = lines[number]["event"]
    if key == "first_byte_ms":
        return bool(event["sent_ms"] <= new <= event["at_ms"])
    if key == "stalled_ms":
        return bool((new > MARGIN_MS) == (event[key] > MARGIN_MS) and 0.0 <= new <= event[key] + 0.005)
    if key == "at_ms" and event["event"] == "match-opened":
        return bool(0.0 <= new <= lines[number + 1]["event"]["sent_ms"])
    if key == "at_ms" and event["event"] == "referee-failed":
        return bool(lines[number - 1]["event"]["at_ms"] <= new)
    is_never_opened = not lines[0]["setup"]["nonces"] and "frame" not in event
    return key == "commitment" and is_never_opened


@pytest.mark.parametrize("name", EVENTS)
def test_any_change_of_an_event_is_found(tmp_path: Path, name: str) -> None:
    """With the chain repaired, every other value of an event is refused, except for values without consequence."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    wrong = [
        (number, key, new)
        for number, key, new in event_changes(lines, EVENTS[name])
        if is_accepted(path, sealed(changed(lines, number, ("event", key), new)))
        != has_no_consequence(lines, number, key, new)
    ]
    assert wrong == []


def test_the_events_are_all_changed() -> None:
    """The changed records have every key of every event, and every event except that of a bare foul."""
    events = [lines_of(record_of(name))[number]["event"] for name, numbers in EVENTS.items() for number in numbers]
    assert {event["event"] for event in events} == KINDS
    assert {key for event in events for key in event} == INSTANTS | KEYS


@pytest.mark.parametrize("name", EVENTS)
def test_any_change_breaks_the_chain(tmp_path: Path, name: str) -> None:
    """With the old chain, the changed line is named."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    for number, key, new in event_changes(lines, EVENTS[name]):
        error = refused(path, unchained(changed(lines, number, ("event", key), new)))
        has_form = error.expected != "a line of a record"
        assert (error.line, number, key, new) == (number, number, key, new)
        assert error.expected.startswith("a line whose hash is ") or not has_form


# # --- consequences of the events


def variants(value: Any) -> list[Any]:
    """Return other values of the same type and of others."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, None, str(value)]
    if isinstance(value, str):
        return [value + "x", value[1:] or "y", None]
    if isinstance(value, list):
        return [value[:-1] or [9], [*value, *value[:1], None], None]
    if isinstance(value, dict):
        return [dict(list(value.items())[1:]), {}, None]
    return [0, "", []]


@pytest.mark.parametrize("name", ["late move", "late ready, acknowledged", "void", "dealt", "resumed"])
def test_any_change_of_a_command_is_found(tmp_path: Path, name: str) -> None:
    """The commands of a line must be exactly those that follow; the changed line is named."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    for number, line in enumerate(lines):
        for count, (keys, value) in enumerate(leaves(line.get("commands", []), ("commands",))):
            new = variants(value)[count % len(variants(value))]
            error = refused(path, sealed(changed(lines, number, keys, new)))
            assert (error.line, keys, new) == (number, keys, new)


TYPES: tuple[tuple[Keys, Any, Any], ...] = (
    (("commands", 0, "seat"), 0, False),
    (("commands", 0, "seat"), 0, 0.0),
    (("commands", 0, "turn"), 1, True),
    (("commands", 0, "turn"), 1, 1.0),
    (("commands", 0, "what", "tiles", 0, 1), 1, True),
    (("commands", 0, "draws", 0), "red-clover", ["red-clover"]),
    (("commands", 3, "limit_ms"), 1000.0, 1000),
)


@pytest.mark.parametrize(("keys", "value", "new"), TYPES)
def test_a_command_of_other_types_is_found(tmp_path: Path, keys: Keys, value: Any, new: Any) -> None:
    """Python treats true and 1 as equal, and 1 and 1.0; a record does not."""
    lines = lines_of(record_of("clean"))
    assert (keys, value) in list(leaves(lines[5]))
    assert refused(tmp_path / "m", sealed(changed(lines, 5, keys, new))).line == 5


@pytest.mark.parametrize("name", ["late move", "void"])
def test_commands_left_out_doubled_and_swapped_are_found(tmp_path: Path, name: str) -> None:
    """The commands of a line are those that follow, in their order."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    for number, line in enumerate(lines):
        given = line.get("commands", [])
        for _, _, _, commands in rearranged(given, max_distance=1):
            error = refused(path, sealed(changed(lines, number, ("commands",), commands)))
            assert (error.line, commands) == (number, commands)


@pytest.mark.parametrize("name", ["late move", "late ready, acknowledged", "void", "dealt"])
def test_any_change_of_the_result_is_found(tmp_path: Path, name: str) -> None:
    """Winners, ranking, scores, fouls, times, seed and nonces must be those that follow."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    last = len(lines) - 2
    for keys, value in leaves({key: lines[last][key] for key in ("result", "seed", "nonces")}):
        for new in variants(value):
            error = refused(path, sealed(changed(lines, last, keys, new)))
            found_at = (0, last) if keys == ("seed",) else (last,)
            assert error.line in found_at, (keys, new)


FORGED: tuple[tuple[str, Any], ...] = (
    ("winners", [1]),
    ("winners", []),
    ("ranking", [[1], [0, 2]]),
    ("scores", [3, 99, 3]),
    ("fouls", []),
    ("void", "the weather"),
    ("reason", "q.end.finished"),
    ("turns", 1),
    ("used_ms", [0.0, 0.0, 0.0]),
)


@pytest.mark.parametrize(("key", "value"), FORGED)
def test_a_verdict_that_is_forged_everywhere_is_found(tmp_path: Path, key: str, value: Any) -> None:
    """The command that closes the match agrees with the forged result, but it does not follow."""
    lines = lines_of(record_of("late move"))
    last = len(lines) - 2
    assert lines[last]["result"][key] != value
    forged = changed(lines, last, ("result", key), value)
    forged = changed(forged, last - 1, ("commands", -1, "result", key), value)
    assert refused(tmp_path / "m", sealed(forged)).line == last - 1


SETUPS: tuple[tuple[str, Any, int], ...] = (
    ("time.per_move_ms", 999.0, 3),
    ("time.start_ms", 4999.0, 1),
    ("acknowledge", True, 5),
    ("nonces", False, 0),
    ("names", ["a", "b", "c"], 1),
    ("commitment", "00" * 32, 0),
    ("position", {"map": [[0, 0, "red-star"]], "pile": [], "players": [{"score": 0, "hand": []}] * 2}, 5),
    ("match", "final", 4),
)


@pytest.mark.parametrize(("key", "value", "line"), SETUPS)
def test_a_setup_that_is_forged_is_found(tmp_path: Path, key: str, value: Any, line: int) -> None:
    """Another setup gives another match: the first line that does not follow is named."""
    lines = lines_of(record_of("dealt"))
    assert refused(tmp_path / "m", sealed(changed(lines, 0, ("setup", *key.split(".")), value))).line == line


def test_an_option_that_is_forged_is_found(tmp_path: Path) -> None:
    """Another bonus gives other points if the bonus was earned."""
    lines = lines_of(record_of("finished"))
    assert refused(tmp_path / "m", sealed(changed(lines, 0, ("setup", "options"), {"finish_bonus": 5}))).line == 4


# --- whole lines


def rearranged(items: list[Line], *, max_distance: int = 99) -> Iterator[tuple[str, int, int, list[Line]]]:
    """Yield a list with one item missing, one doubled elsewhere, or two swapped."""
    indices = range(len(items))
    for index in indices:
        yield "left out", index, index, [*items[:index], *items[index + 1 :]]
    for one, two in combinations(indices, 2):
        if two - one <= max_distance:
            yield "swapped", one, two, [*items[:one], items[two], *items[one + 1 : two], items[one], *items[two + 1 :]]
    for one, two in product(indices, indices):
        is_another = abs(two - one) <= max_distance and items[one] != items[two]
        if is_another or one == two:
            yield "doubled", one, two, [*items[:two], items[one], *items[two:]]


def are_ready_together(one: Line, two: Line) -> bool:
    """Return whether two lines are of seats that accepted at the same instant, without a consequence of either."""
    if any(line["kind"] != "step" or line["commands"] for line in (one, two)):
        return False
    events = [line["event"] for line in (one, two)]
    return [event["event"] for event in events] == ["ready-received"] * 2 and events[0]["at_ms"] == events[1]["at_ms"]


@pytest.mark.parametrize("name", ["late move", "late ready, acknowledged", "dealt"])
def test_lines_left_out_doubled_and_swapped_are_found(tmp_path: Path, name: str) -> None:
    """With the chain repaired, a missing or misplaced line is found, unless two seats were ready at once."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    wrong = []
    for what, one, two, forged in rearranged(lines):
        is_harmless = what == "swapped" and are_ready_together(lines[one], lines[two])
        if is_accepted(path, sealed(forged)) != is_harmless:
            wrong.append((what, one, two))
    assert wrong == []


@pytest.mark.parametrize("name", ["late move", "void", "dealt"])
def test_lines_that_move_break_the_chain(tmp_path: Path, name: str) -> None:
    """With the old chain, the first misplaced line is refused."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    for what, one, two, forged in rearranged(lines):
        first = {"left out": one, "doubled": two + (one == two), "swapped": one}[what]
        assert (refused(path, unchained(forged)).line, what, one, two) == (first, what, one, two)


# --- the forger's tools


@pytest.mark.parametrize("name", STORIES)
def test_without_a_change_the_forgers_tools_change_nothing(name: str) -> None:
    """A record that is taken apart and put together again has the same bytes."""
    lines = lines_of(record_of(name))
    assert unchained(lines) == chained(lines) == record_of(name)


@pytest.mark.parametrize("name", ["late move", "void", "dealt"])
def test_any_change_breaks_the_seal(tmp_path: Path, name: str) -> None:
    """With the chain repaired, the referee's signature does not fit; without it, the seal is missing."""
    lines, path = lines_of(record_of(name)), tmp_path / "m"
    for number, line in enumerate(lines[:-1]):
        keys, value = list(leaves({key: line[key] for key in line if key not in ("n", "prev", "kind", "open")}))[-1]
        forged = changed(lines, number, keys, variants(value)[0])
        error = refused(path, chained(forged))
        assert error.line == len(lines) - 1 or (error.line, error.expected) == (number, "a line of a record")
        refused(path, unsealed(forged))


# --- ten thousand changes at random

CHUNKS = 40
CHANGES = 250
"""Number of changes in a chunk, each made with the seal and without it."""
FOULED = ("deadline", "illegal move", "flood", "crashed", "late ready", "disconnected, acknowledged", "all gone")
OTHERS = ("finished", "void", "never opened", "dealt", "resumed")
WHOLE = "whole deal"


def accepted_part(path: Path, data: bytes, *, is_strict: bool) -> bytes | None:
    """Return the complete lines that an audit accepts; None if it names a line of the file, or the file."""
    path.write_bytes(data)
    try:
        record = audit(path, REGISTRY.game, is_strict=is_strict)
    except RecordError as error:
        found = error
    else:
        return data[: record.chain.size_bytes]
    assert found.path == path
    assert found.line is None or 0 <= found.line <= data.count(b"\n")
    return None


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_change_at_random_is_found(tmp_path: Path, chunk: int) -> None:
    """None of 10,000 changed bytes and lines passes. Without its seal, a prefix of the record passes."""
    source, path, passed = Random(chunk), tmp_path / "m", []
    names = source.choices([*FOULED, *OTHERS, WHOLE], [1.0] * len(FOULED + OTHERS) + [0.3], k=CHANGES)
    for count, name in enumerate(names):
        way, whole = WAYS[count % len(WAYS)], record_of(name)
        without_seal = whole[: whole.rindex(b"\n", 0, -1) + 1]
        forged, shorter = way(source, whole), way(source, without_seal)
        assert forged != whole
        assert shorter != without_seal
        part = accepted_part(path, shorter, is_strict=False)
        if (
            accepted_part(path, forged, is_strict=True) is not None
            or accepted_part(path, shorter, is_strict=True) is not None
            or not (part is None or (len(part) < len(without_seal) and without_seal.startswith(part)))
        ):
            passed.append((chunk, count, name, way.__name__))
    assert passed == []


def test_the_changes_at_random_are_ten_thousand() -> None:
    """The records have fouls, and one has a whole deal of four seats."""
    assert CHUNKS * CHANGES == 10_000
    results = {name: lines_of(record_of(name))[-2]["result"] for name in (*FOULED, *OTHERS, WHOLE)}
    assert all(results[name]["fouls"] for name in (*FOULED, WHOLE))
    assert (len(results[WHOLE]["scores"]), results[WHOLE]["void"]) == (4, None)
