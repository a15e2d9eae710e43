"""The instants of a match, and the deadlines of its open requests."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ...clock import Clock, Timer
from ...match.timekeeper import MAX_LOOKS, UNNOTICED_MS, Standstill
from ..event_loop import Lag

# A deadline is absolute, but the timer that announces it is not: it may go off long after, because the loop was busy,
# while the answer has been lying in the socket all the time. So a deadline that has passed only starts a last look: the
# loop takes one more turn, which reads the socket. If bytes came, it takes another one (an answer may be many reads
# long), up to MAX_LOOKS. Only a look that finds nothing makes the player late. An answer that is read before that may
# have arrived at any time since the look before, so it counts as in time, whatever the clock says by then.

MARGIN_MS = 0.002
"""Milliseconds that cover the rounding of instants where a player is granted its whole limit."""


class _Request(Struct):
    """A request that a seat has not answered."""

    sent: float
    """When it was sent, in monotonic seconds."""
    limit_ms: float
    origin: str
    """Origin of the seat's connection; stalls while it storms the lobby do not count."""
    bytes_seen: int = 0
    """Bytes that had come from the seat at the last look."""
    looks: int = 0


class Stopwatch:
    """The instants of one match, in milliseconds since it was opened, and its deadlines.

    Args:
        clock: the reactor, or a test's clock.
        lag: measures the loop's stalls.
        last_ms: instant of the match's last event; not 0 if the match is resumed.
        count_bytes: returns how many bytes have come from a seat so far.
        on_deadline: called with a seat whose deadline has passed, and the instants of that event.
    """

    def __init__(
        self,
        clock: Clock,
        lag: Lag,
        *,
        last_ms: float,
        count_bytes: Callable[[int], int],
        on_deadline: Callable[[int, Mapping[str, Any]], None],
    ) -> None:
        self._clock = clock
        self._now = lag.now
        self._lag = lag
        self._begin_ms = last_ms
        self._opened = lag.now() - last_ms / 1000
        """Instant 0 of the match, in monotonic seconds."""
        self._stalls: deque[tuple[float, float]] = deque()
        """Begin and end of the stalls that no event has reported yet, in monotonic seconds."""
        lag.listeners.add(self._note_stall)
        self._count_bytes = count_bytes
        self._on_deadline = on_deadline
        self._requests: dict[int, _Request] = {}
        """Seat -> its open request."""
        self._timers: dict[int, Timer] = {}

    def ms(self, instant: float) -> float:
        """Convert an instant of the clock into one of the match, rounded to a microsecond."""
        return round((instant - self._opened) * 1e6) / 1000  # round(x, 3) takes three times as long

    def at_ms(self) -> float:
        """Return the present instant."""
        return self.ms(self._now())

    @property
    def clock_facts(self) -> dict[str, Any]:
        """The name of the process whose clock this is, and what that clock showed at instant 0 of the match."""
        return {"process": self._lag.process, "clock_ms": round((self._opened - self._lag.begun) * 1000, 3)}

    def take_standstills(self, at_ms: float) -> list[Standstill]:
        """Return the loop's stalls up to an instant that were not returned before, for the record.

        A stall that went on at that instant is included up to then, though it may be over by now: an answer is judged
        by what was known when it was read. The rest of it is returned next time.

        Args:
            at_ms: instant of an event of the match.
        """
        stalls: list[Standstill] = []
        while self._stalls and (end_ms := self.ms(self._stalls[0][1])) <= at_ms:
            stalls.append((self._limit_begin(self._stalls.popleft()[0]), end_ms))
        at = self._opened + at_ms / 1000
        if not self._stalls:
            begin = self._lag.stalled_since(at)
        else:
            begin = self._stalls[0][0] if (at - self._stalls[0][0]) * 1000 > UNNOTICED_MS else None
        return stalls if begin is None else [*stalls, (self._limit_begin(begin), at_ms)]

    def _limit_begin(self, begin: float) -> float:
        """Return the beginning of a stall, or that of the match if it is later, in milliseconds."""
        return max(self.ms(begin), self._begin_ms)

    def close(self) -> None:
        """Note no more stalls."""
        self._lag.listeners.discard(self._note_stall)

    def _note_stall(self, begin: float, end: float) -> None:
        self._stalls.append((begin, end))

    def begin(self, seat: int, limit_ms: float, origin: str = "") -> None:
        """Expect a seat's answer from now on.

        Args:
            seat: seat that was sent a request.
            limit_ms: longest time for the answer.
            origin: origin of the seat's connection; stalls while it storms the lobby do not count.
        """
        self._requests[seat] = _Request(self._now(), limit_ms, origin)
        self._arm(seat, (limit_ms + MARGIN_MS) / 1000)

    def end(self, seat: int, first_byte: float, at: float) -> dict[str, float] | None:
        """Take a seat's answer.

        Args:
            seat: seat that answered.
            first_byte: when the first byte of the answer was read, in monotonic seconds.
            at: when the answer was complete.

        Returns:
            The instants of the answer's event; None if the seat has no open request.
        """
        request = self._requests.pop(seat, None)
        if request is None:
            return None
        sent_ms, at_ms = self.ms(request.sent), self.ms(at)
        span_ms = at_ms - sent_ms
        # # An answer that was read before the last look is in time, however late that look came.
        over_limit_ms = span_ms - request.limit_ms + MARGIN_MS
        instants = {
            "at_ms": at_ms,
            "sent_ms": sent_ms,
            "first_byte_ms": at_ms if first_byte == at else max(self.ms(first_byte), sent_ms),
            "lag_ms": round(min(over_limit_ms, span_ms), 3) if over_limit_ms > 0 else 0.0,
        }
        if not self._lag.was_punctual(request.sent, at):
            instants["lag_ms"] = max(instants["lag_ms"], self._measure_lag(request, at, span_ms))
            instants |= self._longest_stall(request, at, span_ms)
        return instants

    def measure_delays(self, seat: int, at_ms: float, waited_since_ms: float | None) -> dict[str, float]:
        """Return the delays that the referee caused since a seat was asked; a delay of 0 is left out.

        Args:
            seat: seat whose request it is.
            at_ms: instant of the event that reports them.
            waited_since_ms: since when the request waited for the disk before it was sent; None: it did not.
        """
        request, at = self._requests.get(seat), self._opened + at_ms / 1000
        sent_ms = at_ms if request is None else self.ms(request.sent)
        waited_ms = 0.0 if waited_since_ms is None else sent_ms - waited_since_ms
        if request is None:
            return {"lag_ms": round(waited_ms, 3)} if waited_ms else {}
        span_ms = at_ms - sent_ms
        lag_ms = round(self._measure_lag(request, at, span_ms) + waited_ms, 3)
        return {**({"lag_ms": lag_ms} if lag_ms else {}), **self._all_stalls(request, at, span_ms)}

    def forget(self, seat: int) -> None:
        """Stop expecting an answer from a seat."""
        self._requests.pop(seat, None)
        timer = self._timers.pop(seat, None)
        if timer is not None:
            timer.cancel()

    def _measure_lag(self, request: _Request, at: float, span_ms: float) -> float:
        """Return the part of the time since a request that stalls account for, in milliseconds."""
        reading_ms = self._lag.reading_delay(request.sent, at, request.origin) * 1000
        return round(max(min(self._sending_delay_ms(request) + reading_ms, span_ms), 0.0), 3)

    def _sending_delay_ms(self, request: _Request) -> float:
        return self._lag.sending_delay(request.sent, request.origin) * 1000

    def _longest_stall(self, request: _Request, at: float, span_ms: float) -> dict[str, float]:
        """Return `stalled_ms`, unless it is 0; rounding must not make it longer than the whole time."""
        stalled_ms = round(min(self._lag.longest_stall(request.sent, at, request.origin) * 1000, span_ms), 3)
        return {"stalled_ms": stalled_ms} if stalled_ms else {}

    def _all_stalls(self, request: _Request, at: float, span_ms: float) -> dict[str, Any]:
        """Return `stalled_ms`, and `stormed_ms` if a longer stall is no excuse for the seat."""
        excused = self._longest_stall(request, at, span_ms)
        longest_ms = round(min(self._lag.longest_stall(request.sent, at, None) * 1000, span_ms), 3)
        return excused if longest_ms <= excused.get("stalled_ms", 0.0) else {**excused, "stormed_ms": longest_ms}

    def _arm(self, seat: int, delay_s: float) -> None:
        """Have the seat's limit checked after a delay.

        A timer that goes off too early only arms itself again: most turns are answered long before their limit, and
        leaving the last turn's timer running costs less than starting a new one.
        """
        timer = self._timers.get(seat)
        if timer is None:
            self._timers[seat] = self._clock.callLater(delay_s, self._check_limit, seat)
        elif timer.getTime() > self._clock.seconds() + delay_s:
            timer.reset(delay_s)

    def _check_limit(self, seat: int) -> None:
        """Begin the last look if the seat's limit is over; the time until its request was sent does not count."""
        del self._timers[seat]
        request = self._requests.get(seat)
        if request is None:
            return
        used_ms = self.at_ms() - self.ms(request.sent)
        left_ms = request.limit_ms + self._sending_delay_ms(request) - used_ms
        if left_ms >= 0:
            self._arm(seat, (left_ms + MARGIN_MS) / 1000)
            return
        request.looks = 1
        request.bytes_seen = self._count_bytes(seat)
        self._clock.callLater(0, self._look, seat, request)

    def _look(self, seat: int, request: _Request) -> None:
        """Declare the deadline passed, unless the loop's last turn has read something from the seat."""
        if self._requests.get(seat) is not request:
            return
        received = self._count_bytes(seat)
        now = self._now()
        sent_ms, at_ms = self.ms(request.sent), self.ms(now)
        lag_ms = round(min(self._sending_delay_ms(request), at_ms - sent_ms), 3)
        is_reading = received != request.bytes_seen and request.looks < MAX_LOOKS
        if is_reading or at_ms - sent_ms - lag_ms <= request.limit_ms:
            request.bytes_seen = received
            request.looks += 1
            self._clock.callLater(0 if is_reading else MARGIN_MS / 1000, self._look, seat, request)
            return
        del self._requests[seat]
        stalls = self._all_stalls(request, now, at_ms - sent_ms)
        self._on_deadline(seat, {"at_ms": at_ms, "sent_ms": sent_ms, "lag_ms": lag_ms, **stalls})
