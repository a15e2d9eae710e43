"""Measures how long the referee itself was not listening.

A beat is due every BEAT_S. When one comes late, the loop was busy in between (a stall), and whatever a player sent
then was lying unread. The lag of an answer is the part of its time that such stalls account for: between writing the
request and the first chance to send it, and between the answer's possible arrival and its being read. A stall while
the player was still thinking is no lag.

The loop sends and reads at least once between two beats, and when, it does not tell. So what was written between two
beats may have been sent as late as in the next gap, and what was read may have come in the last one: a stall there
counts, in doubt for the player.

Whoever storms the lobby meanwhile may be the cause of a standstill: it is no excuse for who answers for that origin.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from ...clock import Clock, Timer
from ...match.standstills import KEPT_STANDSTILLS, UNNOTICED_MS
from ..links.origin_limits import Storms

BEAT_S = 0.005
"""A stall hardly longer than this (UNNOTICED_MS) goes unnoticed, and a few of them may follow each other.

No verdict hangs on that: requests do not wait for the loop (PlayerLink.flush), and who is late, a look into the socket
tells, not the beat (Stopwatch).
"""
_UNNOTICED_S = UNNOTICED_MS / 1000


def new_process() -> str:
    """Return a name for a process that plays matches, which no other one has."""
    return secrets.token_hex(8)


class _Stall(Struct, frozen=True):
    """A standstill."""

    begin: float
    end: float
    """Two beats."""
    before: float
    """The beat before."""
    storming: frozenset[str]
    """Whom it is no excuse for."""


class Lag:
    """The beat of one event loop, which tells how late the loop is.

    Args:
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
        process: what it is called; empty: by a name of its own.
    """

    def __init__(self, clock: Clock, now: Callable[[], float], process: str = "") -> None:
        self.now = now
        self.process = process or new_process()
        """Names this beat in the records of all matches that it is the beat of."""
        self.begun = now()
        """What their instants are compared by, in monotonic seconds."""
        self.listeners: set[Callable[[float, float], None]] = set()
        """Told of every stall, its begin and its end."""
        self.storms = Storms(now)
        self._last = self._before = now()
        """The last beat, and the one before it."""
        self._stalls: list[_Stall] = []
        self.note: Callable[..., None] = lambda _event, **_facts: None
        """Told of every stall, for the referee's diagnostics."""
        self._clock = clock
        self._beat: Timer | None = None
        """The next one; None: it does not beat."""
        self._first_s = 0.0
        """When it would have been the one before the first, by the clock."""
        self._needs = 0
        """How many need it."""

    def start(self) -> None:
        """Begin to beat; who beats already goes on."""
        self._needs += 1
        if self._beat is None:
            self._last = self._before = self.now()
            self._first_s = self._clock.seconds()
            self._beat = self._clock.callLater(BEAT_S, self._note)

    def stop(self) -> None:
        """Beat no more, unless somebody else needs it."""
        self._needs = max(self._needs - 1, 0)
        if not self._needs and self._beat is not None:
            self._beat.cancel()
            self._beat = None

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat as long as anybody has a limit."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def _note(self) -> None:
        at_s = self._clock.seconds()
        wait_s = BEAT_S - (at_s - self._first_s) % BEAT_S  # a late beat does not put the next one off
        self._beat = self._clock.callLater(BEAT_S if at_s + wait_s == at_s else wait_s, self._note)
        now, last, before = self.now(), self._last, self._before
        self._before, self._last = last, now
        if now - last > _UNNOTICED_S:
            storming = self.storms.origins()
            self._stalls.append(_Stall(last, now, before, storming))
            del self._stalls[:-KEPT_STANDSTILLS]
            blamed = {"storming": sorted(storming)} if storming else {}
            for told in self.listeners:
                told(last, now)
            self.note("loop-stalled", stalled_s=round(now - last, 6), **blamed)

    def was_there(self, sent: float, now: float) -> bool:
        """Tell whether no standstill was noticed between `sent` and `now`: nothing excuses anybody then."""
        return (not self._stalls or self._stalls[-1].end <= sent) and self.present(now) is None

    def present(self, at: float) -> float | None:
        """Return when the standstill began that goes on at an instant, in monotonic seconds; None if none does."""
        return self._last if self._beat is not None and at - self._last > _UNNOTICED_S else None

    def of_sending(self, sent: float, origin: str = "") -> float:
        """Return how long a request written at `sent` may have waited for the loop, in seconds.

        Args:
            sent: monotonic seconds.
            origin: who answers for it, as for all that follow; no standstill excuses it while it storms the lobby.
        """
        end = sent
        for stall in reversed(self._stalls):
            if stall.end <= sent:
                break
            if stall.before <= sent and origin not in stall.storming:
                end = max(end, stall.end)
        return end - sent

    def longest(self, sent: float, now: float, origin: str | None) -> float:
        """Return the longest standstill between `sent` and `now`, in seconds; 0 if the loop was there all the time.

        Args:
            sent: monotonic seconds.
            now: monotonic seconds.
            origin: whom it is to excuse; None: it need not excuse anybody.
        """
        longest = self._present(sent, now, origin)
        for stall in reversed(self._stalls):
            if stall.end <= sent:
                break
            if origin not in stall.storming:
                longest = max(longest, stall.end - max(stall.begin, sent))
        return longest

    def of_reading(self, sent: float, now: float, origin: str = "") -> float:
        """Return how long an answer read at `now` may have been lying unread, in seconds, at most since `sent`."""
        last = self._stalls[-1] if self._stalls else None
        if last is not None and sent < last.end == self._last and origin not in last.storming:
            return now - max(last.begin, sent)
        return self._present(sent, now, origin)

    def _present(self, sent: float, now: float, origin: str | None) -> float:
        """Return for how long the loop has been standing still by now, in seconds."""
        begun = self.present(now)
        return 0.0 if begun is None or origin in self.storms.origins() else now - max(begun, sent)
