"""Fouls: every cause, how time is judged, and what an expulsion means to the other seats."""

from typing import Any

import pytest
from msgspec.structs import replace

from referee.match import commands as c
from referee.match import events as e
from referee.match.fouls import BY_CODE, Cause, Foul
from referee.match.machine import Phase

from .folding import (
    ALIEN,
    EXCHANGE,
    LIMIT,
    PASS,
    RC,
    START,
    B,
    G,
    R,
    Y,
    acked,
    asked,
    disconnected,
    expelled,
    fold,
    lost,
    moved,
    new_match,
    opened,
    overdue,
    place,
    playing,
    ready,
    result_of,
    shown,
    told,
)


def broken(code: str) -> e.ProtocolBroken:
    """Return a breach of the protocol by seat 0."""
    return e.ProtocolBroken(seat=0, at_ms=9.0, code=code, detail="so", evidence="c1")


def foul(cause: Cause, at: float = 9.0, **evidence: Any) -> Foul:
    """Return a foul of seat 0 in turn 1."""
    return Foul(seat=0, cause=cause, at_ms=at, turn=1, **evidence)


LATE = "no complete answer within 1 s"
BY_WIRE: Any = {"code": "bad-frame", "detail": "so", "evidence": "c1"}
CAUSES: tuple[tuple[str, e.Event, Foul], ...] = (
    ("deadline", overdue(0, 1002.0, sent=1.0, pending="00"), foul(Cause.TIMEOUT, 1002.0, detail=LATE, evidence="00")),
    (
        "late",
        moved(0, 1, PASS, 1002.5, sent=2.0, frame="0c"),
        foul(Cause.TIMEOUT, 1002.5, detail="1.0005 s used of 1 s", evidence="0c"),
    ),
    (
        "illegal move",
        moved(0, 1, place((0, 1, R)), 9.0, frame="0a"),
        foul(Cause.ILLEGAL_MOVE, rule="q.place.owned", detail="not in hand: 1 x red-star", evidence="0a"),
    ),
    (
        "move of no form",
        moved(0, 1, {"action": "fly"}, 9.0, frame="0b"),
        foul(Cause.MALFORMED_MESSAGE, code="move", detail="Invalid value 'fly' - at `$.move.action`", evidence="0b"),
    ),
    ("malformed message", broken("bad-frame"), foul(Cause.MALFORMED_MESSAGE, **BY_WIRE)),
    ("out of turn", broken("out-of-turn"), foul(Cause.OUT_OF_TURN, **{**BY_WIRE, "code": "out-of-turn"})),
    ("flood", broken("flood"), foul(Cause.FLOOD, **{**BY_WIRE, "code": "flood"})),
    ("not reading", broken("not-reading"), foul(Cause.NOT_READING, **{**BY_WIRE, "code": "not-reading"})),
    ("oversize", broken("oversize"), foul(Cause.OVERSIZE, **{**BY_WIRE, "code": "oversize"})),
    ("disconnected", lost(0, 9.0), foul(Cause.DISCONNECTED, detail="gone")),
    (
        "crashed",
        e.ProgramExited(seat=0, at_ms=9.0, status="signal SIGSEGV"),
        foul(Cause.CRASHED, detail="signal SIGSEGV", ending=e.Ending.FAILED),
    ),
    (
        "a turn number that was not asked",
        moved(0, 2, PASS, 9.0),
        foul(Cause.OUT_OF_TURN, code="out-of-turn", detail="answers number 2, number 1 was asked"),
    ),
)


@pytest.mark.parametrize(("_name", "event", "expected"), CAUSES, ids=[row[0] for row in CAUSES])
def test_every_foul_of_the_mover_expels_it(_name: str, event: e.Event, expected: Foul) -> None:
    """The mover is expelled with its evidence, the others are told, and the next one is asked without it."""
    match = playing([G, B], [Y, Y], [B, B])
    commands = match.handle(event)
    what = expelled(match, 0)
    assert what == {"kind": "expelled", "seat": 0, "cause": str(expected.cause)}
    assert commands == (c.ExpelSeat(seat=0, foul=expected), told(1, 1, what), told(2, 1, what), asked(match, 1, 2))
    assert match.fouls == [expected]
    assert match.state.order == (1, 2)
    assert [match.game.view(match.state, 1).tiles_left, match.state.hands[0]] == [3, ()]


def test_the_causes_are_all_there_is() -> None:
    """Every cause is tried here, except for failing to start, which has its own test below."""
    assert {row[2].cause for row in CAUSES} == set(Cause) - {Cause.REFUSED_TO_START}
    assert set(BY_CODE.values()) == {Cause.OVERSIZE, Cause.OUT_OF_TURN, Cause.FLOOD, Cause.NOT_READING}


OFFERED: tuple[tuple[str, e.Event, Foul], ...] = (
    (
        "silent",
        overdue(0, START + 1.0, sent=0.0),
        Foul(
            seat=0,
            cause=Cause.REFUSED_TO_START,
            at_ms=START + 1.0,
            turn=0,
            ending=e.Ending.SILENT,
            detail="no complete answer within 5 s",
        ),
    ),
    (
        "late",
        ready(0, START + 1.0),
        Foul(
            seat=0,
            cause=Cause.REFUSED_TO_START,
            at_ms=START + 1.0,
            turn=0,
            detail="5.001 s used of 5 s",
        ),
    ),
    (
        "vacant",
        e.SeatVacant(seat=0, at_ms=9.0, detail="nobody came"),
        Foul(seat=0, cause=Cause.REFUSED_TO_START, at_ms=9.0, turn=0, detail="nobody came"),
    ),
    (
        "stranger",
        e.SeatVacant(seat=0, at_ms=9.0, detail="no", ending=e.Ending.STRANGER),
        Foul(seat=0, cause=Cause.REFUSED_TO_START, at_ms=9.0, turn=0, detail="no", ending=e.Ending.STRANGER),
    ),
    ("lost", lost(0, 9.0), disconnected(0, 9.0, 0)),
)


@pytest.mark.parametrize(("_name", "event", "expected"), OFFERED, ids=[row[0] for row in OFFERED])
@pytest.mark.parametrize("acknowledge", [False, True])
def test_a_seat_that_does_not_start(_name: str, event: e.Event, expected: Foul, acknowledge: bool) -> None:  # noqa: FBT001
    """A seat that never gets ready is out before the deal; its hand goes to the pile, and the others begin."""
    match = new_match([G, B], [Y, Y], [B, B], acknowledge=acknowledge)
    assert fold(match, opened(), ready(1), ready(2, 2.0)) == ()
    commands = match.handle(event)
    what = expelled(match, 0)
    assert commands[:3] == (c.ExpelSeat(seat=0, foul=expected), told(1, 0, what), told(2, 0, what))
    starts = [command.seat for command in commands[3:] if isinstance(command, c.StartSeat)]
    assert starts == ([1] if acknowledge else [1, 2])
    assert match.phase is (Phase.STARTING if acknowledge else Phase.PLAYING)
    assert match.state.order == (1, 2)


def test_a_foul_before_the_others_are_ready_waits_for_them() -> None:
    """A seat that leaves after its ready is expelled at once; the deal still waits for the others."""
    match = new_match([G, B], [Y, Y], [B, B])
    commands = fold(match, opened(), ready(0), lost(0, 2.0))
    assert commands == (c.ExpelSeat(seat=0, foul=disconnected(0, 2.0, 0)),)
    assert match.phase is Phase.OFFERING
    assert fold(match, ready(1, 3.0)) == ()
    assert fold(match, ready(2, 4.0))[-1] == asked(match, 1, 1)


USED: tuple[tuple[float, float, float, bool], ...] = (
    (2.0, 1001.9, 0.0, True),
    (2.0, 1002.0, 0.0, True),
    (2.0, 1002.001, 0.0, False),
    (2.0, 1500.0, 498.0, True),
    (2.0, 1500.0, 497.9, False),
    (2.0, 60_002.0, 60_000.0, True),
    (500.0, 1500.0, 0.0, True),
    (500.0, 1500.5, 0.0, False),
    (500.0, 1500.5, 0.5, True),
)


@pytest.mark.parametrize(("sent", "at", "lag", "in_time"), USED)
def test_time_is_counted_from_the_request_without_the_lag(
    sent: float,
    at: float,
    lag: float,
    in_time: bool,  # noqa: FBT001  # a column of a table
) -> None:
    """The time of an answer is the time from its request to its last byte, without the referee's own lag."""
    match = playing([G, B], [Y, Y])
    match.handle(moved(0, 1, PASS, at, sent=sent, lag=lag))
    assert [entry.cause for entry in match.fouls] == ([] if in_time else [Cause.TIMEOUT])
    result = result_of(match.handle(e.RefereeFailed(at_ms=at, detail="stop")))
    assert result.used_ms == (round(1.0 + at - sent - lag, 3), 1.0)


def test_a_deadline_counts_without_the_lag() -> None:
    """A limit has passed once it is used up without the lag; the time counts for the seat."""
    match = playing([G, B], [Y, Y])
    match.handle(overdue(0, 1502.0, sent=1.0, lag=500.0))
    result = result_of(match.handle(e.RefereeFailed(at_ms=1502.0, detail="stop")))
    assert result.used_ms == (1.0 + 1001.0, 1.0)


def test_a_wrong_ack_number_is_out_of_turn() -> None:
    """A confirmation of something that was not sent is a foul."""
    match = new_match([G, B], [Y, Y], acknowledge=True)
    commands = fold(match, opened(), ready(0), ready(1), acked(0, 2, 3.0))
    detail = "answers number 2, number 1 was asked"
    expected = Foul(seat=0, cause=Cause.OUT_OF_TURN, at_ms=3.0, turn=0, code="out-of-turn", detail=detail)
    assert commands[0] == c.ExpelSeat(seat=0, foul=expected)
    assert commands[1:3] == (
        told(1, 0, expelled(match, 0)),
        c.StartSeat(seat=1, view=shown(match, 1), ack=2, limit_ms=LIMIT),
    )


def test_a_foul_off_turn_drops_the_pieces_after_the_open_answer() -> None:
    """A seat that fouls while another one thinks is expelled at once; the answer is judged in the state that it saw."""
    match = playing([G, B], [Y, Y], [B, B], pile=(RC, RC))
    request = asked(match, 0, 1)
    assert match.handle(lost(1, 5.0)) == (c.ExpelSeat(seat=1, foul=disconnected(1, 5.0, 1)),)
    assert asked(match, 0, 1) == request
    commands = match.handle(moved(0, 1, EXCHANGE, 6.0))
    played = {"kind": "played", "action": "exchange", "count": 2, "seat": 0, "score": 0}
    gone = expelled(match, 1)
    assert commands == (
        told(0, 1, played, draws=(RC, RC)),
        told(2, 1, played),
        told(0, 1, gone),
        told(2, 1, gone),
        asked(match, 2, 2),
    )
    assert match.game.view(match.state, 2).tiles_left == 4


def test_a_foul_off_turn_before_a_foul_of_the_mover() -> None:
    """Two fouls of one turn drop their pieces in the order of the fouls, once the mover is done."""
    match = playing([G, B], [Y, Y], [B, B], pile=())
    commands = fold(match, lost(2, 5.0), lost(0, 6.0))
    assert commands == (
        c.ExpelSeat(seat=0, foul=disconnected(0, 6.0, 1)),
        told(1, 1, expelled(match, 2)),
        told(1, 1, expelled(match, 0)),
        asked(match, 1, 2),
    )
    assert match.state.pile == bytes(
        match.game.restore(match.options, match.setup.position).hands[seat][i] for seat in (2, 0) for i in (0, 1)
    )


def test_a_foul_while_a_draw_is_confirmed_waits_for_it() -> None:
    match = new_match([G, B], [Y, Y], [B, B], acknowledge=True)
    acks = (acked(0, 1, 2.0), acked(1, 2, 3.0), acked(2, 3, 4.0))
    fold(match, opened(), ready(0), ready(1), ready(2), *acks, moved(0, 1, place((0, 1, G)), 5.0))
    assert match.handle(lost(2, 6.0)) == (c.ExpelSeat(seat=2, foul=disconnected(2, 6.0, 1)),)
    gone = expelled(match, 2)
    commands = match.handle(acked(0, 4, 7.0))
    assert commands == (told(0, 1, gone), told(1, 1, gone), asked(match, 1, 2))
    assert match.game.view(match.state, 0).hand == [RC, B]


def test_a_mover_that_does_not_confirm_loses_its_draw() -> None:
    """A seat that fails to confirm is out.

    Its old hand goes to the pile, its draw is lost, its points and tiles stay.
    """
    match = new_match([G, B], [Y, Y], acknowledge=True)
    acks = (acked(0, 1, 2.0), acked(1, 2, 3.0))
    fold(match, opened(), ready(0), ready(1), *acks, moved(0, 1, place((0, 1, G)), 5.0))
    commands = match.handle(overdue(0, 1006.5, sent=5.0))
    assert commands[1:] == (told(1, 1, expelled(match, 0)), asked(match, 1, 2))
    assert match.game.view(match.state, 1).tiles_left == 1
    assert match.state.lost == 1
    assert match.state.scores == (3, 0)


def test_a_foul_of_a_seat_that_waits_for_its_start() -> None:
    """A seat that fouls before it was started is left out; its pieces go when the open start is confirmed."""
    match = new_match([G, B], [Y, Y], [B, B], acknowledge=True)
    fold(match, opened(), ready(0), ready(1), ready(2))
    assert match.handle(lost(1, 2.0)) == (c.ExpelSeat(seat=1, foul=disconnected(1, 2.0, 0)),)
    commands = match.handle(acked(0, 1, 3.0))
    gone = expelled(match, 1)
    view = shown(match, 2)
    assert commands == (told(0, 0, gone), told(2, 0, gone), c.StartSeat(seat=2, view=view, ack=2, limit_ms=LIMIT))


@pytest.mark.parametrize("acknowledge", [False, True])
def test_all_fouled(acknowledge: bool) -> None:  # noqa: FBT001
    """When nobody is left the match is over: no winner, all on the last rank, the fouls in their order."""
    match = new_match([G, B], [Y, Y], acknowledge=acknowledge)
    commands = fold(match, opened(), ready(0), ready(1), lost(1, 2.0), lost(0, 3.0))
    turn = match.turn
    fouls = (disconnected(1, 2.0, turn), disconnected(0, 3.0, turn))
    result = c.Result(
        winners=(),
        ranking=((0, 1),),
        scores=(0, 0),
        fouls=fouls,
        reason="q.end.deserted",
        void=None,
        turns=turn,
        used_ms=(1.0, 1.0),
    )
    assert commands == (c.ExpelSeat(seat=0, foul=fouls[1]), c.CloseMatch(result=result))


def test_nobody_gets_ready() -> None:
    """A match that nobody starts is deserted, not void."""
    match = new_match([G, B], [Y, Y])
    commands = fold(match, opened(), lost(1, 2.0), overdue(0, START + 3.0, sent=0.0))
    assert result_of(commands).reason == "q.end.deserted"
    assert result_of(commands).void is None
    assert [entry.seat for entry in match.fouls] == [1, 0]


def test_one_seat_left_plays_on_alone() -> None:
    """The last seat is asked until the game itself ends. It wins, whatever points the others have."""
    match = playing([G, B], [Y, Y], scores=(0, 90))
    fold(match, lost(1, 2.0), moved(0, 1, place((0, 1, G)), 3.0))
    assert match.open_requests.keys() == {0}
    result = result_of(fold(match, moved(0, 2, PASS, 4.0)))
    assert result.winners == (0,)
    assert result.ranking == ((0,), (1,))
    assert result.scores == (3, 90)


def ending(scores: tuple[int, ...]) -> Any:
    """Return a match with acknowledgements in which all passed, so that the first end waits for its ack."""
    match = new_match([G, B], [Y, Y], [B, B], acknowledge=True, scores=scores)
    fold(match, opened(), ready(0), ready(1), ready(2), acked(0, 1, 2.0), acked(1, 2, 3.0), acked(2, 3, 4.0))
    fold(match, moved(0, 1, PASS, 5.0), moved(1, 2, PASS, 6.0), moved(2, 3, PASS, 7.0))
    assert match.phase is Phase.ENDING
    return match


def test_a_winner_that_fails_at_the_end_leaves_no_winner() -> None:
    """The only winner fouls at its end: there is no winner then, nobody moves up, and the others are sent this."""
    match = ending((0, 9, 5))
    commands = match.handle(lost(1, 8.0))
    end: Any = {"winners": (2,), "ranking": ((2,), (0,), (1,)), "scores": (0, 9, 5), "void": None, "limit_ms": LIMIT}
    end["winners"], end["ranking"] = (), ((2,), (0,), (1,))
    assert commands == (c.ExpelSeat(seat=1, foul=disconnected(1, 8.0, 3)), c.EndSeat(seat=0, ack=5, **end))
    result = result_of(fold(match, acked(0, 5, 9.0), acked(2, 6, 10.0)))
    assert result.winners == ()
    assert result.ranking == ((2,), (0,), (1,))


def test_one_of_two_winners_fails_at_the_end() -> None:
    """The other winner still wins."""
    match = ending((9, 1, 9))
    fold(match, lost(0, 8.0), acked(2, 5, 9.0))
    result = result_of(fold(match, acked(1, 6, 10.0)))
    assert result.winners == (2,)
    assert result.ranking == ((2,), (1,), (0,))


def test_a_seat_that_waits_for_its_end_may_still_foul() -> None:
    """A seat that fouls before it is sent the end is expelled, and is sent no end."""
    match = ending((9, 1, 5))
    assert match.handle(lost(1, 8.0)) == (c.ExpelSeat(seat=1, foul=disconnected(1, 8.0, 3)),)
    commands = match.handle(acked(0, 4, 9.0))
    assert [command.seat for command in commands if isinstance(command, c.EndSeat)] == [2]


def test_a_seat_that_confirmed_its_end_is_done() -> None:
    """A seat that has confirmed the end may leave without a foul."""
    match = ending((9, 1, 5))
    fold(match, acked(0, 4, 8.0))
    assert match.handle(lost(0, 9.0)) == ()
    assert match.fouls == []
    assert result_of(fold(match, acked(1, 5, 10.0), acked(2, 6, 11.0))).winners == (0,)


def test_evidence_in_words_is_cut() -> None:
    """Text that a player's message can make long is cut to 400 characters."""
    match = playing([G, B], [Y, Y])
    match.handle(moved(0, 1, {"action": ALIEN * 100}, 9.0))
    assert len(match.fouls[0].detail) == 400


@pytest.mark.parametrize(
    ("ending", "used_ms", "words"),
    [
        (e.Ending.COMPUTING, 9040.0, "; 9.0 s of processor time: it was still computing"),
        (e.Ending.WAITING, 60.0, "; 0.06 s of processor time: it was waiting"),
        (None, 0.0, ""),
    ],
)
def test_a_timeout_says_what_the_program_was_doing(ending: e.Ending | None, used_ms: float, words: str) -> None:
    match = new_match([G], [B])
    events = (opened(), ready(0), ready(1), replace(overdue(0, 1100.0, sent=1.0), ending=ending, processor_ms=used_ms))
    for event in events:
        commands = match.handle(event)
    (foul,) = [command.foul for command in commands if isinstance(command, c.ExpelSeat)]
    assert (foul.cause, foul.ending) == (Cause.TIMEOUT, ending)
    assert foul.detail == f"no complete answer within 1 s{words}"
