"""Open requests and each seat's time: limits, banks with an increment, what was used.

A bank, as a chess clock has it: what a seat's moves take goes off it, and for each turn that was in time the increment
is added. Without a bank every turn has the same limit; with one, the smaller of the two counts.
"""

from enum import Enum

from . import events as e
from .phases import Request
from .setup import MatchSetup

MAX_EXTENSIONS = 2
"""How often one request is given a new limit because the referee stood still; then its player had three of them."""
_DIGITS = 3
"""Microseconds, as instants have."""


class Lateness(Enum):
    """What the time of an answer means."""

    IN_TIME = "in time"
    LATE = "late"
    UNSURE = "unsure"
    """Late, but the referee stood still for so long that the player may not be to blame."""


class Timekeeper:
    """The time of all seats.

    Args:
        setup: what was settled.
    """

    def __init__(self, setup: MatchSetup) -> None:
        self.requests: dict[int, Request] = {}
        """The open ones, by seat."""
        self.used_ms = [0.0] * len(setup.names)
        """By seat, the time its answers took, the referee's lag taken off."""
        self._setup = setup
        bank_ms = setup.time.bank_ms
        self._bank_ms = None if bank_ms is None else [bank_ms] * len(setup.names)
        self._turn_ms = 0.0
        """Used of the turn that goes on."""
        self._mover: int | None = None
        """Whose turn it is; None once it is out."""

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
            seat: whose turn it is.
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
        """Ask what is open again, after the referee died: with what was left for sure.

        Args:
            seat: whose request, if it has one.
            last_ms: instant after which nothing is known.
            at_ms: now.
        """
        if seat in self.requests:
            self._renew(seat, self.requests[seat].left_ms(last_ms), at_ms)

    def run_on(self, event: e.SeatReturned) -> None:
        """Ask what is open again, after the seat was away: the time since counts as used, but for the referee's own."""
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
