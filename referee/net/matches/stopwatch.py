"""The instants of a match, and the deadlines of its open requests.

A deadline is absolute. When it passes, what the socket already holds is read first: nobody is late for bytes that the
referee had not looked at. So an answer is late only once the referee has looked after the deadline and found none: one
that is read before that may have come at any time since the last look, whatever the clock says when its turn comes.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ...clock import Clock, Timer
from ...match.timekeeper import MAX_LOOKS, UNNOTICED_MS, Standstill
from ..event_loop import Lag

MARGIN_MS = 0.002
"""Covers the rounding of instants where the referee grants a player its whole limit."""


class _Open(Struct):
    """A request that a seat has not answered."""

    sent: float
    limit_ms: float
    origin: str
    """Who answers for the seat's connection."""
    bytes_seen: int = 0
    drains: int = 0


class Stopwatch:
    """One match's instants, in milliseconds since it was opened, and its deadlines.

    Args:
        clock: the reactor, or a test's clock.
        lag: the loop's beat.
        last_ms: instant of the match's last event, if it is not new but resumed.
        bytes_of: how many bytes a seat's socket has given so far.
        passed: called with a seat whose deadline has passed, and the instants of that.
    """

    def __init__(
        self,
        clock: Clock,
        lag: Lag,
        *,
        last_ms: float,
        bytes_of: Callable[[int], int],
        passed: Callable[[int, Mapping[str, Any]], None],
    ) -> None:
        self._clock = clock
        self._now = lag.now
        self._lag = lag
        self._begin_ms = last_ms
        self._opened = lag.now() - last_ms / 1000
        self._untold: deque[tuple[float, float]] = deque()
        """Begin and end of standstills, in monotonic seconds."""
        lag.listeners.add(self._stood_still)
        self._bytes_of = bytes_of
        self._passed = passed
        self._open: dict[int, _Open] = {}
        self._timers: dict[int, Timer] = {}

    def ms(self, instant: float) -> float:
        """Return an instant of the clock, to a microsecond."""
        return round((instant - self._opened) * 1000, 3)

    def at_ms(self) -> float:
        """Return the present instant."""
        return self.ms(self._now())

    @property
    def beat(self) -> dict[str, Any]:
        """By which clock the instants are: that of `process`, by which they began at `clock_ms`."""
        return {"process": self._lag.process, "clock_ms": round((self._opened - self._lag.begun) * 1000, 3)}

    def standstills(self, at_ms: float) -> list[Standstill]:
        """Return the loop's standstills up to an instant that were not returned before.

        The one that went on at that instant is included, up to then, though it may be over by now: an answer is judged
        by what was known when it was read.
        """
        over: list[Standstill] = []
        while self._untold and (end_ms := self.ms(self._untold[0][1])) <= at_ms:
            over.append((self._since_ms(self._untold.popleft()[0]), end_ms))
        begun = self._standing_still_since(self._opened + at_ms / 1000)
        return over if begun is None else [*over, (self._since_ms(begun), at_ms)]

    def _since_ms(self, begun: float) -> float:
        """Return since when a standstill was one of this match, too, which may have begun later."""
        return max(self.ms(begun), self._begin_ms)

    def _standing_still_since(self, at: float) -> float | None:
        """Return when the standstill began that went on at an instant, in monotonic seconds; None if none did."""
        if not self._untold:
            return self._lag.present(at)
        begun = self._untold[0][0]
        return begun if (at - begun) * 1000 > UNNOTICED_MS else None

    def close(self) -> None:
        """Take no more note of standstills."""
        self._lag.listeners.discard(self._stood_still)

    def _stood_still(self, begin: float, end: float) -> None:
        self._untold.append((begin, end))

    def begin(self, seat: int, limit_ms: float, origin: str = "") -> None:
        """Expect a seat's answer from now on.

        Args:
            seat: whose.
            limit_ms: how long it may take.
            origin: who answers for the seat's connection; no standstill excuses it while it storms the lobby.
        """
        self._open[seat] = _Open(self._now(), limit_ms, origin)
        self._arm(seat, (limit_ms + MARGIN_MS) / 1000)

    def end(self, seat: int, first_byte: float, at: float) -> dict[str, float] | None:
        """Take a seat's answer.

        Args:
            seat: whose.
            first_byte: when its first byte was read, in monotonic seconds.
            at: when it was complete.

        Returns:
            The instants of the answer's event; None: nothing is expected of the seat any more.
        """
        request = self._open.pop(seat, None)
        if request is None:
            return None
        sent_ms, at_ms = self.ms(request.sent), self.ms(at)
        span_ms = at_ms - sent_ms
        first_look_ms = span_ms - request.limit_ms + MARGIN_MS
        instants = {
            "at_ms": at_ms,
            "sent_ms": sent_ms,
            "first_byte_ms": at_ms if first_byte == at else max(self.ms(first_byte), sent_ms),
            "lag_ms": max(0.0, round(min(first_look_ms, span_ms), 3)),
        }
        if not self._lag.was_there(request.sent, at):
            instants["lag_ms"] = max(instants["lag_ms"], self._lag_ms(request, at, span_ms))
            instants |= self._standstill(request, at, span_ms)
        return instants

    def lags(self, seat: int, at_ms: float, waited_since_ms: float | None) -> dict[str, float]:
        """Return what of the time since a seat was asked was the referee's: lag and standstills, if there is any.

        Args:
            seat: whose.
            at_ms: until when: the instant of the event that tells of it.
            waited_since_ms: since when its request waited for the disk before it was sent; None: it did not.
        """
        request, at = self._open.get(seat), self._opened + at_ms / 1000
        sent_ms = at_ms if request is None else self.ms(request.sent)
        waited_ms = 0.0 if waited_since_ms is None else sent_ms - waited_since_ms
        if request is None:
            return {"lag_ms": round(waited_ms, 3)} if waited_ms else {}
        span_ms = at_ms - sent_ms
        lag_ms = round(self._lag_ms(request, at, span_ms) + waited_ms, 3)
        return {**({"lag_ms": lag_ms} if lag_ms else {}), **self._standstills(request, at, span_ms)}

    def forget(self, seat: int) -> None:
        """Expect nothing of a seat any more."""
        self._open.pop(seat, None)
        timer = self._timers.pop(seat, None)
        if timer is not None:
            timer.cancel()

    def _lag_ms(self, request: _Open, at: float, span_ms: float) -> float:
        """Return how much of the time since a request the loop's standstills account for."""
        lag_ms = self._sending_ms(request) + self._lag.of_reading(request.sent, at, request.origin) * 1000
        return round(max(min(lag_ms, span_ms), 0.0), 3)

    def _sending_ms(self, request: _Open) -> float:
        return self._lag.of_sending(request.sent, request.origin) * 1000

    def _standstill(self, request: _Open, at: float, span_ms: float) -> dict[str, float]:
        """Return `stalled_ms`, if there is anything to say of it: no more, once rounded, than the whole time."""
        stalled_ms = round(min(self._lag.longest(request.sent, at, request.origin) * 1000, span_ms), 3)
        return {"stalled_ms": stalled_ms} if stalled_ms else {}

    def _standstills(self, request: _Open, at: float, span_ms: float) -> dict[str, Any]:
        """Return `stalled_ms`, and `stormed_ms` if a longer one is no excuse for the seat."""
        told = self._standstill(request, at, span_ms)
        longest_ms = round(min(self._lag.longest(request.sent, at, None) * 1000, span_ms), 3)
        is_excused = longest_ms <= told.get("stalled_ms", 0.0)
        return told if is_excused else {**told, "stormed_ms": longest_ms}

    def _arm(self, seat: int, delay_s: float) -> None:
        """See to it that the seat's limit is looked at in time.

        A timer that goes off too early only arms itself again: most turns are answered long before, and to leave the
        last turn's timer running costs less than to cancel it and start another.
        """
        timer = self._timers.get(seat)
        if timer is None:
            self._timers[seat] = self._clock.callLater(delay_s, self._limit_reached, seat)
        elif timer.getTime() > self._clock.seconds() + delay_s:
            timer.reset(delay_s)

    def _limit_reached(self, seat: int) -> None:
        """Look into the socket once more before anything is held against the player."""
        del self._timers[seat]
        request = self._open.get(seat)
        if request is None:
            return
        used_ms = self.at_ms() - self.ms(request.sent)
        left_ms = request.limit_ms + self._sending_ms(request) - used_ms
        if left_ms >= 0:
            self._arm(seat, (left_ms + MARGIN_MS) / 1000)
            return
        request.drains = 1
        request.bytes_seen = self._bytes_of(seat)
        self._clock.callLater(0, self._drained, seat, request)

    def _drained(self, seat: int, request: _Open) -> None:
        if self._open.get(seat) is not request:
            return
        received = self._bytes_of(seat)
        now = self._now()
        sent_ms, at_ms = self.ms(request.sent), self.ms(now)
        lag_ms = round(min(self._sending_ms(request), at_ms - sent_ms), 3)
        is_reading = received != request.bytes_seen and request.drains < MAX_LOOKS
        if is_reading or at_ms - sent_ms - lag_ms <= request.limit_ms:
            request.bytes_seen = received
            request.drains += 1
            self._clock.callLater(0 if is_reading else MARGIN_MS / 1000, self._drained, seat, request)
            return
        del self._open[seat]
        span_ms = at_ms - sent_ms
        standstills = self._standstills(request, now, span_ms)
        self._passed(seat, {"at_ms": at_ms, "sent_ms": sent_ms, "lag_ms": lag_ms, **standstills})
