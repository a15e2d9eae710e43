"""Replays a record into frames (deal, moves, expulsions, faults of the referee) and the time of every answer."""

# The page of a match is made by replaying its record with the same fold that played the match. So a page can show
# nothing that the record does not imply, and a record that does not hold gets no page. This takes as long as an audit.
# The alternative would be notes made during the match, which would have to be stored and trusted.

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ..errors import RefereeError
from ..match import events as e
from ..match.fouls import Foul
from ..match.machine import Match
from ..match.timekeeper import Request
from ..record.audit.match import FindGame, check_result, open_match, refold
from ..record.reader import Record


class StillSecret(RefereeError):
    """The match was not finished, and its record does not reveal the seed, so its states can't be computed."""


class FrameKind(StrEnum):
    """Kind of a frame."""

    DEAL = "deal"
    """The state before the first turn."""
    MOVE = "move"
    """A legal move."""
    EXPELLED = "expelled"
    """The expulsion of a seat. The seat's pieces leave the game when no other seat's answer is awaited."""
    VOID = "void"
    """A fault of the referee, because of which the match is void."""


@dataclass(frozen=True, slots=True)
class ReplayFrame:
    """One moment of a match."""

    kind: FrameKind
    turn: int
    """Number of the turn; 0 before the first."""
    at_ms: float
    """Milliseconds since the match was opened."""
    state: Any
    """The game's state; None before the deal."""
    to_move: int | None
    """The seat that has been asked for a move; None if no seat has."""
    out: tuple[int, ...]
    """Seats that were expelled so far, in the order of their expulsion."""
    seat: int | None = None
    """Seat that moved or was expelled."""
    move: Any = None
    """Answer of the seat in plain data, even if it was illegal."""
    took_ms: float | None = None
    """Time for this answer in milliseconds; None if there was no answer."""
    foul: Foul | None = None
    judged: "JudgedEvent | None" = None
    """The event that led to the expulsion; None for other frames."""
    fault: str | None = None

    @property
    def shown(self) -> Any:
        """The state to draw. For an expulsion it is the state before the foul, with the seat's pieces."""
        return self.state if self.judged is None or self.state is None else self.judged.state

    @property
    def scores(self) -> tuple[int, ...] | None:
        """Points by seat, if the game's state has them."""
        scores = getattr(self.state, "scores", None)
        return None if scores is None else tuple(scores)


@dataclass(frozen=True, slots=True)
class JudgedEvent:
    """An event that led to an expulsion, with the state and the request before it."""

    event: e.Event
    state: Any
    """State of the game before the event."""
    asked: Request | None
    """The seat's open request before the event; None if it had none."""


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """Time of one answer, or of an answer that did not come before its deadline."""

    seat: int
    turn: int
    at_ms: float
    used_ms: float
    """Time that counts against the limit, without the referee's lag."""


@dataclass(frozen=True, slots=True)
class FoldedRecord:
    """A record that was replayed and holds."""

    record: Record
    match: Match
    frames: tuple[ReplayFrame, ...]
    answers: tuple[AnswerTime, ...]
    resumptions: tuple[tuple[int, float], ...]
    """Turn and instant (in milliseconds) of each resumption of the match after the referee was stopped."""


def fold_record(record: Record, find_game: FindGame) -> FoldedRecord:
    """Replay a record, and return its frames and answers.

    Args:
        record: the record; its chain is verified already.
        find_game: a game's name -> its rules.

    Raises:
        RecordError: a line of the record does not follow from the lines before it.
        StillSecret: the match was not finished, and its seed is not in the record.
        Exception: the error of `find_game` for an unknown game.
    """
    match = open_match(record, find_game)
    if match is None:
        raise StillSecret(f"{record.path}: the match was not finished and its seed is still secret")
    frames: list[ReplayFrame] = []
    answers: list[AnswerTime] = []
    resumptions: list[tuple[int, float]] = []
    turn = 0  # the turn of the event; the match that has handled the event may be in the next turn
    state, requests = match.state, dict(match.open_requests)
    for step, _ in refold(record, match):
        event = step.event
        if isinstance(event, e.Answer | e.DeadlinePassed):
            answers.append(AnswerTime(event.seat, turn, event.at_ms, _used_ms(event)))
        if isinstance(event, e.MatchResumed):
            resumptions.append((turn, event.at_ms))
        new = _make_frames(event, turn, match, frames)
        if not new and frames and isinstance(event, e.AckReceived):
            frames[-1] = replace(frames[-1], state=match.state, to_move=_to_move(match))
        request = requests.get(event.seat) if isinstance(event, e.SeatEvent) else None
        judged = JudgedEvent(event, state, request)
        frames += (replace(frame, judged=judged) if frame.foul is not None else frame for frame in new)
        turn, state, requests = match.turn, match.state, dict(match.open_requests)
    check_result(record, match)
    return FoldedRecord(record, match, tuple(frames), tuple(answers), tuple(resumptions))


def _make_frames(event: e.Event, turn: int, match: Match, before: list[ReplayFrame]) -> list[ReplayFrame]:
    """Return the frames that an event adds; the match has handled the event already."""
    out = tuple(foul.seat for foul in match.fouls)
    fault = match.result.void if match.result else None
    was_out = before[-1].out if before else ()
    is_dealt = match.state is not None and not any(frame.kind is FrameKind.DEAL for frame in before)
    now = ReplayFrame(FrameKind.MOVE, turn, event.at_ms, match.state, _to_move(match), out)
    if isinstance(event, e.SeatEvent):
        now = replace(now, seat=event.seat)
    if isinstance(event, e.MoveReceived):
        now = replace(now, move=event.move, took_ms=_used_ms(event))
    new = []
    if len(out) > len(was_out):
        state = None if is_dealt else now.state
        new.append(replace(now, kind=FrameKind.EXPELLED, foul=match.fouls[-1], state=state))
    elif isinstance(event, e.MoveReceived) and fault is None:
        new.append(now)
    if is_dealt:
        new.append(ReplayFrame(FrameKind.DEAL, 0, event.at_ms, match.state, now.to_move, out))
    if fault is not None:
        new.append(replace(now, kind=FrameKind.VOID, fault=fault))
    return new


def _to_move(match: Match) -> int | None:
    return next((seat for seat, request in match.open_requests.items() if request.answer is e.MoveReceived), None)


def _used_ms(event: e.Answer | e.DeadlinePassed) -> float:
    return max(e.used_ms(event), 0.0)
