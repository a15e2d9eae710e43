"""Measures how long the referee itself was not listening. Knows the loop's beat; refuses to know players.

A beat is due every BEAT_S. When one comes late, the loop was busy in between (a stall), and whatever a player sent
then was lying unread. The lag of an answer is the part of its time that such stalls account for: between writing the
request and the first chance to send it, and between the answer's possible arrival and its being read. A stall while
the player was still thinking is no lag.

The loop sends and reads at least once between two beats, and when, it does not tell. So what was written between two
beats may have been sent as late as in the next gap, and what was read may have come in the last one: a stall there
counts, in doubt for the player.
"""

from collections.abc import Callable
from typing import Any, cast

from twisted.internet.task import LoopingCall

from .clock import Clock

BEAT_S = 0.005
"""A stall hardly longer than this goes unnoticed, and a few of them may follow each other.

No verdict hangs on that: requests do not wait for the loop (PlayerLink.flush), and who is late, a look into the socket
tells, not the beat (Stopwatch).
"""
_SLACK_S = 0.0025
_KEPT = 256
"""Stalls remembered; a request is rarely open across more."""


class LoopLag:
    """The beat of one event loop.

    Args:
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
    """

    def __init__(self, clock: Clock, now: Callable[[], float]) -> None:
        self._now = now
        self._last = self._before = now()
        """The last beat, and the one before it."""
        self._stalls: list[tuple[float, float, float]] = []
        """Begin and end of each, two beats; and the beat before."""
        self.note: Callable[..., None] = lambda _event, **_facts: None
        """Told of every stall, for the referee's diagnostics."""
        self._beat = LoopingCall(self._note)
        self._beat.clock = cast("Any", clock)

    def start(self) -> None:
        """Begin to beat."""
        self._last = self._before = self._now()
        self._beat.start(BEAT_S, now=False)

    def stop(self) -> None:
        """Beat no more."""
        if self._beat.running:
            self._beat.stop()

    def _note(self) -> None:
        now, last, before = self._now(), self._last, self._before
        self._before, self._last = last, now
        if now - last > BEAT_S + _SLACK_S:
            self._stalls.append((last, now, before))
            del self._stalls[:-_KEPT]
            self.note("loop-stalled", stalled_s=round(now - last, 6))

    def of_sending(self, sent: float) -> float:
        """Return how long a request written at `sent` may have waited for the loop, in seconds."""
        end = sent
        for _, stall_end, before in reversed(self._stalls):
            if stall_end <= sent:
                break
            if before <= sent:
                end = max(end, stall_end)
        return end - sent

    def longest(self, sent: float, now: float) -> float:
        """Return the longest standstill between `sent` and `now`, in seconds; 0 if the loop was there all the time."""
        longest = now - max(self._last, sent) if now - self._last > BEAT_S + _SLACK_S else 0.0
        for start, end, _ in reversed(self._stalls):
            if end <= sent:
                break
            longest = max(longest, end - max(start, sent))
        return longest

    def of_reading(self, sent: float, now: float) -> float:
        """Return how long an answer read at `now` may have been lying unread, in seconds, at most since `sent`."""
        if self._stalls and self._stalls[-1][1] == self._last:
            return now - max(self._stalls[-1][0], sent)
        return now - max(self._last, sent) if now - self._last > BEAT_S + _SLACK_S else 0.0
