"""A match goes on after its referee crashed: every seat is taken back, and the open request is asked again."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match, Phase
from referee.match.timekeeper import MIN_LEFT_MS

from .folding import (
    LIMIT,
    PASS,
    RC,
    START,
    B,
    G,
    acked,
    fold,
    lost,
    moved,
    new_match,
    opened,
    playing,
    ready,
    resumed,
    shown,
    told,
)
from .test_phases import FIRST, HANDS, LAST_MS, matches_in_every_phase

NO_ACK: Any = {"ack": None, "limit_ms": None}


def back(match: Match, seat: int) -> c.ResumeSeat:
    """Return the command that takes a seat back, with what it may know at present."""
    return c.ResumeSeat(seat=seat, turn=match.turn, view=shown(match, seat))


def test_the_open_request_is_asked_again_in_every_phase() -> None:
    """Both seats are taken back, and seat 0, for which the match waits, is sent its request once more."""
    matches = matches_in_every_phase()
    limit: Any = {"limit_ms": LIMIT}
    played = {"kind": "played", "action": "place", "tiles": ((0, 1, G),), "points": 3, "seat": 0, "score": 3}
    end: Any = {"winners": (1,), "ranking": ((1,), (0,)), "scores": (3, 10), "void": None}
    again: dict[Phase, Callable[[Match], c.Command]] = {
        Phase.STARTING: lambda match: c.StartSeat(seat=0, view=shown(match, 0), ack=1, **limit),
        Phase.PLAYING: lambda match: c.AskMove(seat=0, turn=1, view=shown(match, 0), **limit),
        Phase.TELLING: lambda _match: told(0, 1, played, draws=(RC,), ack=3, **limit),
        Phase.ENDING: lambda _match: c.EndSeat(seat=0, ack=5, **limit, **end),
    }
    for phase, command in again.items():
        match = matches[phase]
        assert match.handle(resumed(LAST_MS[phase])) == (back(match, 0), command(match), back(match, 1))
        assert match.phase is phase


def test_before_the_deal_everybody_is_offered_again() -> None:
    """A seat that was ready may have been started again, so the offers begin again."""
    match = new_match(*HANDS)
    fold(match, opened(), ready(1))
    assert match.handle(resumed(1.0)) == tuple(c.OfferMatch(seat=seat, limit_ms=START) for seat in (0, 1))


@pytest.mark.parametrize(("passed_ms", "left_ms"), [(0.0, 6000.0), (1500.0, 4500.0), (5500.0, MIN_LEFT_MS)])
def test_the_time_that_is_known_to_have_passed_is_gone(passed_ms: float, left_ms: float) -> None:
    """The limit loses the time up to the last event, but never falls below the time that a player needs to return."""
    match = playing([G], [B], [B], per_move_ms=6000.0)
    fold(match, lost(2, 1.0 + passed_ms))
    commands = match.handle(resumed(1.0 + passed_ms))
    assert [command.limit_ms for command in commands if isinstance(command, c.AskMove)] == [left_ms]
    late = moved(0, 1, PASS, 2.0 + passed_ms + left_ms + 1.0, sent=2.0 + passed_ms)
    assert isinstance(match.handle(late)[0], c.ExpelSeat)


def test_a_limit_shorter_than_that_is_granted_in_whole() -> None:
    """A player with 200 ms a move gets 200 ms again."""
    match = playing([G], [B], [B], per_move_ms=200.0)
    fold(match, lost(2, 150.0))
    asked = [command for command in match.handle(resumed(150.0)) if isinstance(command, c.AskMove)]
    assert [command.limit_ms for command in asked] == [200.0]


def test_a_resumed_match_ends_as_an_undisturbed_one() -> None:
    """The same answers give the same result, wherever the referee crashes after the deal; expelled seats stay out."""
    events: list[e.Event] = [opened(), ready(0, 10.0, sent=9.0), ready(1, 20.0, sent=19.0)]
    before = len(events)
    events += [acked(0, 1, 30.0), acked(1, 2, 40.0), moved(0, 1, FIRST, 50.0), acked(0, 3, 60.0)]
    events += [moved(1, 2, PASS, 70.0), moved(0, 3, PASS, 80.0), moved(1, 4, PASS, 90.0)]
    events += [acked(0, 4, 100.0), acked(1, 5, 110.0)]
    undisturbed = new_match(*HANDS, acknowledge=True)
    fold(undisturbed, *events)
    assert undisturbed.result is not None
    for died in range(before, len(events)):
        match = new_match(*HANDS, acknowledge=True)
        fold(match, *events[:died], resumed(events[died - 1].at_ms), *events[died:])
        assert match.result == undisturbed.result


def test_who_does_not_come_back_fouls() -> None:
    """A seat that is missing after the referee has restarted is disconnected; the other one plays on."""
    match = playing(*HANDS)
    fold(match, resumed(1.0))
    commands = match.handle(lost(0, 2.0))
    assert isinstance(commands[0], c.ExpelSeat)
    assert isinstance(commands[-1], c.AskMove)
    assert commands[-1].seat == 1
