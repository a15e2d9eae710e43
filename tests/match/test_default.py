"""A match with `default_margin` ends as soon as one seat or team is left, whatever request is open."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.quincy.game import QuincyGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.fouls import Cause
from referee.match.machine import Match, Phase
from referee.testing import ScriptedSeat

from ..driving import drive, random_chooser
from .folding import (
    EXCHANGE,
    PASS,
    SEED,
    START,
    B,
    G,
    R,
    Y,
    acked,
    disconnected,
    expelled,
    fold,
    lost,
    moved,
    new_match,
    opened,
    overdue,
    place,
    ready,
    result_of,
    setup_of,
    told,
)

BEGUN = (opened(), ready(0), ready(1))
BY_PHASE: tuple[tuple[Phase, bool, Sequence[e.Event]], ...] = (
    (Phase.STARTING, True, BEGUN),
    (Phase.STARTING, True, (*BEGUN, acked(0, 1, 2.0))),
    (Phase.PLAYING, False, BEGUN),
    (Phase.PLAYING, False, (*BEGUN, moved(0, 1, PASS, 2.0))),
    (Phase.TELLING, True, (*BEGUN, acked(0, 1, 2.0), acked(1, 2, 3.0), moved(0, 1, place((0, 1, G)), 5.0))),
)
"""Request that a match of two waits for, with acknowledgements or without, and the events before it."""


def quincy(**fields: Any) -> Match:
    """Return a match of two teams, 0 and 2 against 1 and 3, whose first turn is asked."""
    match = Match(QuincyGame(), setup_of(4, game="quincy", default_margin=5, **fields), SEED)
    fold(match, opened(), *(ready(seat) for seat in range(4)))
    return match


@pytest.mark.parametrize("fouling", [0, 1])
@pytest.mark.parametrize(("phase", "acknowledge", "before"), BY_PHASE)
def test_who_is_left_has_won_at_once(
    *, phase: Phase, acknowledge: bool, before: Sequence[e.Event], fouling: int
) -> None:
    """The winner is sent the reason without being asked for a confirmation.

    Its open request is closed, and not judged.
    """
    match = new_match([G, B], [Y, Y], scores=(0, 90), acknowledge=acknowledge, default_margin=7)
    fold(match, *before)
    assert match.phase is phase
    left, turn = 1 - fouling, match.turn
    commands = match.handle(lost(fouling, 9.0))
    foul = disconnected(fouling, 9.0, turn)
    scores, ranking = ((7, 0), (0, 7))[left], ((left,), (fouling,))
    end: Any = {"winners": (left,), "ranking": ranking, "scores": scores, "void": None, "ack": None, "limit_ms": None}
    gone = told(left, turn, expelled(match, fouling))
    result = result_of(commands)
    assert commands == (
        c.ExpelSeat(seat=fouling, foul=foul),
        gone,
        c.EndSeat(seat=left, **end),
        c.CloseMatch(result=result),
    )
    assert (result.winners, result.ranking, result.scores) == ((left,), ranking, scores)
    assert (result.reason, result.fouls, match.open_requests) == ("default", (foul,), {})


def test_who_alone_gets_ready_has_won() -> None:
    """The match ends once all offers are answered; nothing is started."""
    match = new_match([G, B], [Y, Y], default_margin=0)
    assert fold(match, opened(), lost(1, 2.0)) == (c.ExpelSeat(seat=1, foul=disconnected(1, 2.0, 0)),)
    commands = match.handle(ready(0, 3.0))
    assert [type(command) for command in commands] == [c.TellSeat, c.EndSeat, c.CloseMatch]
    assert (result_of(commands).winners, result_of(commands).scores) == ((0,), (0, 0))


def test_where_nobody_gets_ready_nobody_has_won() -> None:
    """The second seat fails to start as well, so the game itself ends, as with any deserted table."""
    match = new_match([G, B], [Y, Y], default_margin=0)
    result = result_of(fold(match, opened(), lost(1, 2.0), overdue(0, START + 3.0, sent=0.0)))
    assert (result.winners, result.reason) == ((), "q.end.deserted")
    assert {foul.cause for foul in result.fouls} == {Cause.DISCONNECTED, Cause.REFUSED_TO_START}


def test_two_of_three_play_on() -> None:
    """One foul changes nothing for the others; the next one ends the match."""
    match = new_match([G, B], [Y, Y], [B, R], default_margin=3)
    fold(match, opened(), *(ready(seat) for seat in range(3)), lost(0, 2.0), moved(1, 2, EXCHANGE, 3.0))
    assert match.open_requests.keys() == {2}
    result = result_of(fold(match, lost(1, 4.0)))
    assert (result.ranking, result.scores, result.reason) == (((2,), (0, 1)), (0, 0, 3), "default")


@pytest.mark.parametrize(
    ("fouling", "ranking", "scores"),
    [
        ((1, 3), ((0, 2), (1, 3)), (5, 0, 5, 0)),
        ((0, 2), ((1, 3), (0, 2)), (0, 5, 0, 5)),
        ((1, 0, 3), ((2,), (0, 1, 3)), (0, 0, 5, 0)),
    ],
)
def test_a_team_that_is_left_has_won(
    fouling: Sequence[int], ranking: tuple[tuple[int, ...], ...], scores: tuple[int, ...]
) -> None:
    """As long as each team has a seat, both play on."""
    match = quincy()
    for number, seat in enumerate(fouling):
        assert match.phase is Phase.PLAYING
        match.handle(lost(seat, 9.0 + number))
    assert match.result is not None
    assert (match.result.ranking, match.result.scores, match.result.winners) == (ranking, scores, ranking[0])


def test_a_foul_after_the_end_of_the_game_is_no_default() -> None:
    """The game's own end stands.

    The seat that fouls when it is sent the end is ranked last, and the others confirm as usual.
    """
    match = new_match([G], [Y], acknowledge=True, default_margin=7)
    fold(match, *BEGUN, acked(0, 1, 2.0), acked(1, 2, 3.0), moved(0, 1, place((0, 1, G)), 4.0))
    assert match.phase is Phase.ENDING
    result = result_of(fold(match, lost(1, 6.0), acked(0, 3, 7.0)))
    assert (result.reason, result.ranking) == ("q.end.finished", ((0,), (1,)))


class Quitter(ScriptedSeat):
    """A seat that leaves instead of giving one of its answers."""

    patience = 0

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer, or leave."""
        given = super().answer(command, sent_ms)
        self.patience -= given is not None
        return given if given is None or self.patience >= 0 else lost(command.seat, sent_ms + 1.0)


@given(seats=st.integers(2, 4), patience=st.lists(st.integers(0, 9), min_size=4, max_size=4), acknowledge=st.booleans())
def test_nobody_is_asked_alone(*, seats: int, patience: list[int], acknowledge: bool) -> None:
    """Only a seat that has an opponent is asked for a move, and the last seat has won."""
    match = Match(new_match([]).game, setup_of(seats, acknowledge=acknowledge, default_margin=1), SEED)
    choose = random_chooser(match.game, Random(1), match)
    players = [Quitter(choose) for _ in range(seats)]
    for player, times in zip(players, patience, strict=False):
        player.patience = times
    for _, commands in drive(match, players):
        left = [seat for seat in range(seats) if not match.is_out(seat)]
        assert len(left) > 1 or not any(isinstance(command, c.AskMove) for command in commands)
    assert match.result is not None
    assert match.result.void is None
    assert match.result.reason != "default" or match.result.winners == tuple(left)
