"""Deadlines, used time and fouls, checked without the fold, in false records."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.match import events as e
from referee.match.timekeeper import Standstill
from referee.record.audit.times import check_book
from referee.record.reader import Record, RecordError, read_record

from ...match.folding import LIMIT, PASS, lost, moved, resumed
from ..forging import encoded
from ..records import come_back, cut, story
from .test_chance import read, with_event, with_result


def with_commands(record: Record, line: int, change: Callable[[list[Any]], object]) -> Record:
    """Return a record with other commands in a line."""
    step = record.transitions[line - 1]
    commands = step.commands
    change(commands)
    told = msgspec.structs.replace(step, told=msgspec.Raw(encoded(commands)))
    return replace(record, transitions=(*record.transitions[: line - 1], told, *record.transitions[line:]))


@pytest.mark.parametrize(
    ("name", "kind", "nth", "changes", "expected"),
    [
        ("deadline", e.DeadlinePassed, 0, {"at_ms": 3_600_000.0}, "a verdict at"),
        ("clean", e.MoveReceived, 0, {"sent_ms": 0.0}, "a request sent from"),
        ("clean", e.MoveReceived, 0, {"sent_ms": 200.0, "at_ms": 200.5}, "a request sent from"),
        ("clean", e.MoveReceived, 0, {"at_ms": 90_000.0}, "an expulsion for time"),
        ("late move", e.MoveReceived, 1, {"lag_ms": 5.0}, "standstills of 5.0 ms"),
        ("late move", e.MoveReceived, 1, {"at_ms": 100.0}, "no expulsion for time"),
        ("clean", e.MoveReceived, 0, {"seat": 1}, "an answer to a request"),
        ("deadline", e.DeadlinePassed, 0, {"lag_ms": 500.0}, "standstills of 500.0 ms"),
        ("silent offer", e.DeadlinePassed, 0, {"sent_ms": 4000.0}, "a request sent from"),
        ("silent offer", e.DeadlinePassed, 0, {"at_ms": 4000.0}, "no expulsion for time"),
        ("late for a stall", e.DeadlinePassed, 0, {"stalled_ms": 301.0}, "the longest of 301.0 ms"),
        ("returned after a standstill", e.SeatReturned, 0, {"lag_ms": 130.0}, "standstills of 130.0 ms"),
        ("returned after a standstill", e.SeatReturned, 0, {"stalled_ms": 0.0}, "a standstill of 99.995 ms"),
        ("returned after a standstill", e.SeatReturned, 0, {"stalled_ms": 90.0}, "a standstill of 99.995 ms"),
        ("returned after a standstill", e.SeatReturned, 0, {"lag_ms": 0.0}, "a lag of 99.995 ms"),
        ("returned after a standstill", e.SeatReturned, 0, {"lag_ms": 90.0}, "a lag of 99.995 ms"),
        ("late ready", e.ReadyReceived, 0, {"at_ms": 90_000.0}, "an expulsion for time"),
    ],
)
def test_a_verdict_against_the_instants_is_found(
    tmp_path: Path, name: str, kind: type[e.Event], nth: int, changes: dict[str, Any], expected: str
) -> None:
    """The line is named if its verdict does not follow from its own instants."""
    record, _ = with_event(read(tmp_path, name), kind, nth, **changes)
    with pytest.raises(RecordError, match=expected):
        check_book(record)


@pytest.mark.parametrize(
    ("standstill", "lags", "is_named"),
    [
        ((0.0, 250.0), {}, False),
        ((99.0, 300.0), {}, False),
        ((101.0, 300.0), {}, False),
        ((150.0, 301.0), {}, True),
        ((150.0, 301.0), {"stormed_ms": 151.0}, False),
        ((150.0, 301.0), {"stalled_ms": 151.0}, False),
        ((150.0, 400.0), {"stalled_ms": 250.0}, True),
        ((150.0, 400.0), {"stalled_ms": 250.0, "lag_ms": 250.0}, False),
        ((150.0, 400.0), {"stormed_ms": 250.0}, False),
    ],
)
def test_who_returns_is_told_of_every_standstill(
    tmp_path: Path, standstill: Standstill, lags: dict[str, Any], *, is_named: bool
) -> None:
    """These are all standstills since its request was sent, which may be 100 ms and a standstill after it was made."""
    whole = come_back("clean", **lags)
    asked_ms = next(event.at_ms for event, _ in whole.steps if isinstance(event, e.SeatReturned)) - 400.0
    path = whole.write(tmp_path / "m.jsonl")
    record = read_record(path)
    path.unlink()  # it reports other standstills
    told = tuple(
        msgspec.structs.replace(step, standstills=(tuple(asked_ms + ms for ms in standstill),))
        if isinstance(step.event, e.SeatReturned)
        else step
        for step in record.transitions
    )
    if not is_named:
        check_book(replace(record, transitions=told))
        return
    with pytest.raises(RecordError, match=r"expected a (standstill|lag) of"):
        check_book(replace(record, transitions=told))


@pytest.mark.parametrize(
    ("standing_ms", "changes", "is_named"),
    [
        (900.0, {}, True),
        (900.0, {"stalled_ms": 200.0}, True),
        (900.0, {"stalled_ms": 200.0, "stormed_ms": 200.0}, True),
        (900.0, {"stormed_ms": 900.0}, False),
        (250.0, {}, False),
    ],
)
def test_who_has_an_excuse_is_not_late(
    tmp_path: Path, standing_ms: float, changes: dict[str, Any], *, is_named: bool
) -> None:
    """A recorded standstill above the margin excuses each player that did not storm the lobby."""
    record, line = with_event(read(tmp_path, "deadline"), e.DeadlinePassed, **changes)
    index = line - 1
    step = record.transitions[index]
    assert isinstance(step.event, e.DeadlinePassed)
    begun_ms = step.event.sent_ms + 10.0
    told = msgspec.structs.replace(step, standstills=((begun_ms, begun_ms + standing_ms),))
    record = replace(record, transitions=(*record.transitions[:index], told, *record.transitions[index + 1 :]))
    if not is_named:
        check_book(record)
        return
    with pytest.raises(RecordError, match=f"line {line}: expected the excuse of a standstill"):
        check_book(record)


EXTENSION = {"command": "extend-limit", "seat": 1, "limit_ms": LIMIT}


@pytest.mark.parametrize(
    ("name", "kind", "change", "found"),
    [
        ("late for a stall", e.DeadlinePassed, list.clear, "none"),
        ("clean", e.MoveReceived, lambda commands: commands.append({**EXTENSION, "seat": 0}), "one"),
        ("deadline", e.DeadlinePassed, lambda commands: commands.append(EXTENSION), "one"),
    ],
)
def test_a_new_limit_needs_a_standstill(
    tmp_path: Path, name: str, kind: type[e.Event], change: Callable[[list[Any]], object], found: str
) -> None:
    """No player gets a new limit without a standstill, and each player gets it when it is due."""
    record, line = with_event(read(tmp_path, name), kind)
    with pytest.raises(RecordError, match=f"line {line}: expected a new limit.*; found {found}"):
        check_book(with_commands(record, line, change))


AGAIN = 7
"""Line of the resumption: the request of line 5 is asked again after 1500 ms."""


def died_in_a_turn(folder: Path, time: dict[str, Any]) -> Record:
    """Return the record of a match whose referee crashed while the second seat was thinking; it is asked again."""
    whole = cut(story(per_move_ms=6000.0, **time), 5)
    asked_ms = whole.steps[-1][0].at_ms
    left_ms, again_ms = asked_ms + 1500.0, asked_ms + 2000.123
    first = moved(1, 2, PASS, again_ms, sent=left_ms)
    second = moved(0, 3, PASS, again_ms + 10.0, sent=again_ms)
    gone = [lost(seat, again_ms + 20.0 + seat) for seat in (0, 1)]
    return read_record(
        cut(whole, 5, lost(2, left_ms), resumed(left_ms), first, second, *gone).write(folder / "m.jsonl")
    )


BANK = {"bank_ms": 20_000.0, "increment_ms": 700.0}
LEFT: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "what was left": ({}, {}, None),
    "what was left, and the bank": (BANK, {}, None),
    "more than it was": ({}, {"limit_ms": 6000.001}, "a limit of 6000.0 ms at most"),
    "more than it was, and the bank": (BANK, {"limit_ms": 6000.001}, "a limit of 6000.0 ms at most"),
    "a bank that there is not": ({}, {"bank_ms": 20_000.0}, "a limit of 6000.0 ms at most"),
    "no bank, though there is one": (BANK, {"bank_ms": None}, "a limit of 6000.0 ms at most"),
}


@pytest.mark.parametrize(("time", "change", "expected"), LEFT.values(), ids=LEFT)
def test_what_is_left_of_a_limit_when_the_referee_is_back(
    tmp_path: Path, time: dict[str, Any], change: dict[str, Any], expected: str | None
) -> None:
    """It is no more than before the crash, and later turns have the rest of the bank."""
    record = died_in_a_turn(tmp_path, time)
    assert isinstance(record.transitions[AGAIN - 1].event, e.MatchResumed)

    def _told(commands: list[Any]) -> None:
        next(command for command in commands if command["command"] == "ask-move").update(change)

    if expected is None:
        check_book(record)
        return
    with pytest.raises(RecordError, match=f"line {AGAIN}: expected {expected}"):
        check_book(with_commands(record, AGAIN, _told))


def test_time_that_nobody_used_is_found(tmp_path: Path) -> None:
    """The sums of the result are those of the lines."""
    record = read(tmp_path, "clean")
    assert record.result is not None
    used_ms = list(record.result.result.used_ms)
    for changed in ([used_ms[0] + 0.001, *used_ms[1:]], used_ms[::-1][:2], [0.0] * 3):
        with pytest.raises(RecordError, match="expected used_ms") as caught:
            check_book(with_result(record, used_ms=tuple(changed)))
        assert caught.value.line == len(record.transitions) + 1


def test_a_foul_that_did_not_happen_is_found(tmp_path: Path) -> None:
    """The result lists exactly the fouls of the lines, with their causes, in their order."""
    record = read(tmp_path, "all gone")
    assert record.result is not None
    fouls = record.result.result.fouls
    other = msgspec.structs.replace(fouls[0], cause="timeout")
    for changed in (fouls[1:], fouls[::-1], (*fouls, fouls[0]), (other, *fouls[1:])):
        with pytest.raises(RecordError, match="expected fouls"):
            check_book(with_result(record, fouls=changed))
