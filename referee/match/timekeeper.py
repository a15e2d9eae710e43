"""The open requests of a match and the time of each seat: limits, time banks, increments, and the time used."""

from enum import Enum

from msgspec import Struct

from . import events as e
from .events import ImpossibleEvent
from .setup import MatchSetup

UNNOTICED_MS = 7.5
"""Longest standstill that the event loop may fail to notice: two of its beats, due every 5 ms, can be so far apart."""
KEPT_STANDSTILLS = 4096
"""Number of latest standstills that the referee remembers. Each can excuse a seat whose request was open then."""
DISK_MS = 500.0
"""Longest time that a request may wait for the disk. A longer wait counts as a standstill."""
MAX_LOOKS = 64
"""Maximum number of reads from a socket after its deadline: more than the largest frame needs."""

Standstill = tuple[float, float]
"""Begin and end of a standstill, in milliseconds."""

# A time bank works like a chess clock: the time of a seat's moves is subtracted from it, and the increment is added
# after each turn. Without a bank, a turn has the limit per move. With a bank, the limit is the smaller of the limit per
# move and the time in the bank.
#
# A player is charged for the time from the sending of the request to the last byte of its answer, less `lag_ms`, the
# time in which the referee was not listening. The referee can measure its own lag, so it subtracts the lag exactly. It
# can't measure how a stall affects the players: a machine that stops the referee for half a second has probably stopped
# them, too. So if the referee stood still for longer than the margin of the setup, a late answer is accepted, and a
# seat that has not answered gets its limit again.
#
# One request gets at most two new limits. Otherwise a referee that stands still all the time would never expel anybody,
# and a player that can slow down the referee could think for ever. A stall that a player caused by flooding the lobby
# does not excuse this player: the event reports it in `stormed_ms` instead.
#
# Sums are rounded to microseconds after every operation, as instants are. Without this, another implementation that
# adds the same numbers in another order would differ in the last bits, and the audit in JavaScript compares exactly.

MAX_EXTENSIONS = 2
"""Maximum number of new limits that one request gets because the referee stood still: the player has three in all."""
MIN_LEFT_MS = 1000.0
"""Least time that an open request gets after a restart of the referee, since its player has to resume first."""
_DIGITS = 3
"""Decimal digits of a rounded time in milliseconds: it is rounded to microseconds, as instants are."""
_ROUNDING_MS = 0.001
"""Largest error of the difference between two instants, which are rounded to microseconds."""


class Lateness(Enum):
    """A verdict on the time that an answer took."""

    IN_TIME = "in time"
    LATE = "late"
    UNSURE = "unsure"
    """Late, but the referee stood still for so long that the player may not be to blame."""


class Request(Struct, frozen=True):
    """A request that a seat has not answered yet."""

    answer: type[e.Answer]
    number: int
    """Number of the turn or of the ack; 0 if an offer or a nonce was asked for."""
    limit_ms: float
    asked_ms: float
    """Instant of the event that led to the request. The request was sent then or later."""
    extensions: int = 0
    """How many times the request got a new limit because the referee had stood still."""

    def left_ms(self, last_ms: float) -> float:
        """Return how much of the limit is left after a crash of the referee, in milliseconds.

        Args:
            last_ms: instant of the last known event.

        Returns:
            The time left at that instant, but at least MIN_LEFT_MS or, if it is shorter, the whole limit.
        """
        return max(self.limit_ms - (last_ms - self.asked_ms), min(self.limit_ms, MIN_LEFT_MS))


class Timekeeper:
    """The open requests and the time of all seats.

    Args:
        setup: settings of the match.
    """

    def __init__(self, setup: MatchSetup) -> None:
        self.requests: dict[int, Request] = {}
        """The open request of each seat that has one."""
        self.used_ms = [0.0] * len(setup.names)
        """Time that each seat's answers took, in milliseconds, without the referee's lag."""
        self._setup = setup
        bank_ms = setup.time.bank_ms
        self._bank_ms = None if bank_ms is None else [bank_ms] * len(setup.names)
        self._turn_ms = 0.0
        """Time used in the present turn, in milliseconds."""
        self._mover: int | None = None
        """Seat that moves or moved last; None before the first move, and once this seat is expelled."""

    def __repr__(self) -> str:
        return f"Timekeeper({self.requests}, {self.used_ms}, {self._bank_ms}, {self._turn_ms}, {self._mover})"

    def bank_ms(self, seat: int) -> float | None:
        """Return the time left in a seat's bank, in milliseconds; None if there are no banks."""
        return None if self._bank_ms is None else self._bank_ms[seat]

    def ask(self, seat: int, answer: type[e.Answer], number: int, limit_ms: float, at_ms: float) -> Request:
        """Open a request."""
        self.requests[seat] = request = Request(answer, number, limit_ms, at_ms)
        return request

    def ask_move(self, seat: int, turn: int, at_ms: float, *, goes_on: bool) -> Request:
        """Open the request for a move.

        Args:
            seat: seat to move.
            turn: number of the request.
            at_ms: the present instant.
            goes_on: True if the seat moves again in the turn of its last move, and the time of that turn runs on.
        """
        if not goes_on:
            if self._mover is not None and self._bank_ms is not None:
                self._add(self._bank_ms, self._mover, self._setup.time.increment_ms)
            self._turn_ms = 0.0
        self._mover = seat
        bank_ms = None if self._bank_ms is None else self._bank_ms[seat]
        left_ms = round(max(self._setup.time.per_move_ms - self._turn_ms, 0.0), _DIGITS)
        return self.ask(seat, e.MoveReceived, turn, left_ms if bank_ms is None else min(left_ms, bank_ms), at_ms)

    def check(self, event: e.SeatEvent) -> None:
        """Check that an event agrees with itself and with the open request of its seat.

        Raises:
            ImpossibleEvent: its times contradict each other, or it does not fit the open request.
        """
        name, request = type(event).__name__, self.requests.get(event.seat)
        if isinstance(event, e.Answer):
            if not 0 <= event.sent_ms <= event.first_byte_ms <= event.at_ms:
                raise ImpossibleEvent(f"{name}: sent, first byte and completion are not in order")
            if request is None or type(event) is not request.answer:
                raise ImpossibleEvent(f"{name} of seat {event.seat}, which was not asked")
            _check_delays(event, event.sent_ms, request)
        elif isinstance(event, e.DeadlinePassed):
            if request is None:
                raise ImpossibleEvent(f"{name} of seat {event.seat}, which was not asked")
            _check_delays(event, event.sent_ms, request)
            used_ms = e.used_ms(event)
            if min(event.sent_ms, event.stormed_ms) < 0 or used_ms <= request.limit_ms:
                raise ImpossibleEvent(f"{name}: {used_ms} ms of {request.limit_ms} ms used")
        elif isinstance(event, e.SeatReturned):
            _check_return(event, request)
        elif isinstance(event, e.SeatVacant) and request is None:
            raise ImpossibleEvent(f"{name} of seat {event.seat}, which has accepted the offer")

    def book(self, event: e.Answer | e.DeadlinePassed) -> Lateness:
        """Add the time of an answer or of a passed deadline to the seat's total, and judge it.

        The request stays open.
        """
        request, used_ms = self.requests[event.seat], e.used_ms(event)
        self.used_ms[event.seat] += max(used_ms, 0.0)
        if used_ms <= request.limit_ms:
            return Lateness.IN_TIME
        return Lateness.UNSURE if self._is_unsure(event.stalled_ms, request) else Lateness.LATE

    def charge(self, seat: int, used_ms: float) -> None:
        """Subtract the time of an accepted move from the time of the turn and from the seat's bank."""
        charged_ms = max(used_ms, 0.0)
        self._turn_ms += charged_ms
        if self._bank_ms is not None:
            self._add(self._bank_ms, seat, -charged_ms)

    def extend(self, seat: int, at_ms: float) -> None:
        """Give the open request its whole limit again, beginning now."""
        old = self.requests[seat]
        self.requests[seat] = Request(old.answer, old.number, old.limit_ms, at_ms, old.extensions + 1)

    def restart(self, seat: int, last_ms: float, at_ms: float) -> None:
        """Open a seat's request again after a crash of the referee, with the time that was left.

        Args:
            seat: a seat. Nothing happens if it has no open request.
            last_ms: instant of the last event before the crash.
            at_ms: the present instant.
        """
        if seat in self.requests:
            self._renew(seat, self.requests[seat].left_ms(last_ms), at_ms)

    def charge_absence(self, event: e.SeatReturned) -> None:
        """Open a seat's request again after its absence, and charge the absence without the referee's delays."""
        request = self.requests.get(event.seat)
        if request is None:
            return
        if self._is_unsure(event.stalled_ms, request):
            self.extend(event.seat, event.at_ms)
            return
        used_ms = event.at_ms - request.asked_ms - event.lag_ms
        left_ms = round(min(max(request.limit_ms - used_ms, 0.0), request.limit_ms), _DIGITS)
        self.used_ms[event.seat] += request.limit_ms - left_ms
        self._renew(event.seat, left_ms, event.at_ms)

    def _is_unsure(self, stalled_ms: float, request: Request) -> bool:
        return stalled_ms > self._setup.lag_margin_ms and request.extensions < MAX_EXTENSIONS

    def _renew(self, seat: int, left_ms: float, at_ms: float) -> None:
        old = self.requests[seat]
        if old.answer is e.MoveReceived:
            self.charge(seat, old.limit_ms - left_ms)
        self.requests[seat] = Request(old.answer, old.number, left_ms, at_ms, old.extensions)

    def forget(self, seat: int) -> bool:
        """Close the open request of an expelled seat.

        Returns:
            True if there was one.
        """
        if self._mover == seat:
            self._mover = None
        return self.requests.pop(seat, None) is not None

    @staticmethod
    def _add(bank_ms: list[float], seat: int, ms: float) -> None:
        bank_ms[seat] = round(max(bank_ms[seat] + ms, 0.0), _DIGITS)


def _check_delays(event: e.Answer | e.DeadlinePassed | e.SeatReturned, sent_ms: float, request: Request | None) -> None:
    """Raise ImpossibleEvent if an event reports a longer delay of the referee than its request was open."""
    name = type(event).__name__
    if request is not None and sent_ms < request.asked_ms:
        raise ImpossibleEvent(f"{name}: a request sent at {sent_ms} ms, which was made at {request.asked_ms} ms")
    span_ms = max(event.at_ms - sent_ms, 0) + _ROUNDING_MS
    if not (0 <= event.lag_ms <= span_ms and 0 <= event.stalled_ms <= span_ms):
        raise ImpossibleEvent(f"{name}: a lag of {event.lag_ms} ms, a standstill of {event.stalled_ms} ms")


def _check_return(event: e.SeatReturned, request: Request | None) -> None:
    """Raise ImpossibleEvent if a player's absence, or the delays during it, can't be as long as the event says."""
    _check_delays(event, request.asked_ms if request else event.at_ms, request)
    if not 0 <= event.gone_ms <= event.at_ms + _ROUNDING_MS:
        raise ImpossibleEvent(f"SeatReturned: away for {event.gone_ms} ms, at {event.at_ms} ms")
    if event.stormed_ms < 0:
        raise ImpossibleEvent(f"SeatReturned: a standstill of {event.stormed_ms} ms")
