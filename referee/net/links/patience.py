"""Time limits outside of a match, which a standstill of the referee prolongs: for a hello, a free seat, a return.

They follow the rule of those within (Stopwatch): after a standstill longer than the margin nobody is judged late, but
has the limit again, twice at most; and before anybody is, what the sockets already hold is taken.
"""

from collections.abc import Callable
from typing import Any

from ...clock import Clock, Timer
from ...match.setup import DEFAULT_LAG_MARGIN_MS
from ...match.timekeeper import MAX_EXTENSIONS
from ..event_loop import EventLoop

_LOOKS = 2
"""Turns of the loop after a limit: in the first a connection is taken, in the second its first bytes are read."""


class Wait:
    """One limit that runs.

    Args:
        patience: its kind's.
        limit_s: from now on.
        origin: who answers for whoever is waited for.
        passed: called when the limit has passed.
    """

    def __init__(self, patience: "Patience", limit_s: float, origin: str, passed: Callable[[], Any]) -> None:
        self._patience = patience
        self._limit_s = limit_s
        self._origin = origin
        self._passed = passed
        self._extensions = 0
        self._looks = 0
        self._begin()

    def cancel(self) -> None:
        """Wait no more, if it still is waited."""
        if self._timer.active():
            self._timer.cancel()

    def _begin(self) -> None:
        self._begun = self._patience.loop.now()
        self._timer: Timer = self._patience.clock.callLater(self._limit_s, self._reached)

    def _reached(self) -> None:
        if self._extensions < MAX_EXTENSIONS and self._patience.stood_still(self._begun, self._origin):
            self._extensions += 1
            self._begin()
        else:
            self._look()

    def _look(self) -> None:
        if self._looks == _LOOKS:
            self._passed()
        else:
            self._looks += 1
            self._timer = self._patience.clock.callLater(0, self._look)


class Patience:
    """The rule for all limits of one lobby.

    Args:
        clock: the reactor, or a test's clock.
        loop: whose standstills excuse.
        margin_ms: a standstill up to this long excuses nobody.
    """

    def __init__(self, clock: Clock, loop: EventLoop, margin_ms: float = DEFAULT_LAG_MARGIN_MS) -> None:
        self.clock = clock
        self.loop = loop
        self._margin_s = margin_ms / 1000

    def wait(self, limit_s: float, passed: Callable[..., Any], *args: Any, origin: str = "") -> Wait:
        """Call a function after a limit, unless that is called off.

        Args:
            limit_s: from now on.
            passed: the function.
            args: its own.
            origin: who answers for whoever is waited for; no standstill excuses it while it storms the lobby.
        """
        return Wait(self, limit_s, origin, lambda: passed(*args))

    def stood_still(self, since: float, origin: str) -> bool:
        """Tell whether the loop stood still for longer than the margin.

        Args:
            since: in monotonic seconds.
            origin: who answers for whoever is waited for.
        """
        return self.loop.lag.longest(since, self.loop.now(), origin) > self._margin_s
