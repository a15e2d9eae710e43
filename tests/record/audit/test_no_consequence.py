"""What an audit can't find: changes of values from which nothing follows, with the chain repaired.

The tables are complete: they show the freedom of a record's writer. The seal is made for these changes: an auditor who
knows the referee's key finds each of them. The chain alone finds them, too, as long as it is not repaired. Of course, a
forger could also write a completely different match, with consistent events.
"""

from pathlib import Path
from typing import Any

import pytest

from referee.match import events as e

from ...match.folding import PASS
from ..forging import FORGERS_KEY, Keys, Line, audited, chained, changed, lines_of, refused, sealed, unchained, unsealed
from ..records import SEALER, cut, record_of, tell
from .test_mutations import INSTANTS

Change = tuple[int, Keys, Any]
"""A line's number, the keys that lead to a value in it, the new value."""


def event(number: int, key: str, value: Any) -> Change:
    """Return the change of an event."""
    return number, ("event", key), value


def setup(key: str, value: Any) -> Change:
    """Return the change of the setup."""
    return 0, ("setup", key), value


CHANGES: tuple[tuple[str, str, tuple[Change, ...]], ...] = (
    # # time that does not count for any player
    ("the first byte of an answer", "clean", (event(5, "first_byte_ms", 1.25),)),
    ("the referee's own fault, after the last event", "void", (event(7, "at_ms", 1e6),)),
    # used time, to half a microsecond, and how it is divided
    ("half a microsecond at the end of an answer", "clean", (event(4, "at_ms", 1.2504), event(5, "sent_ms", 1.2504))),
    ("half a microsecond at the beginning of an answer", "clean", (event(5, "sent_ms", 1.2504),)),
    ("half a microsecond of lag", "clean", (event(5, "lag_ms", 0.0004),)),
    ("sent later, or listened later", "deadline", (event(6, "sent_ms", 2.75), event(6, "lag_ms", 0.0))),
    ("used time, while there is no result", "unfinished", (event(8, "at_ms", 7.0), event(9, "sent_ms", 7.0))),
    # values that no check uses
    ("a commitment that is never opened", "fixed deal", (event(2, "commitment", "none"),)),
    ("why a seat left after its end", "left after the end", (event(21, "detail", "bored"), event(21, "at_ms", 22.5))),
    # the header: names, time of day, rules that were not applied
    ("the version of the referee", "clean", ((0, ("referee",), "99"),)),
    ("the day", "clean", ((0, ("opened",), "yesterday"),)),
    ("the name of the match", "clean", (setup("match", "final"),)),
    ("the names of the players", "clean", (setup("names", ["x", "y", "z"]),)),
    ("a bonus that nobody earned", "clean", (setup("options", {"q_bonus": 0, "finish_bonus": 0}),)),
    ("tiles that nobody drew", "late move", ((0, ("setup", "position", "pile", 3), "blue-square"),)),
    ("how the players were started", "clean", ((0, ("programs",), ["x", "y", "z"]),)),
    ("what only the referee's key opens", "clean", ((0, ("locked_seed",), "00"),)),
)


def forged(name: str, changes: tuple[Change, ...]) -> list[Line]:
    """Return the lines of a record with these changes."""
    lines = lines_of(record_of(name))
    for number, keys, value in changes:
        lines = changed(lines, number, keys, value)
    return lines


changes_of_no_consequence = pytest.mark.parametrize(
    ("what", "name", "changes"), CHANGES, ids=[row[0] for row in CHANGES]
)


@changes_of_no_consequence
def test_what_has_no_consequence_is_accepted(tmp_path: Path, what: str, name: str, changes: tuple[Change, ...]) -> None:
    """The verdict is the same, so the audit accepts the change under the forger's own key."""
    lines = forged(name, changes)
    assert lines != lines_of(record_of(name))
    is_finished = tell(name).match.result is not None
    record = audited(tmp_path / "m", sealed(lines), is_strict=is_finished)
    assert (record.result.result if record.result else None) == tell(name).match.result
    assert record.header.key == FORGERS_KEY


@changes_of_no_consequence
def test_the_key_finds_it(tmp_path: Path, what: str, name: str, changes: tuple[Change, ...]) -> None:
    """An auditor who knows the referee's key refuses the forger's, at line 0."""
    lines, keys = forged(name, changes), [SEALER.public]
    assert audited(tmp_path / "m", record_of(name), is_strict=False, keys=keys).header.key == SEALER.public
    error = refused(tmp_path / "m", sealed(lines), is_strict=False, keys=keys)
    assert (error.line, error.expected) == (0, f"key {SEALER.public}")


@changes_of_no_consequence
def test_the_old_seal_finds_it(tmp_path: Path, what: str, name: str, changes: tuple[Change, ...]) -> None:
    """With the chain repaired, the referee's signature does not fit; without it, the record is unfinished."""
    lines = forged(name, changes)
    count = len([line for line in lines if line["kind"] != "seal"])
    if count < len(lines):
        error = refused(tmp_path / "m", chained(lines))
        assert (error.line, error.expected) == (len(lines) - 1, f"the seal of key {SEALER.public}")
    error = refused(tmp_path / "m", unsealed(lines))
    assert (error.line, error.expected) == (count, "a result and its seal")


@changes_of_no_consequence
def test_the_chain_finds_it(tmp_path: Path, what: str, name: str, changes: tuple[Change, ...]) -> None:
    """With the old chain, the first changed line is named."""
    error = refused(tmp_path / "m", unchained(forged(name, changes)), is_strict=False)
    assert error.line == min(number for number, _, _ in changes)


BEYOND: tuple[tuple[str, str, tuple[Change, ...]], ...] = (
    ("the first byte before the request", "clean", (event(5, "first_byte_ms", 1.249),)),
    ("the first byte after the last", "clean", (event(5, "first_byte_ms", 2.501),)),
    ("the opening after the offers were sent", "clean", (event(1, "at_ms", 0.001),)),
    ("the opening after an answer", "clean", (event(1, "at_ms", 1.251),)),
    ("the referee's own fault before the last event", "void", (event(7, "at_ms", 3.0),)),
    ("an answer after the next request", "clean", (event(4, "at_ms", 1.2504),)),
    ("a request before the answer that it follows", "clean", (event(8, "sent_ms", 4.9996),)),
    ("a microsecond at the end of an answer", "clean", (event(4, "at_ms", 1.251), event(5, "sent_ms", 1.251))),
    ("a microsecond at the beginning of an answer", "clean", (event(5, "sent_ms", 1.251),)),
    ("a microsecond of lag", "clean", (event(5, "lag_ms", 0.001),)),
    ("one player's time, from answer to answer", "clean", (event(10, "lag_ms", 0.25), event(13, "at_ms", 12.75))),
    ("more lag than time", "unfinished", (event(8, "lag_ms", 1.252),)),
    ("used time over the limit, without a result", "unfinished", (event(12, "at_ms", 9999.0),)),
    ("time of one player for another's", "clean", (event(5, "sent_ms", 1.5), event(6, "sent_ms", 2.25))),
    ("the move of an answer in time", "clean", (event(8, "move", {"any": "thing"}),)),
    ("the move of a late answer", "late move", (event(6, "move", {"any": "thing"}),)),
    ("the turn of a late answer", "late move", (event(6, "turn", 99),)),
    ("the nonce of a late answer", "late nonce", (event(7, "nonce", "no nonce"),)),
    ("the number of a late confirmation", "late start, acknowledged", (event(6, "ack", 99),)),
    ("a nonce in the shuffle", "dealt", (event(4, "nonce", "no nonce"),)),
    ("a commitment that was opened", "dealt", (event(2, "commitment", "no hash"),)),
    ("a number of names", "clean", (setup("names", ["x", "y"]),)),
    ("tiles that somebody drew", "late move", ((0, ("setup", "position", "pile", 0), "blue-square"),)),
)


@pytest.mark.parametrize(("what", "name", "changes"), BEYOND, ids=[row[0] for row in BEYOND])
def test_beyond_that_a_change_is_found(tmp_path: Path, what: str, name: str, changes: tuple[Change, ...]) -> None:
    """A change of a value that has a consequence is found."""
    refused(tmp_path / "m", sealed(forged(name, changes)), is_strict=False)


def test_a_match_may_have_been_at_another_time(tmp_path: Path) -> None:
    """Instants count from the opening, and the offers follow soon. All can be moved by the time in between."""
    lines = lines_of(record_of("clean"))
    for line in lines[2:-2]:
        line["event"] |= {key: value + 50.0 for key, value in line["event"].items() if key in INSTANTS - {"lag_ms"}}
    assert audited(tmp_path / "m", sealed(lines)).transitions[1].event.at_ms == 51.25


def test_seats_that_are_ready_at_once_have_no_order(tmp_path: Path) -> None:
    """Two seats that accept at one instant may be in any order, as long as nothing follows from either."""
    lines = lines_of(record_of("clean"))
    one, two, three = lines[2:5]
    audited(tmp_path / "m", sealed([*lines[:2], two, one, *lines[4:]]))
    assert refused(tmp_path / "m", sealed([*lines[:2], one, three, two, *lines[5:]])).line == 3
    later = changed(lines, 3, ("event", "at_ms"), 1.251)
    assert refused(tmp_path / "m", sealed([*lines[:2], later[3], one, *lines[4:]])).line == 3


def test_whether_a_seat_left_after_its_end(tmp_path: Path) -> None:
    """A seat that has confirmed the end is done: the event that it left may be missing, or be there twice."""
    lines = lines_of(record_of("left after the end"))
    audited(tmp_path / "m", sealed([*lines[:21], *lines[22:]]))
    audited(tmp_path / "m", sealed([*lines[:22], *lines[21:]]))
    assert refused(tmp_path / "m", sealed([*lines[:20], lines[21], lines[20], *lines[22:]])).line == 20


@pytest.mark.parametrize(("length", "is_shown"), [(399, True), (400, False)])
def test_the_end_of_a_long_detail(tmp_path: Path, length: int, is_shown: bool) -> None:  # noqa: FBT001
    """Only the first 400 characters of the detail of a foul count."""
    gone = e.ConnectionLost(seat=0, at_ms=9.0, detail="x" * 500)
    path = cut(tell("clean"), 4, gone).write(tmp_path / "m.jsonl")
    detail = "x" * length + "y" * 9
    lines = changed(lines_of(path.read_bytes()), 5, ("event", "detail"), detail)
    if is_shown:
        assert refused(tmp_path / "n", sealed(lines), is_strict=False).line == 5
    else:
        assert len(audited(tmp_path / "n", sealed(lines), is_strict=False).transitions) == 5


def test_salts_are_drawn_by_whoever_writes(tmp_path: Path) -> None:
    """Other salts give other hashes of the same hidden values."""
    lines = lines_of(record_of("dealt"))
    other = [{**line, "open": dict.fromkeys(line["open"], "5a" * 16)} for line in lines]
    result = audited(tmp_path / "m", sealed(other)).result
    assert result is not None
    assert result.result == tell("dealt").match.result
    assert refused(tmp_path / "m", chained(other)).line == len(lines) - 1


def test_a_record_without_its_result_is_that_of_an_unfinished_match(tmp_path: Path) -> None:
    """Without the last lines and the seed, the rest can't be judged; only the chain holds.

    A strict audit misses the seal.
    """
    lines = lines_of(record_of("dealt"))
    record = audited(tmp_path / "m", unchained(lines[:-2]), is_strict=False)
    assert (record.result, record.seed) == (None, None)
    assert PASS in [line["event"].get("move") for line in lines[1:-2]]
    assert refused(tmp_path / "m", unchained(lines[:-2])).expected == "a result and its seal"


def test_an_unfinished_record_names_whatever_key(tmp_path: Path) -> None:
    """Until a record is sealed, nothing shows that it is of the key in its header."""
    lines = changed(lines_of(record_of("unfinished")), 0, ("opened",), "yesterday")
    record = audited(tmp_path / "m", chained(lines), is_strict=False, keys=[SEALER.public])
    assert (record.state, record.header.key) == ("unfinished", SEALER.public)
