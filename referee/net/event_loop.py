"""One event loop, as the matches and lobbies that share it see it."""

from collections.abc import Callable
from typing import Any

from ..clock import Clock
from .agenda import Agenda
from .links.origin_limits import MOST_OF_ORIGIN, OriginLimiter, most_open
from .links.player_sockets import PlayerSockets
from .matches.lag import Lag


class EventLoop:
    """An event loop: how late it is, what its matches have to do, and the sockets that it reads for them.

    Args:
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
        process: its name in records; empty: a new one.
    """

    def __init__(self, clock: Clock, now: Callable[[], float], process: str = "") -> None:
        self.now = now
        self.lag = Lag(clock, now, process)
        self.agenda = Agenda()
        self.sockets = PlayerSockets(clock, self.agenda)
        self.origins: OriginLimiter[Any] = OriginLimiter(MOST_OF_ORIGIN, most_open())
        """Limits the connections that have no seat yet, in whatever lobby, by where they come from."""
