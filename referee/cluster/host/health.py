"""Whether the timers of a host keep time: while they slip, it takes no matches. All of them are measured in time."""

from collections import deque
from collections.abc import Callable

from ...match.setup import DEFAULT_LAG_MARGIN_MS
from ...net.matches.lag import Lag

SLIP_S = DEFAULT_LAG_MARGIN_MS / 1000
"""A standstill of more than this usually leaves it open who was late; shorter ones are taken off as lag."""
LOOK_BACK_S = 10.0
SICK_S = 1.0
"""So long in all of that, and the host is not well until there is none of it."""


class Health:
    """How long the loop of a host stood still lately.

    Args:
        changed: called with whether it is well, when that changes.
    """

    def __init__(self, changed: Callable[[bool], None]) -> None:
        self.is_well = True
        self._changed = changed
        self._slips: deque[tuple[float, float]] = deque()
        """Begin and end, in monotonic seconds."""

    def listen(self, lag: Lag) -> None:
        """Hear of the standstills of a loop: of one that several beats tell of, once."""
        lag.listeners.add(self.stalled)

    def stalled(self, begin: float, end: float) -> None:
        """Take note of a standstill.

        Args:
            begin: monotonic seconds.
            end: monotonic seconds: now.
        """
        begin = max(begin, self._slips[-1][1]) if self._slips else begin
        if end - begin > SLIP_S:
            self._slips.append((begin, end))
            self.look(end)

    def look(self, now: float) -> None:
        """Look whether it is well, and tell if that has changed; a sick one has to be looked at again.

        Args:
            now: monotonic seconds.
        """
        while self._slips and self._slips[0][1] <= now - LOOK_BACK_S:
            self._slips.popleft()
        still_s = sum(end - begin for begin, end in self._slips)
        is_well = still_s <= SICK_S if self.is_well else not self._slips
        if is_well != self.is_well:
            self.is_well = is_well
            self._changed(is_well)
