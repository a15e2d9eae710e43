"""Reads the sockets of all players: what came on many of them is taken together, stage by stage.

Twisted's loop looks after one descriptor that stands for all of them. What is no plain data, such as the end of a
connection, is left to Twisted, and so is every transport without a socket of its own.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from select import EPOLLIN, EPOLLRDHUP, epoll
from typing import Any

from twisted.python import log
from twisted.python.failure import Failure

from ...clock import Clock
from ..agenda import Agenda
from .player_protocol import PlayerLink

_AT_ONCE = 32
"""Links that are read before anything is said. Twice as many gain no more, and whoever was read first waits longer."""
_READ_BYTES = 65_536


class PlayerSockets:
    """The sockets of one loop's players.

    Args:
        clock: the reactor, or a test's clock, under which no link has a socket.
        agenda: of the loop's matches.
    """

    def __init__(self, clock: Clock, agenda: Agenda) -> None:
        self._reactor: Any = clock
        self._agenda = agenda
        self._links: dict[int, PlayerLink] = {}
        """By descriptor."""
        self._fds: dict[PlayerLink, int] = {}
        """The same the other way round: a link whose socket is closed can't tell any more."""
        self._poll: epoll | None = None
        """Exists while there are links."""

    def watch(self, link: PlayerLink) -> None:
        """Read a link's socket from now on, until it is left."""
        if self._poll is None:
            self._poll = epoll()
            self._reactor.addReader(self)
        fd = link.transport.fileno()
        link.transport.stopReading()
        self._poll.register(fd, EPOLLIN | EPOLLRDHUP)
        self._links[fd], self._fds[link], link.left = link, fd, self.leave

    def leave(self, link: PlayerLink) -> None:
        """Read a link's socket no more, if it is read here."""
        fd = self._fds.pop(link, None)
        if fd is None or self._poll is None:
            return
        del self._links[fd]
        with suppress(OSError):  # it is closed, and so is no more in the set
            self._poll.unregister(fd)
        if not self._links:
            self._reactor.removeReader(self)
            self._poll.close()
            self._poll = None

    # --- for Twisted

    def fileno(self) -> int:
        """Return the descriptor that can be read while any socket can."""
        return -1 if self._poll is None else self._poll.fileno()

    def logPrefix(self) -> str:
        """Say whose faults these are, where Twisted notes one."""
        return type(self).__name__

    def connectionLost(self, reason: Failure) -> None:
        """End every link, as Twisted ends all that it reads when it is stopped."""
        for link in list(self._fds):
            link.transport.connectionLost(reason)

    def doRead(self) -> None:
        """Read every socket that has something, and take what came."""
        if self._poll is None:
            return
        ready = iter(self._poll.poll(0, len(self._links)))
        while some := list(islice(ready, _AT_ONCE)):
            self._take(some)

    def _take(self, ready: Sequence[tuple[int, int]]) -> None:
        """Read some sockets, and let their matches take what came: each match one message at a time.

        So a match is judged as if it were alone: what its seats say next is read once they have been answered.
        """
        waiting = deque(ready)
        rest: deque[PlayerLink] = deque()
        while waiting or rest:
            self._agenda.hold()
            for _ in range(len(rest)):
                self._deliver(rest.popleft(), rest)
            for _ in range(len(waiting)):
                fd, event = waiting.popleft()
                link = self._links.get(fd)  # None: it has left meanwhile
                if link is not None and self._agenda.has(link.owner):
                    waiting.append((fd, event))
                elif link is not None and self._is_read(link, event):
                    self._deliver(link, rest)
            self._agenda.release()

    def _is_read(self, link: PlayerLink, event: int) -> bool:
        """Read a link's socket; return whether it gave anything."""
        try:
            data = link.transport.socket.recv(_READ_BYTES) if event == EPOLLIN else b""
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if data:
            link.receive(data)
        else:
            self.leave(link)
            link.transport.startReading()  # Twisted finds out what it is
        return bool(data)

    def _deliver(self, link: PlayerLink, rest: deque[PlayerLink]) -> None:
        """Let a link take its next message, unless its match has another one to take; add it to the rest for more."""
        if self._agenda.has(link.owner) or _is_more(link):
            rest.append(link)


def _is_more(link: PlayerLink) -> bool:
    """Let a link take the next message; return whether another one may be there."""
    try:
        return link.deliver_next()
    except Exception:  # noqa: BLE001  # as Twisted does: a fault of the referee's own costs this connection alone
        log.err()
        link.transport.abortConnection()
        return False
