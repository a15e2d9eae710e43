"""Limits for connections that have not said hello yet: how many may be open, which is closed first.

Connections are counted by origin: a network address, or the program that a private socket belongs to. The counts change
as connections come and go, so one more connection costs the same however many there are. An origin that connects too
fast storms the lobby.
"""

import resource
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_OF_ORIGIN = 64
"""Most connections of one origin without a hello. A whole class behind one router may connect at once; hundreds of
connections from one place are no players."""
MOST_IN_ALL = 512
"""Most connections without a hello: half of the 1024 files that a process may open, since records need some, too."""
STORM = 512
"""Most connections of one origin at once that do not count as a storm; STORM_A_S more are allowed every second. The
programs of a whole tournament start on one machine; a loop that connects and closes makes thousands a second."""
STORM_A_S = 256.0
_MOST_ORIGINS = 1024
"""Most origins whose connections are counted."""

_Member = TypeVar("_Member", bound=Hashable)


def most_open() -> int:
    """Return how many connections without a hello may be open."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_IN_ALL if limit == resource.RLIM_INFINITY else min(MOST_IN_ALL, limit // 2)


class OriginLimiter(Generic[_Member]):
    """Counts connections without a hello; if there are too many, one of the origin with the most has to go.

    Args:
        of_origin: most connections of one origin.
        in_all: most connections of all origins.
    """

    def __init__(self, of_origin: int, in_all: int) -> None:
        self._of_origin = min(of_origin, max(in_all // 4, 1))
        self._in_all = in_all
        self._origins: dict[_Member, str] = {}
        self._members: dict[str, dict[_Member, None]] = {}
        """Origin -> its connections, the oldest first."""

    def add(self, member: _Member, origin: str) -> _Member | None:
        """Count a connection.

        Returns:
            The connection that has to go, and is not counted any more: the oldest one of the same origin, or of the
            origin with the most; None if there is room.
        """
        self._origins[member] = origin
        same = self._members.setdefault(origin, {})
        same[member] = None
        if len(same) > self._of_origin:
            return self._pop_oldest(same)
        if len(self._origins) > self._in_all:
            return self._pop_oldest(max(self._members.values(), key=len))
        return None

    def discard(self, member: _Member) -> None:
        """Stop counting a connection: it ended, or has said hello."""
        origin = self._origins.pop(member, None)
        if origin is not None:
            self._members[origin].pop(member)
            if not self._members[origin]:
                del self._members[origin]

    def __contains__(self, member: _Member) -> bool:
        return member in self._origins

    def _pop_oldest(self, members: dict[_Member, None]) -> _Member:
        oldest = next(iter(members))
        self.discard(oldest)
        return oldest


class Storms:
    """Finds origins whose connections come faster than any honest player makes them.

    Args:
        now: returns monotonic seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.levels: dict[str, tuple[float, float]] = {}
        """Origin -> number of its recent connections, and the time of that count; the latest origin is last."""
        self._storming: set[str] = set()
        """Origins that stormed at the last call of `origins` or after it; nearly always none."""

    def count(self, origin: str) -> None:
        """Count a connection."""
        level = min(self._level(origin) + 1, 2 * STORM)  # so that a storm ends soon after its last connection
        self.levels.pop(origin, None)
        self.levels[origin] = level, self._now()
        if level > STORM:
            self._storming.add(origin)
        if len(self.levels) > _MOST_ORIGINS:
            del self.levels[next(iter(self.levels))]

    def origins(self) -> frozenset[str]:
        """Return the origins that storm the lobby now."""
        self._storming = {origin for origin in self._storming if self._level(origin) > STORM}
        return frozenset(self._storming)

    def _level(self, origin: str) -> float:
        level, at = self.levels.get(origin, (0.0, 0.0))
        return max(level - (self._now() - at) * STORM_A_S, 0.0)
