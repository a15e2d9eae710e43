"""A match in short, as a report needs it: what came of it, the time of each seat, the moves; read off its record."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ..match import events as e
from ..match.fouls import Cause
from ..record.fairness import Fairness, fairness, timings
from ..record.match_entries import entry_of
from ..record.reader import Record
from ..tournament.match_context import MatchEntry
from .notation import expulsion, short


class SeatTime(Struct, frozen=True):
    """How long one seat took for its moves in one match."""

    answers: int = 0
    """Number of moves asked for, those that never came included."""
    total_ms: float = 0.0
    """Time for all of them."""
    most_ms: float = 0.0
    """Time for the slowest one."""
    most_share: float = 0.0
    """Largest share of a time limit that was used; more than 1 is too late."""

    @property
    def mean_ms(self) -> float:
        """Of one move."""
        return self.total_ms / self.answers if self.answers else 0.0

    def plus(self, other: "SeatTime") -> "SeatTime":
        """Return the time of two seats together."""
        return SeatTime(
            self.answers + other.answers,
            self.total_ms + other.total_ms,
            max(self.most_ms, other.most_ms),
            max(self.most_share, other.most_share),
        )


class MatchSummary(Struct, frozen=True, kw_only=True):
    """One match in short."""

    entry: MatchEntry
    opened: str
    """Wall-clock time, ISO 8601 in UTC."""
    times: tuple[SeatTime, ...]
    """By seat."""
    fairness: Fairness
    """How the time of its seats was kept."""
    moves: tuple[str, ...]
    """In short notation, expulsions among them."""


def summary_of(record: Record) -> MatchSummary:
    """Return a match of a tournament in short.

    Raises:
        RecordError: it was not finished, or it is none of a tournament.
    """
    times = [SeatTime() for _ in record.header.setup.names]
    found = timings(record)
    for timing in found:
        if timing.turn is not None or timing.cause == Cause.TIMEOUT:
            used_ms = max(timing.used_ms, 0.0)
            share = timing.used_ms / timing.limit_ms if timing.limit_ms else 1.0
            times[timing.seat] = times[timing.seat].plus(SeatTime(1, used_ms, used_ms, share))
    return MatchSummary(
        entry=entry_of(record),
        opened=record.header.opened,
        times=tuple(times),
        fairness=fairness(found),
        moves=tuple(_moves(record)),
    )


def _moves(record: Record) -> Iterator[str]:
    """Yield `TURN.SEAT MOVE` for every answer to a turn, and a remark in braces for every expulsion."""
    for step in record.steps:
        event = step.event
        fouls: list[dict[str, Any]] = [
            command["foul"] for command in step.commands if command["command"] == "expel-seat"
        ]
        if isinstance(event, e.MoveReceived):
            is_wrong = any(foul["seat"] == event.seat for foul in fouls)
            yield f"{event.turn}.{event.seat} {short(event.move)}{'?' if is_wrong else ''}"
        for foul in fouls:
            yield expulsion(foul["seat"], foul["cause"], foul.get("rule") or foul.get("code"))
