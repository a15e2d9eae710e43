"""Rate limits: how many requests each author or address may send, and how long it has to wait."""

# A limit is a leaky bucket. Counting the requests of each minute would be simpler. But a client could then send twice
# the limit around the end of a minute, and after that would be shut out for the rest of the next minute.

from collections.abc import Callable
from math import ceil

from ..errors import RemediableError

MINUTE_S, HOUR_S = 60.0, 3600.0
_MOST_KNOWN = 4096
"""Most clients in memory: strangers can use any number of addresses, so the list needs a limit."""
_TOLERANCE = 1e-9
"""Largest error that rounding may cause in a level."""


class TooOften(RemediableError):
    """The refusal of a request that the client may repeat after a while."""


class RateLimit:
    """Limits the requests of each client: to `most` at once, and to `most` more in each period after that.

    A client that has reached the limit waits until there is room for one more request, not until the period is over:
    many people may share an address, and one of them must not shut the others out.

    Args:
        what: name of the counted things, for the error message.
        most: limit within a period.
        now: returns monotonic seconds.
        period_s: length of the period in seconds: a minute or an hour.
    """

    def __init__(self, what: str, most: float, now: Callable[[], float], period_s: float = MINUTE_S) -> None:
        self._said = f"more than {most:g} {what} {'a minute' if period_s == MINUTE_S else 'an hour'}"
        self._most = most
        self._now = now
        self._period_s = period_s
        self._levels: dict[str, tuple[float, float]] = {}
        """Client -> level, and the time of that level; the client that asked last is at the end."""

    def count(self, who: str, cost: float = 1.0) -> None:
        """Count a request.

        Args:
            who: client that sends the request.
            cost: share of the limit that the request takes; 0: only check that the limit is not reached.

        Raises:
            TooOften: the limit is reached, and the request was not counted; the text says how long to wait.
        """
        excess = self._level(who) + cost - self._most
        if excess > _TOLERANCE:
            wait_s = excess * self._period_s / self._most
            raise TooOften(self._said, f"try again in {max(ceil(wait_s - _TOLERANCE), 1)} s")
        self.charge(who, cost)

    def charge(self, who: str, cost: float) -> None:
        """Count a cost that has already arisen, even beyond the limit; a negative cost takes a request back."""
        level = self._level(who) + cost
        self._levels.pop(who, None)
        self._levels[who] = level, self._now()
        if len(self._levels) > _MOST_KNOWN:
            del self._levels[next(iter(self._levels))]

    def _level(self, who: str) -> float:
        level, at = self._levels.get(who, (0.0, 0.0))
        return max(level - (self._now() - at) * self._most / self._period_s, 0.0)
