"""How long the site stands still: what its visitors wait for while it is busy with one thing."""

from collections import deque
from typing import Any

from twisted.internet.task import LoopingCall

LOOK_S = 1.0
KEPT = 60
"""Looks: the last minute."""


class SiteLag:
    """Looks every second how late it is."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock
        self._late_s = deque[float](maxlen=KEPT)
        self._due = 0.0
        self._look = LoopingCall(self._looked)
        self._look.clock = clock

    def begin(self) -> None:
        """Look from now on."""
        self._due = self._clock.seconds() + LOOK_S
        self._look.start(LOOK_S, now=False)

    def stop(self) -> None:
        """Look no more."""
        self._look.stop()

    def longest_ms(self) -> float:
        """Return the longest time of the last minute."""
        return 1000 * max(self._late_s, default=0.0)

    def _looked(self) -> None:
        now = self._clock.seconds()
        self._late_s.append(max(now - self._due, 0.0))
        self._due = now + LOOK_S
