"""Open requests and each seat's time: limits, banks with an increment, the time used."""

from enum import Enum

from msgspec import Struct

from . import events as e
from .events import ImpossibleEvent
from .setup import MatchSetup

UNNOTICED_MS = 7.5
"""Longest standstill that the loop may not notice: two beats of 5 ms each may lie so far apart."""
KEPT_STANDSTILLS = 4096
"""Number of the latest standstills that are remembered, and can excuse a seat that was asked before them."""
DISK_MS = 500.0
"""Longest time that the disk may hold up a request that waits for it; after that, it counts as a standstill."""
MAX_LOOKS = 64
"""Most reads of a socket after its deadline: more than the largest frame needs."""

Standstill = tuple[float, float]
"""Begin and end, in milliseconds."""

# A bank works like a chess clock: the time of a seat's moves goes off it, and each turn in time adds the increment. A
# turn without a bank has the limit of a move; with one, the smaller of the two.
#
# A player is charged for the time from sending the request to the last byte of its answer, less `lag_ms`: the time in
# which the referee was not listening. That is measured, so it can be taken off exactly. What cannot be measured is what
# a stall does to others: a machine that stops the referee for half a second has probably stopped the players, too. So
# an answer that is late by the clock is not judged if the referee stood still for longer than the margin of the setup.
# It is taken; or if it is missing, the seat gets its limit once more.
#
# Twice at most: a referee that stands still all the time would otherwise never expel anybody, and a player that can
# slow down the referee would have found a way to think for ever. (Stalls that a player caused by flooding the lobby
# don't excuse it: the events say so, in `stormed_ms`.)
#
# Sums are rounded to microseconds after every operation, as instants are. Another implementation that adds the same
# numbers in another order would differ in the last bits, and an audit in JavaScript compares exactly.

MAX_EXTENSIONS = 2
"""Most new limits that one request gets because the referee stood still; its player had three limits then."""
MIN_LEFT_MS = 1000.0
"""Least time left of a limit after the referee was started again: a player has to find its bearings."""
_DIGITS = 3
"""Microseconds, as instants have."""
_ROUNDING_MS = 0.001
"""Largest error of a difference of two instants, which are rounded to a microsecond."""


class Lateness(Enum):
    """The verdict on the time of an answer."""

    IN_TIME = "in time"
    LATE = "late"
    UNSURE = "unsure"
    """Late, but the referee stood still for so long that the player may not be to blame."""


class Request(Struct, frozen=True):
    """A request that a seat has not answered."""

    answer: type[e.Answer]
    number: int
    """Number of the turn or of the ack; 0 for an offer and for a nonce."""
    limit_ms: float
    asked_ms: float
    """Instant of the event that led to it; it was sent then or later."""
    extensions: int = 0
    """Number of times it was given a new limit, because the referee had stood still."""

    def left_ms(self, last_ms: float) -> float:
        """Return how much of the limit is left for sure, when nothing is known after an instant.

        It is never less than MIN_LEFT_MS, or than the whole limit if that is shorter.
        """
        return max(self.limit_ms - (last_ms - self.asked_ms), min(self.limit_ms, MIN_LEFT_MS))


class Timekeeper:
    """The time of all seats.

    Args:
        setup: what was settled.
    """

    def __init__(self, setup: MatchSetup) -> None:
        self.requests: dict[int, Request] = {}
        """The open ones, by seat."""
        self.used_ms = [0.0] * len(setup.names)
        """Time that each seat's answers took, in milliseconds, without the referee's lag."""
        self._setup = setup
        bank_ms = setup.time.bank_ms
        self._bank_ms = None if bank_ms is None else [bank_ms] * len(setup.names)
        self._turn_ms = 0.0
        """Time used in the present turn, in milliseconds."""
        self._mover: int | None = None
        """The seat to move; None once it is out."""

    def __repr__(self) -> str:
        return f"Timekeeper({self.requests}, {self.used_ms}, {self._bank_ms}, {self._turn_ms}, {self._mover})"

    def bank_ms(self, seat: int) -> float | None:
        """Return what is left in a seat's bank; None if it has none."""
        return None if self._bank_ms is None else self._bank_ms[seat]

    def ask(self, seat: int, answer: type[e.Answer], number: int, limit_ms: float, at_ms: float) -> Request:
        """Open a request."""
        self.requests[seat] = request = Request(answer, number, limit_ms, at_ms)
        return request

    def ask_move(self, seat: int, turn: int, at_ms: float, *, goes_on: bool) -> Request:
        """Open the request of a move.

        Args:
            seat: seat to move.
            turn: number of the request.
            at_ms: now.
            goes_on: whether the turn of the seat's last move goes on, and its time with it.
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
        """Refuse an event whose instants contradict each other or the open request of its seat.

        Raises:
            ImpossibleEvent: it contradicts itself or what the seat was asked.
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
        """Book the time of an answer, or of none, and judge it; the request stays open."""
        request, used_ms = self.requests[event.seat], e.used_ms(event)
        self.used_ms[event.seat] += max(used_ms, 0.0)
        if used_ms <= request.limit_ms:
            return Lateness.IN_TIME
        return Lateness.UNSURE if self._is_unsure(event.stalled_ms, request) else Lateness.LATE

    def charge(self, seat: int, used_ms: float) -> None:
        """Take a move that counts off its turn and off the seat's bank."""
        charged_ms = max(used_ms, 0.0)
        self._turn_ms += charged_ms
        if self._bank_ms is not None:
            self._add(self._bank_ms, seat, -charged_ms)

    def extend(self, seat: int, at_ms: float) -> None:
        """Give the open request its limit once more, from now on."""
        old = self.requests[seat]
        self.requests[seat] = Request(old.answer, old.number, old.limit_ms, at_ms, old.extensions + 1)

    def restart(self, seat: int, last_ms: float, at_ms: float) -> None:
        """Ask an open request again after the referee crashed, with the time that was surely left.

        Args:
            seat: seat whose request it is, if it has one.
            last_ms: instant after which nothing is known.
            at_ms: now.
        """
        if seat in self.requests:
            self._renew(seat, self.requests[seat].left_ms(last_ms), at_ms)

    def charge_absence(self, event: e.SeatReturned) -> None:
        """Ask an open request again after its seat was away, and charge the absence less the referee's delays."""
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
        """Close what a seat that is out was asked.

        Returns:
            Whether it was asked anything.
        """
        if self._mover == seat:
            self._mover = None
        return self.requests.pop(seat, None) is not None

    @staticmethod
    def _add(bank_ms: list[float], seat: int, ms: float) -> None:
        bank_ms[seat] = round(max(bank_ms[seat] + ms, 0.0), _DIGITS)


def _check_delays(event: e.Answer | e.DeadlinePassed | e.SeatReturned, sent_ms: float, request: Request | None) -> None:
    """Refuse an event that tells of a longer delay of the referee than its request was open."""
    name = type(event).__name__
    if request is not None and sent_ms < request.asked_ms:
        raise ImpossibleEvent(f"{name}: a request sent at {sent_ms} ms, which was made at {request.asked_ms} ms")
    span_ms = max(event.at_ms - sent_ms, 0) + _ROUNDING_MS
    if not (0 <= event.lag_ms <= span_ms and 0 <= event.stalled_ms <= span_ms):
        raise ImpossibleEvent(f"{name}: a lag of {event.lag_ms} ms, a standstill of {event.stalled_ms} ms")


def _check_return(event: e.SeatReturned, request: Request | None) -> None:
    """Refuse the return of a player whose delays or absence can't be as long as the event says."""
    _check_delays(event, request.asked_ms if request else event.at_ms, request)
    if not 0 <= event.gone_ms <= event.at_ms + _ROUNDING_MS:
        raise ImpossibleEvent(f"SeatReturned: away for {event.gone_ms} ms, at {event.at_ms} ms")
    if event.stormed_ms < 0:
        raise ImpossibleEvent(f"SeatReturned: a standstill of {event.stormed_ms} ms")
