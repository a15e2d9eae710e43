"""Standstills of the referee void verdicts of lateness; a player that was away is charged; turns with several moves."""

import pytest

from referee import chance
from referee.games.q.forms import State
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match.events import ImpossibleEvent
from referee.match.fouls import Cause
from referee.match.machine import Match, Phase
from referee.match.setup import DEFAULT_LAG_MARGIN_MS, UnfitSeed
from referee.match.timekeeper import MAX_EXTENSIONS

from .folding import (
    LIMIT,
    PASS,
    SEED,
    START,
    B,
    G,
    Y,
    acked,
    fold,
    moved,
    new_match,
    opened,
    overdue,
    place,
    playing,
    ready,
    returned,
    setup_of,
    shown,
)

STALL = DEFAULT_LAG_MARGIN_MS + 1.0
HANDS = ([G, B], [Y, Y])


def expulsions(commands: tuple[c.Command, ...]) -> list[tuple[int, Cause]]:
    """Return the expelled seats, each with the cause."""
    return [(command.seat, command.foul.cause) for command in commands if isinstance(command, c.ExpelSeat)]


@pytest.mark.parametrize(
    ("stalled_ms", "expected"), [(0.0, [(0, Cause.TIMEOUT)]), (STALL - 1.0, [(0, Cause.TIMEOUT)]), (STALL, [])]
)
def test_a_deadline_counts_unless_the_referee_stood_still_too_long(
    stalled_ms: float, expected: list[tuple[int, Cause]]
) -> None:
    """Up to the margin the verdict stands. Beyond it, the request gets its limit once more, and nothing is sent."""
    match = playing(*HANDS)
    commands = match.handle(overdue(0, 1002.0, sent=1.0, stalled=stalled_ms))
    assert expulsions(commands) == expected
    if not expected:
        assert commands == (c.ExtendLimit(seat=0, limit_ms=LIMIT),)
        assert match.open_requests[0].asked_ms == 1002.0


def test_a_late_answer_counts_if_the_referee_stood_still() -> None:
    """The answer is there, so asking for it again would only cost the others time."""
    match = playing(*HANDS)
    commands = match.handle(moved(0, 1, PASS, 1500.0, sent=1.0, stalled_ms=STALL))
    assert expulsions(commands) == []
    assert isinstance(commands[-1], c.AskMove)
    assert commands[-1].seat == 1


def test_a_limit_is_extended_so_often_and_no_more() -> None:
    """A seat that is silent for three limits in a row is expelled, however the referee stalls."""
    match = playing(*HANDS)
    span = LIMIT + 1.0
    for number in range(MAX_EXTENSIONS):
        event = overdue(0, 1.0 + (number + 1) * span, sent=1.0 + number * span, stalled=STALL)
        assert expulsions(match.handle(event)) == []
    last = overdue(0, 1.0 + 3 * span, sent=1.0 + 2 * span, stalled=STALL)
    assert expulsions(match.handle(last)) == [(0, Cause.TIMEOUT)]


def test_the_margin_is_the_organisers() -> None:
    """With a margin of 0, every standstill voids the verdict."""
    match = playing(*HANDS, lag_margin_ms=0.0)
    assert expulsions(match.handle(overdue(0, 1002.0, sent=1.0, stalled=0.001))) == []


def test_an_extension_costs_nothing_of_the_bank() -> None:
    """The bank pays only for the answer's own time, at most its limit."""
    match = playing(*HANDS, bank_ms=3000.0)
    match.handle(overdue(0, 1002.0, sent=1.0, stalled=STALL))
    fold(match, moved(0, 1, PASS, 2702.0, sent=1002.0, stalled_ms=STALL), moved(1, 2, PASS, 2703.0))
    assert match.result is not None or match.open_requests[0].limit_ms == LIMIT
    assert match.time.bank_ms(0) == 2000.0


@pytest.mark.parametrize("stalled_ms", [-0.001, 2001.0])
def test_a_standstill_longer_than_the_request_is_impossible(stalled_ms: float) -> None:
    match = playing(*HANDS)
    with pytest.raises(ImpossibleEvent, match="standstill"):
        match.handle(overdue(0, 1502.0, sent=1.0, stalled=stalled_ms))


# --- a player that was away


def test_who_returns_is_asked_again_with_the_time_that_is_left() -> None:
    """Its clock went on while it was away; the others are sent nothing."""
    match = playing(*HANDS)
    commands = match.handle(returned(0, 401.0))
    assert commands == (
        c.ResumeSeat(seat=0, turn=1, view=shown(match, 0)),
        c.AskMove(seat=0, turn=1, view=shown(match, 0), limit_ms=LIMIT - 400.0),
    )
    assert expulsions(match.handle(moved(0, 1, PASS, 1002.5, sent=401.0))) == [(0, Cause.TIMEOUT)]


def test_what_passed_while_it_was_away_is_used() -> None:
    """The time is subtracted from its bank, and counts in the result."""
    match = playing(*HANDS, bank_ms=900.0)
    fold(match, returned(0, 401.0), moved(0, 1, PASS, 501.0, sent=401.0))
    assert match.time.bank_ms(0) == 400.0
    assert match.time.used_ms[0] == pytest.approx(501.0)


def test_who_is_not_asked_only_hears_where_the_match_stands() -> None:
    """A seat that returns in another one's turn is sent the view."""
    match = playing(*HANDS)
    assert match.handle(returned(1, 401.0)) == (c.ResumeSeat(seat=1, turn=1, view=shown(match, 1)),)


def test_who_returns_before_its_ready_is_offered_again() -> None:
    """There is no view yet."""
    match = new_match(*HANDS)
    fold(match, opened())
    assert match.handle(returned(1, 500.0)) == (c.OfferMatch(seat=1, limit_ms=START - 500.0),)


def test_who_has_confirmed_the_end_may_come_back_for_the_last_one() -> None:
    """It is sent the present state, and asked nothing."""
    match = new_match([G], [Y], acknowledge=True)
    fold(match, opened(), ready(0, 1.0), ready(1, 1.0), acked(0, 1, 2.0), acked(1, 2, 3.0))
    fold(match, moved(0, 1, PASS, 4.0), moved(1, 2, PASS, 5.0))
    assert match.phase is Phase.ENDING
    first = next(iter(match.open_requests))
    fold(match, acked(first, match.open_requests[first].number, 6.0))
    assert match.handle(returned(first, 7.0)) == (c.ResumeSeat(seat=first, turn=2, view=shown(match, first)),)


# --- turns of several requests


class Slow(QGame):
    """Gives each seat two passes in a row; the second continues the turn of the first."""

    def is_same_turn(self, state: State) -> bool:
        return state.to_go % 2 == 1

    def to_move(self, state: State) -> int:
        return state.order[-1] if self.is_same_turn(state) else state.order[0]


def test_the_steps_of_a_turn_share_its_limit() -> None:
    """The second step has what the first one left; the next turn has the whole limit and the increment."""
    match = new_match(*HANDS, game=Slow(), bank_ms=1500.0, increment_ms=10.0)
    fold(match, opened(), ready(0), ready(1))
    *_, asked = match.handle(moved(0, 1, place((0, 1, G)), 301.0, sent=1.0))
    assert isinstance(asked, c.AskMove)
    assert (asked.seat, asked.limit_ms, asked.bank_ms, asked.goes_on) == (0, LIMIT - 300.0, 1200.0, True)
    *_, asked = match.handle(moved(0, 2, PASS, 401.0, sent=301.0))
    assert isinstance(asked, c.AskMove)
    assert (asked.limit_ms, asked.goes_on) == (LIMIT, False)
    assert match.time.bank_ms(0) == 1110.0


# --- seats by lot


def test_seats_by_lot_are_those_that_the_seed_gives() -> None:
    """Other names, or another order of them, are refused."""
    names = chance.seat_by_lot(SEED, ("a", "b", "c", "d"))
    assert sorted(names) == ["a", "b", "c", "d"]
    assert Match(QGame(), setup_of(4, lot=True, names=names), SEED).setup.names == names
    with pytest.raises(UnfitSeed, match="lot"):
        Match(QGame(), setup_of(4, lot=True, names=names[::-1]), SEED)


def test_nobodys_place_in_the_list_counts() -> None:
    """The same players get the same seats in whatever order they are listed."""
    assert chance.seat_by_lot(SEED, ("b", "c", "a")) == chance.seat_by_lot(SEED, ("a", "b", "c"))
