"""Folds a record again into frames: one per deal, move, expulsion and fault, and the time of every answer."""

# The page of a match is made by folding its record again, with the same fold that played it. A page can therefore show
# nothing that the record does not imply, and a record that does not hold gets no page. It costs the time of an audit;
# the alternative, notes taken while the match was played, would have to be trusted and kept.

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
    """The match was not finished and its record does not reveal the seed, so only its events are known."""


class FrameKind(StrEnum):
    """What a frame shows."""

    DEAL = "deal"
    """The state before the first turn."""
    MOVE = "move"
    """A legal move."""
    EXPELLED = "expelled"
    """A foul, and the end of its seat; its pieces leave the game once no answer of another seat is waited for."""
    VOID = "void"
    """A fault of the referee's own."""


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
    """The seat that is asked for a move now."""
    out: tuple[int, ...]
    """Seats expelled so far, in that order."""
    seat: int | None = None
    """Seat that moved or was expelled."""
    move: Any = None
    """Answer of the seat in plain data, even if it was illegal."""
    took_ms: float | None = None
    """Time for this answer in milliseconds; None if there was none."""
    foul: Foul | None = None
    judged: "JudgedEvent | None" = None
    """Event that led to the expulsion; None for other frames."""
    fault: str | None = None

    @property
    def shown(self) -> Any:
        """The state that is to be drawn: of an expulsion the one before the foul, with all that its seat held."""
        return self.state if self.judged is None or self.state is None else self.judged.state

    @property
    def scores(self) -> tuple[int, ...] | None:
        """Points by seat, if the game's state tells them."""
        scores = getattr(self.state, "scores", None)
        return None if scores is None else tuple(scores)


@dataclass(frozen=True, slots=True)
class JudgedEvent:
    """An event for which a seat was expelled, and what it was judged by."""

    event: e.Event
    state: Any
    """State of the game before the event."""
    asked: Request | None
    """Request that the seat had open then; None if it had none."""


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """Time of one answer, or of one that did not come."""

    seat: int
    turn: int
    at_ms: float
    used_ms: float
    """Time that counts against the limit: the referee's lag is taken off."""


@dataclass(frozen=True, slots=True)
class FoldedRecord:
    """A record that was folded again and holds."""

    record: Record
    match: Match
    frames: tuple[ReplayFrame, ...]
    answers: tuple[AnswerTime, ...]
    resumptions: tuple[tuple[int, float], ...]
    """Turn and instant, in milliseconds, at which the match was resumed after a stop of the referee."""


def fold_record(record: Record, find_game: FindGame) -> FoldedRecord:
    """Fold a record again, and keep what there is to be seen of the match.

    Args:
        record: the record, chain checked.
        find_game: a game's name -> its rules.

    Raises:
        RecordError: a line of the record does not follow from those before it.
        StillSecret: the match was not finished and its seed is not in the record.
        Exception: what find_game raises for a game it does not know.
    """
    match = open_match(record, find_game)
    if match is None:
        raise StillSecret(f"{record.path}: the match was not finished and its seed is still secret")
    frames: list[ReplayFrame] = []
    answers: list[AnswerTime] = []
    resumptions: list[tuple[int, float]] = []
    turn = 0  # of the event: the match that has taken it in may be in the next one
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
    """Return what an event adds to the frames before it; the match has taken it in."""
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
