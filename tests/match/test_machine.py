"""The fold, event by event: all commands of small matches, and events that cannot happen."""

from collections.abc import Callable
from itertools import islice
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.deal import nonce_commitment
from referee import chance
from referee.games.base import BadSetup, News, Outcome
from referee.games.q.forms import Move, State, View
from referee.games.q.game import QGame
from referee.match import commands as c
from referee.match import events as e
from referee.match.fouls import Cause
from referee.match.machine import Match, Phase
from referee.match.setup import UnfitSeed, restore_position
from referee.match.timekeeper import Request
from referee.testing import ScriptedSeat

from ..driving import drive, random_chooser
from .folding import (
    EXCHANGE,
    LIMIT,
    PASS,
    RC,
    SEED,
    START,
    B,
    G,
    R,
    Y,
    acked,
    asked,
    fold,
    lost,
    moved,
    new_match,
    opened,
    packed,
    place,
    playing,
    position,
    ready,
    result_of,
    revealed,
    setup_of,
    shown,
    snapshot,
    told,
    view_of,
)

HANDS = ([G, B], [Y])
"""Seat 0 lays one of two tiles; then seat 1 lays its only tile and finishes."""
FIRST = place((0, 1, G))
SECOND = place((0, 2, Y))


def assert_phase(match: Match, phase: Phase) -> None:
    """Compare the phase of a match. This is a function because a type checker would take the phase for a constant."""
    assert match.phase is phase


def test_a_match_without_acknowledgements() -> None:
    """Every command of a whole match, in order."""
    match = new_match(*HANDS)
    before = restore_position(match.game, match.options, match.setup)
    assert fold(match, opened()) == (c.OfferMatch(seat=0, limit_ms=START), c.OfferMatch(seat=1, limit_ms=START))
    assert fold(match, ready(1)) == ()
    views = [match.game.view(before, seat) for seat in (0, 1)]
    assert views[0] == View(seat=0, hand=[G, B], scores=[0, 0], order=[0, 1], tiles_left=1, map=((0, 0, R),))
    seen = [packed(view) for view in views]
    assert fold(match, ready(0, 2.0)) == (
        c.StartSeat(seat=0, view=seen[0], ack=None, limit_ms=None),
        c.StartSeat(seat=1, view=seen[1], ack=None, limit_ms=None),
        c.AskMove(seat=0, turn=1, view=seen[0], limit_ms=LIMIT),
    )
    commands = fold(match, moved(0, 1, FIRST, 10.0))
    played = {"kind": "played", "action": "place", "tiles": ((0, 1, G),), "points": 3, "seat": 0, "score": 3}
    assert commands == (told(0, 1, played, draws=(RC,)), told(1, 1, played), asked(match, 1, 2))
    assert view_of(match, 1) == View(
        seat=1, hand=[Y], scores=[3, 0], order=[1, 0], tiles_left=0, map=((0, 0, R), (0, 1, G))
    )
    commands = fold(match, moved(1, 2, SECOND, 30.0, sent=12.0, lag=2.0))
    played = {"kind": "played", "action": "place", "tiles": ((0, 2, Y),), "points": 10, "seat": 1, "score": 10}
    end: Any = {
        "winners": (1,),
        "ranking": ((1,), (0,)),
        "scores": (3, 10),
        "void": None,
        "ack": None,
        "limit_ms": None,
    }
    result = c.Result(
        winners=(1,),
        ranking=((1,), (0,)),
        scores=(3, 10),
        fouls=(),
        reason="q.end.finished",
        void=None,
        turns=2,
        used_ms=(2.0 + 1.0, 1.0 + 16.0),
    )
    ends = (c.EndSeat(seat=1, **end), c.EndSeat(seat=0, **end))
    assert commands == (told(0, 2, played), told(1, 2, played), *ends, c.CloseMatch(result=result))
    assert match.result == result
    assert_phase(match, Phase.OVER)
    assert match.open_requests == {}


def test_a_match_with_acknowledgements() -> None:
    """Starts and ends are sent one after the other, each once the last one is confirmed. A draw is confirmed, too."""
    match = new_match(*HANDS, acknowledge=True)
    fold(match, opened(), ready(0))
    confirm: Any = {"limit_ms": LIMIT}
    commands = fold(match, ready(1, 2.0))
    assert commands == (c.StartSeat(seat=0, view=shown(match, 0), ack=1, **confirm),)
    assert_phase(match, Phase.STARTING)
    assert match.open_requests == {0: Request(e.AckReceived, 1, LIMIT, 2.0)}
    assert fold(match, acked(0, 1, 3.0)) == (c.StartSeat(seat=1, view=shown(match, 1), ack=2, **confirm),)
    assert fold(match, acked(1, 2, 4.0)) == (asked(match, 0, 1),)
    played = {"kind": "played", "action": "place", "tiles": ((0, 1, G),), "points": 3, "seat": 0, "score": 3}
    commands = fold(match, moved(0, 1, FIRST, 5.0))
    assert commands == (told(0, 1, played, draws=(RC,), ack=3, **confirm), told(1, 1, played))
    assert_phase(match, Phase.TELLING)
    assert fold(match, acked(0, 3, 6.0)) == (asked(match, 1, 2),)
    played = {"kind": "played", "action": "place", "tiles": ((0, 2, Y),), "points": 10, "seat": 1, "score": 10}
    end: Any = {"winners": (1,), "ranking": ((1,), (0,)), "scores": (3, 10), "void": None, "limit_ms": LIMIT}
    commands = fold(match, moved(1, 2, SECOND, 7.0))
    assert commands == (told(0, 2, played), told(1, 2, played), c.EndSeat(seat=1, ack=4, **end))
    assert_phase(match, Phase.ENDING)
    assert fold(match, acked(1, 4, 8.0)) == (c.EndSeat(seat=0, ack=5, **end),)
    commands = fold(match, acked(0, 5, 9.0))
    final = end | {"ack": None, "limit_ms": None}
    assert commands[:-1] == (c.EndSeat(seat=1, **final), c.EndSeat(seat=0, **final))
    result = result_of(commands)
    assert result.winners == (1,)
    assert result.used_ms == (1.0 + 4.0, 2.0 + 3.0)


def test_a_pass_is_not_confirmed_and_an_empty_draw_is() -> None:
    """A seat confirms only if it was handed something, even if that is empty."""
    match = new_match([], [Y], acknowledge=True)
    fold(match, opened(), ready(0), ready(1), acked(0, 1, 2.0), acked(1, 2, 3.0))
    commands = fold(match, moved(0, 1, EXCHANGE, 4.0))
    played = {"kind": "played", "action": "exchange", "count": 0, "seat": 0, "score": 0}
    assert commands == (told(0, 1, played, draws=(), ack=3, limit_ms=LIMIT), told(1, 1, played))
    fold(match, acked(0, 3, 5.0))
    commands = fold(match, moved(1, 2, PASS, 6.0))
    played = {"kind": "played", "action": "pass", "seat": 1, "score": 0}
    assert commands[:2] == (told(0, 2, played), told(1, 2, played))
    assert [type(command) for command in commands[2:]] == [c.EndSeat]


def test_the_end_goes_to_winners_first() -> None:
    """First all winners in the present turn order, then the others in that order."""
    match = playing([R, B], [R], [R, B], [R, B], scores=(10, 1, 10, 2), pile=())
    fold(match, moved(0, 1, PASS, 2.0))
    commands = fold(match, moved(1, 2, place((0, 1, R)), 3.0))
    assert [command.seat for command in commands if isinstance(command, c.EndSeat)] == [1, 2, 0, 3]
    assert result_of(commands).ranking == ((0, 1, 2), (3,))


def test_nonces_enter_the_deal() -> None:
    """A new deal follows from the seed and the nonces by seat; without nonces, from the seed alone."""
    own = ["aa" * 16, "bb" * 16]
    rows: tuple[tuple[bool, list[str | None]], ...] = ((True, [*own]), (False, [None, None]))
    for nonces, kept in rows:
        match = Match(QGame(), setup_of(2, nonces=nonces), SEED)
        fold(match, opened(), *(ready(seat, commitment=nonce_commitment("m", seat, own[seat])) for seat in (1, 0)))
        fold(match, *(revealed(seat, nonce=own[seat]) for seat in (1, 0) if nonces))
        key = chance.shuffle_key(SEED, kept)
        assert match.nonces.opened == kept
        assert match.state == match.game.new(match.options, 2, chance.Dealer(key))


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), acknowledge=st.booleans(), seats=st.integers(2, 4))
def test_the_same_events_give_the_same_commands(seed: int, acknowledge: bool, seats: int) -> None:  # noqa: FBT001
    """A random match that is folded again from its events gives the same commands."""
    setup = setup_of(seats, acknowledge=acknowledge, nonces=True)
    match, source = Match(QGame(), setup, SEED), Random(seed)
    players = [ScriptedSeat(random_chooser(match.game, source, match), takes_ms=seat + 0.5) for seat in range(seats)]
    steps = list(islice(drive(match, players), 80))
    again = Match(QGame(), setup, SEED)
    assert steps == [(event, again.handle(event)) for event, _ in steps]
    assert match.result == again.result
    assert snapshot(match) == snapshot(again)


class Faulty(QGame):
    """Q with a mistake in one of its methods."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, where: str) -> None:
        """Make the mistake if this is the place."""
        if where == self.where:
            raise ZeroDivisionError(where)

    def view(self, state: State, seat: int) -> View:
        self.fail("view")
        return super().view(state, seat)

    def play(self, state: State, move: Move) -> State:
        self.fail("play")
        return super().play(state, move)

    def news(self, state: State) -> News:
        self.fail("news")
        return super().news(state)

    def deliver(self, state: State) -> State:
        self.fail("deliver")
        return super().deliver(state)

    def drop(self, state: State, seat: int) -> State:
        self.fail("drop")
        return super().drop(state, seat)

    def outcome(self, state: State) -> Outcome | None:
        self.fail("outcome")
        return super().outcome(state)


@pytest.mark.parametrize("where", ["view", "play", "news", "deliver", "drop", "outcome"])
def test_a_mistake_in_a_game_voids_the_match(where: str) -> None:
    """An exception in the rules is nobody's foul: the match is void, and all present seats are sent the reason."""
    match = new_match([G, B], [Y], game=Faulty(where))
    commands: tuple[c.Command, ...] = ()
    for event in (opened(), ready(0), ready(1), moved(0, 1, FIRST, 2.0), lost(1, 3.0), lost(0, 4.0)):
        if match.result is None:
            commands = match.handle(event)
    result = result_of(commands)
    assert result.void == f"ZeroDivisionError: {where}"
    assert (result.winners, result.ranking, result.scores, result.reason) == ((), (), (0, 0), None)
    present = [seat for seat in (0, 1) if all(foul.seat != seat for foul in result.fouls)]
    assert [command.seat for command in commands if isinstance(command, c.EndSeat)] == present
    assert_phase(match, Phase.OVER)


BAD_SETUPS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"options": {"bonus": 1}}, "options of q"),
    ({"position": {"map": []}}, "position of q"),
    ({"position": position([G], [Y], [B])}, "3 seats, there are 2 players"),
    ({"position": position([G])}, "1 seats, there are 2 players"),
    ({"names": ("a",)}, "played by 2 to 4, not by 1"),
    ({"names": tuple("abcde")}, "played by 2 to 4, not by 5"),
)


@pytest.mark.parametrize(
    ("seats", "words"), [(range(2, 5), "2 to 4"), (range(2, 5, 2), "2 or 4"), (range(2, 7, 2), "2, 4 or 6")]
)
def test_numbers_of_seats_are_listed_where_some_are_left_out(seats: range, words: str) -> None:
    """The error names the numbers of seats with which the game can be played."""

    class Stepping(QGame):
        """Q with other numbers of players."""

    Stepping.seats = seats
    with pytest.raises(BadSetup, match=f"played by {words}, not by 1$"):
        Match(Stepping(), setup_of(1), SEED)
    assert Match(Stepping(), setup_of(2), SEED).setup.names == ("a", "b")


@pytest.mark.parametrize(("fields", "says"), BAD_SETUPS, ids=[row[1] for row in BAD_SETUPS])
def test_a_bad_setup_is_refused(fields: dict[str, Any], says: str) -> None:
    """Options, positions and numbers of seats that the game does not have are refused before the match begins."""
    with pytest.raises(BadSetup, match=says):
        Match(QGame(), setup_of(2, **fields), SEED)


def test_a_seed_that_was_not_committed_to_is_refused() -> None:
    """A match begins only with the seed of its commitment."""
    with pytest.raises(UnfitSeed, match="commitment"):
        Match(QGame(), setup_of(2), chance.seed_from_number(8))


def test_a_driven_match_that_nobody_goes_on_with_is_an_error() -> None:
    """If a scripted seat does not answer, driving stops and names the seats that are waited for."""

    class Mute(ScriptedSeat):
        def answer(self, command: c.SeatCommand, sent_ms: float) -> None:
            return None

    polite: Callable[[Any], Any] = lambda _view: PASS  # noqa: E731  # as an author writes it
    with pytest.raises(RuntimeError, match=r"waits for \[1\]"):
        list(drive(new_match(*HANDS), [ScriptedSeat(polite), Mute(polite)]))


def test_what_an_expelled_seat_still_says_is_left_out() -> None:
    """A driven match ignores the events of a seat that has fouled."""
    match = new_match([G, B], [Y], [Y])
    seats = [ScriptedSeat(lambda _view: {"action": "fly"}), *(ScriptedSeat(lambda _view: PASS) for _ in range(2))]
    events = [event for event, _ in drive(match, seats)]
    assert [type(event) for event in events].count(e.MoveReceived) == 3
    assert match.result is not None
    assert [foul.cause for foul in match.result.fouls] == [Cause.MALFORMED_MESSAGE]
