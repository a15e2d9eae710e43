"""Every event in every phase, and events that contradict the state.

Only impossible events are tested here, and that they change nothing; the effects of other events have other tests.
"""

from typing import Any, get_args

import pytest

from referee.match import commands as c
from referee.match import events as e
from referee.match.events import ImpossibleEvent
from referee.match.machine import TABLE, Match, Phase

from .folding import (
    PASS,
    B,
    G,
    Y,
    acked,
    failed,
    fold,
    lost,
    moved,
    new_match,
    opened,
    overdue,
    place,
    playing,
    ready,
    resumed,
    returned,
    revealed,
    snapshot,
)

HANDS = ([G, B], [Y])
"""Seat 0 lays one of two tiles; then seat 1 lays its only tile and finishes."""
FIRST = place((0, 1, G))
SECOND = place((0, 2, Y))


def matches_in_every_phase() -> dict[Phase, Match]:
    """Return a match in each phase, with a last event at 9 ms at most. From STARTING to ENDING, it waits for seat 0."""
    found = {Phase.NEW: new_match(*HANDS)}
    events: tuple[tuple[Phase, tuple[e.Event, ...]], ...] = (
        (Phase.OFFERING, (opened(),)),
        (Phase.REVEALING, (ready(0), ready(1))),
        (Phase.STARTING, (revealed(0), revealed(1))),
        (Phase.PLAYING, (acked(0, 1, 3.0), acked(1, 2, 4.0))),
        (Phase.TELLING, (moved(0, 1, FIRST, 5.0),)),
        (Phase.ENDING, (acked(0, 3, 6.0), moved(1, 2, SECOND, 7.0), acked(1, 4, 8.0))),
        (Phase.OVER, (acked(0, 5, 9.0),)),
    )
    so_far: tuple[e.Event, ...] = ()
    for phase, further in events:
        so_far = so_far + further
        found[phase] = new_match(*HANDS, acknowledge=True, nonces=True)
        fold(found[phase], *so_far)
    return found


ACK_OF = {Phase.STARTING: 1, Phase.TELLING: 3, Phase.ENDING: 5}


LAST_MS = {
    Phase.OFFERING: 0.0,
    Phase.REVEALING: 1.0,
    Phase.STARTING: 2.0,
    Phase.PLAYING: 4.0,
    Phase.TELLING: 5.0,
    Phase.ENDING: 8.0,
}
"""Instant of the last event, in the phases in which a referee can come back."""


def samples(phase: Phase) -> tuple[e.Event, ...]:
    """Return one event of each kind as it can come in this phase at 10 ms, of seat 0 if it has a seat."""
    return (
        opened(10.0),
        ready(0, 10.0),
        revealed(0, 10.0),
        moved(0, 1, FIRST, 10.0),
        acked(0, ACK_OF.get(phase, 1), 10.0),
        overdue(0, 9000.0, sent=9.0),
        e.ProtocolBroken(seat=0, at_ms=10.0, code="not-msgpack", detail="", evidence=""),
        lost(0, 10.0),
        e.ProgramExited(seat=0, at_ms=10.0, status="exit status 1"),
        e.SeatVacant(seat=0, at_ms=10.0, detail="nobody"),
        e.SeatReturned(seat=0, at_ms=10.0, gone_ms=0.5),
        resumed(LAST_MS.get(phase, 10.0)),
        failed(10.0),
    )


PAIRS = [(phase, type(event)) for phase in Phase for event in samples(phase)]


def test_the_samples_are_all_there_is() -> None:
    """Every kind of event is tried."""
    assert set(PAIRS) == {(phase, kind) for phase in Phase for kind in get_args(e.AnyEvent)}
    assert set(PAIRS) > set(TABLE)


@pytest.mark.parametrize(("phase", "kind"), PAIRS, ids=[f"{phase}-{kind.__name__}" for phase, kind in PAIRS])
def test_what_has_no_row_is_impossible(phase: Phase, kind: type[e.Event]) -> None:
    """An event that the table does not allow in a phase changes nothing; an event that it allows is taken."""
    match = matches_in_every_phase()[phase]
    event = next(event for event in samples(phase) if type(event) is kind)
    before = snapshot(match)
    if (phase, kind) in TABLE:
        assert match.handle(event) or before != snapshot(match)
        assert match.result is None or match.result.void != "KeyError: 0"
        return
    with pytest.raises(ImpossibleEvent, match=phase):
        match.handle(event)
    assert before == snapshot(match)


IMPOSSIBLE: tuple[tuple[str, e.Event], ...] = (
    ("before the last event", moved(0, 1, PASS, 0.5, sent=0.0)),
    ("a fault before the last event", failed(0.5)),
    ("a seat that does not exist", lost(3, 3.0)),
    ("a seat before the first", lost(-1, 3.0)),
    ("a seat that is out", lost(1, 3.0)),
    ("a deadline of a seat that is out", overdue(1, 3000.0, sent=1.0)),
    ("a seat that was not asked", moved(2, 1, PASS, 3.0)),
    ("a deadline of a seat that was not asked", overdue(2, 3000.0, sent=1.0)),
    ("sent after it was complete", moved(0, 1, PASS, 3.0, sent=4.0)),
    ("sent before the match", moved(0, 1, PASS, 3.0, sent=-1.0)),
    ("more lag than time", moved(0, 1, PASS, 3.0, sent=2.5, lag=0.6)),
    ("sent before it was made", moved(0, 1, PASS, 3.0, sent=0.5)),
    ("negative lag", moved(0, 1, PASS, 3.0, lag=-0.1)),
    ("a deadline before its time", overdue(0, 900.0, sent=1.0)),
    ("a deadline on the limit", overdue(0, 1001.0, sent=1.0)),
    ("a deadline before its time, the lag taken off", overdue(0, 1500.0, sent=1.0, lag=500.0)),
    ("a deadline sent before the match", overdue(0, 1500.0, sent=-10.0)),
    ("taken up again later than it broke off", resumed(2.5)),
    ("away for less than no time", returned(0, 3.0, -7.0)),
    ("away since before the match", returned(0, 3.0, 1e12)),
    ("a deadline of negative lag", overdue(0, 1500.0, sent=1.0, lag=-1.0)),
)


@pytest.mark.parametrize(("_name", "event"), IMPOSSIBLE, ids=[row[0] for row in IMPOSSIBLE])
def test_instants_and_seats_that_contradict_are_impossible(_name: str, event: e.Event) -> None:
    """An event that contradicts itself, the clock, the seats or the open request is refused and changes nothing."""
    match = new_match([G, B], [Y], [Y])
    fold(match, opened(), ready(0), ready(1), ready(2), lost(1, 2.0))
    before = snapshot(match)
    with pytest.raises(ImpossibleEvent):
        match.handle(event)
    assert before == snapshot(match)


def test_who_has_accepted_the_offer_is_not_missing() -> None:
    """A seat that has said `ready` is not vacant."""
    match = new_match(*HANDS)
    fold(match, opened(), ready(0, 2.0))
    with pytest.raises(ImpossibleEvent, match="accepted"):
        match.handle(e.SeatVacant(seat=0, at_ms=3.0, detail="nobody came"))


def test_the_first_byte_lies_between_sending_and_completion() -> None:
    """A first byte before the request or after the last byte is refused."""
    match = playing(*HANDS)
    for first in (1.0, 4.0):
        with pytest.raises(ImpossibleEvent, match="not in order"):
            match.handle(
                e.MoveReceived(seat=0, at_ms=3.0, sent_ms=2.0, first_byte_ms=first, lag_ms=0.0, turn=1, move=PASS)
            )


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.OVER])
def test_a_fault_of_the_referee_voids_the_match(phase: Phase) -> None:
    """The match is void in every phase. Seats that have confirmed the end are sent this, too."""
    match = matches_in_every_phase()[phase]
    detail = "the disk is full"
    end: Any = {"winners": (), "ranking": (), "scores": (0, 0), "void": detail, "ack": None, "limit_ms": None}
    result = c.Result(
        winners=(),
        ranking=(),
        scores=(0, 0),
        fouls=(),
        reason=None,
        void=detail,
        turns=match.turn,
        used_ms=tuple(match.time.used_ms),
    )
    ends = tuple(c.EndSeat(seat=seat, **end) for seat in (0, 1))
    assert match.handle(failed(10.0)) == (*ends, c.CloseMatch(result=result))
    with pytest.raises(ImpossibleEvent):
        match.handle(failed(11.0))
