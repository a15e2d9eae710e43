"""What a match waits for, and which events cannot be true."""

from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from . import events as e

ROUNDING_MS = 0.001
"""Instants are rounded to a microsecond; so much may a difference of two of them be off."""


MIN_LEFT_MS = 1000.0
"""Of a limit, after the referee was started again: a player has to find its bearings."""


class ImpossibleEvent(Exception):
    """An event that cannot happen now: a fault of the referee or a forged record, never of a player."""


class Phase(StrEnum):
    """What the match is waiting for."""

    NEW = "new"
    OFFERING = "offering"
    """Every seat's `ready`."""
    REVEALING = "revealing"
    """The nonces of all who committed to one."""
    STARTING = "starting"
    """One seat's `ack` of its start."""
    PLAYING = "playing"
    """One seat's move."""
    TELLING = "telling"
    """The mover's `ack` of what it was handed."""
    ENDING = "ending"
    """One seat's `ack` of the end."""
    OVER = "over"

    __hash__ = str.__hash__
    """In C: an enum's own is a Python function, and every event looks into the table."""


class Request(Struct, frozen=True):
    """What a seat was asked and has not answered."""

    answer: type[e.Answer]
    number: int
    """Number of the turn or of the ack; 0 for an offer and for a nonce."""
    limit_ms: float
    asked_ms: float
    """Instant of the event that led to it; it was sent then or later."""
    extensions: int = 0
    """How often it was given a new limit, because the referee had stood still."""

    def left_ms(self, last_ms: float) -> float:
        """Return how much of the limit is left for sure, when nothing is known after an instant.

        Never less than MIN_LEFT_MS, or the whole limit: who was started anew has to find its bearings.
        """
        return max(self.limit_ms - (last_ms - self.asked_ms), min(self.limit_ms, MIN_LEFT_MS))


def check_event(
    event: e.Event, last_ms: float, seats: int, out: Collection[int], awaiting: Mapping[int, Request]
) -> None:
    """Refuse an event whose instants contradict each other, the events before it or the open request.

    Args:
        event: the event.
        last_ms: instant of the event before it.
        seats: number of seats of the match.
        out: seats that are no longer in the match.
        awaiting: the open requests by seat.

    Raises:
        ImpossibleEvent: it contradicts itself or what is known.
    """
    name = type(event).__name__
    if event.at_ms < last_ms:
        raise ImpossibleEvent(f"{name} at {event.at_ms} ms, after an event at {last_ms} ms")
    if isinstance(event, e.MatchResumed) and event.at_ms != last_ms:
        raise ImpossibleEvent(f"{name} at {event.at_ms} ms, not at {last_ms} ms, as the event before it")
    if not isinstance(event, e.SeatEvent):
        return
    if not 0 <= event.seat < seats or event.seat in out:
        raise ImpossibleEvent(f"{name} of seat {event.seat}, which is not in the match")
    _check_seat(event, awaiting.get(event.seat))


def _check_seat(event: e.SeatEvent, request: Request | None) -> None:
    """Refuse what a seat did if it contradicts itself or what the seat is asked."""
    name = type(event).__name__
    if isinstance(event, e.Answer):
        if not 0 <= event.sent_ms <= event.first_byte_ms <= event.at_ms:
            raise ImpossibleEvent(f"{name}: sent, first byte and completion are not in order")
        _check_request(event, request)
    elif isinstance(event, e.SeatReturned):
        span_ms = (event.at_ms - request.asked_ms if request else 0.0) + ROUNDING_MS
        _check_lags(event, span_ms)
        if not 0 <= event.gone_ms <= event.at_ms + ROUNDING_MS:
            raise ImpossibleEvent(f"{name}: away for {event.gone_ms} ms, at {event.at_ms} ms")
        if event.stormed_ms < 0:
            raise ImpossibleEvent(f"{name}: a standstill of {event.stormed_ms} ms")
    elif isinstance(event, e.SeatVacant):
        if request is None:
            raise ImpossibleEvent(f"{name} of seat {event.seat}, which has accepted the offer")
    elif isinstance(event, e.DeadlinePassed):
        limit_ms, used_ms = _check_request(event, request).limit_ms, e.used_ms(event)
        if min(event.sent_ms, event.stormed_ms) < 0 or used_ms <= limit_ms:
            raise ImpossibleEvent(f"{name}: {used_ms} ms of {limit_ms} ms used")


def _check_request(event: e.Answer | e.DeadlinePassed, request: Request | None) -> Request:
    name = type(event).__name__
    if request is None or (isinstance(event, e.Answer) and type(event) is not request.answer):
        raise ImpossibleEvent(f"{name} of seat {event.seat}, which was not asked")
    if event.sent_ms < request.asked_ms:
        raise ImpossibleEvent(f"{name}: a request sent at {event.sent_ms} ms, which was made at {request.asked_ms} ms")
    span_ms = max(event.at_ms - event.sent_ms, 0) + ROUNDING_MS
    _check_lags(event, span_ms)
    return request


def _check_lags(event: e.Answer | e.DeadlinePassed | e.SeatReturned, span_ms: float) -> None:
    if not (0 <= event.lag_ms <= span_ms and 0 <= event.stalled_ms <= span_ms):
        name = type(event).__name__
        raise ImpossibleEvent(f"{name}: a lag of {event.lag_ms} ms, a standstill of {event.stalled_ms} ms")
