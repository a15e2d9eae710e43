"""Time controls: a limit for each move, a bank for all moves, an increment; what is left, and what runs out."""

from typing import Any

import pytest

from referee.match import commands as c
from referee.match.fouls import Cause
from referee.match.timekeeper import Timekeeper

from .folding import PASS, B, G, Y, fold, lost, moved, overdue, place, playing, resumed, setup_of

HANDS = ([G, G, G], [Y], [B])
SECOND = 1000.0


def asked_of(commands: tuple[c.Command, ...]) -> tuple[int, float, float | None]:
    """Return the asked seat, its limit, and its bank."""
    (asked,) = (command for command in commands if isinstance(command, c.AskMove))
    return asked.seat, asked.limit_ms, asked.bank_ms


CONTROLS: tuple[tuple[str, dict[str, Any], list[tuple[float, float | None]]], ...] = (
    ("per move", {}, [(1000.0, None)] * 4),
    ("bank", {"per_move_ms": 9000.0, "bank_ms": 5000.0}, [(5000.0, 5000.0), (4000.0, 4000.0), (3000.0, 3000.0)]),
    ("both", {"per_move_ms": 1500.0, "bank_ms": 3000.0}, [(1500.0, 3000.0), (1500.0, 2000.0), (1000.0, 1000.0)]),
    (
        "increment",
        {"per_move_ms": 9000.0, "bank_ms": 5000.0, "increment_ms": 250.0},
        [(5000.0, 5000.0), (4250.0, 4250.0), (3500.0, 3500.0)],
    ),
    (
        "more than was used",
        {"per_move_ms": 4000.0, "bank_ms": 2000.0, "increment_ms": 2000.0},
        [(2000.0, 2000.0), (3000.0, 3000.0), (4000.0, 4000.0), (4000.0, 5000.0)],
    ),
)


@pytest.mark.parametrize(("_name", "control", "expected"), CONTROLS, ids=[row[0] for row in CONTROLS])
def test_what_is_left_stands_in_every_request(
    _name: str, control: dict[str, Any], expected: list[tuple[float, float | None]]
) -> None:
    """A player that takes a second for each move is sent its limit and its bank every time, apart from the others'."""
    match = playing(*HANDS, **{"per_move_ms": SECOND, **control})
    at, turn = 1.0, 1
    found = [(match.open_requests[0].limit_ms, control.get("bank_ms"))]
    while len(found) < len(expected):
        match.handle(moved(0, turn, place((0, (turn + 2) // 3, G)), at + SECOND, sent=at))
        for seat in (1, 2):
            commands = match.handle(moved(seat, turn + seat, PASS, at + SECOND + seat, sent=at + SECOND + seat - 1))
        at, turn = at + SECOND + 2, turn + 3
        seat, limit_ms, bank_ms = asked_of(commands)
        assert seat == 0
        found.append((limit_ms, bank_ms))
    assert found == expected


def test_a_bank_that_is_used_up_is_a_timeout() -> None:
    """More than the bank is too late, even if the limit for each move is longer."""
    match = playing(*HANDS, per_move_ms=9000.0, bank_ms=1500.0)
    fold(match, moved(0, 1, place((0, 1, G)), 1001.0, sent=1.0), moved(1, 2, PASS, 1003.0), moved(2, 3, PASS, 1005.0))
    assert match.open_requests[0].limit_ms == 500.0
    commands = match.handle(overdue(0, 1600.0, sent=1010.0))
    assert isinstance(commands[0], c.ExpelSeat)
    assert (commands[0].foul.cause, commands[0].foul.detail) == (
        Cause.TIMEOUT,
        "no complete answer within 0.5 s",
    )


def test_the_whole_bank_may_be_used() -> None:
    """An answer that uses the bank to the last microsecond is in time; then nothing is left for the next move."""
    match = playing(*HANDS, per_move_ms=9000.0, bank_ms=500.0)
    fold(match, moved(0, 1, place((0, 1, G)), 501.0, sent=1.0), moved(1, 2, PASS, 502.0))
    assert asked_of(match.handle(moved(2, 3, PASS, 503.0))) == (0, 0.0, 0.0)
    assert isinstance(match.handle(moved(0, 4, PASS, 504.1, sent=504.0))[0], c.ExpelSeat)


def test_the_referees_own_time_is_not_taken_off() -> None:
    """The bank does not pay for time in which the referee was busy elsewhere."""
    match = playing(*HANDS, per_move_ms=9000.0, bank_ms=5000.0)
    fold(match, moved(0, 1, place((0, 1, G)), 2001.0, sent=1.0, lag=1500.0), moved(1, 2, PASS, 2003.0))
    assert asked_of(match.handle(moved(2, 3, PASS, 2005.0))) == (0, 4500.0, 4500.0)


def test_what_passed_before_the_referee_died_is_taken_off() -> None:
    """A resumed match asks again with what was left of the bank, and goes on from there."""
    match = playing(*HANDS, per_move_ms=9000.0, bank_ms=5000.0)
    fold(match, lost(2, 1501.0))
    assert asked_of(match.handle(resumed(1501.0))) == (0, 3500.0, 3500.0)
    fold(match, moved(0, 1, place((0, 1, G)), 2501.0, sent=1501.0))
    assert asked_of(match.handle(moved(1, 2, PASS, 2503.0))) == (0, 2500.0, 2500.0)


def test_a_bank_never_goes_below_nothing() -> None:
    """This holds whatever is subtracted."""
    keeper = Timekeeper(setup_of(2, bank_ms=1000.0))
    keeper.charge(0, 5000.0)
    keeper.charge(1, 400.0)
    assert [keeper.bank_ms(seat) for seat in (0, 1)] == [0.0, 600.0]
    assert Timekeeper(setup_of(2)).bank_ms(0) is None
