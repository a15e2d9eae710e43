"""Reads the sockets of all players, and lets their matches take what came, many together, stage by stage.

Twisted's loop looks after one descriptor that stands for all of them. What is no plain data, such as the end of a
connection, is left to Twisted, and so is every transport without a socket of its own.

All that has come is read, and so has its instant, before the first matches are answered; what comes meanwhile is read
before the next ones are. So a loop that has much to do has hardly ever looked away.
"""

from contextlib import suppress
from select import EPOLLIN, EPOLLRDHUP, epoll
from typing import Any

from twisted.python import log
from twisted.python.failure import Failure

from ...clock import Clock, Timer
from ..agenda import Agenda
from .player_protocol import PlayerLink

_MOST_WAITING = 256
"""Matches that may wait to be answered while the loop does something else: eight times as many as are taken together.

So what is asked is sent within nine turns of the loop, each of which is a standstill if it takes longer than 7.5 ms.
Where more wait, they are taken at once: that the loop stands still meanwhile is noted, as ever.
"""
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
        self._again: Timer | None = None
        """Runs while matches wait to be answered."""

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
        """Read every socket that has something, and take what came; in the next turn, if it begins with that anyway."""
        if self._again is None:
            self._take()

    def _take(self) -> None:
        """Hear what came, and let the first matches take it; the others do in the loop's next turn."""
        self._again = None
        self._agenda.hold()
        try:
            self._read()
        finally:
            self._agenda.release()
        while len(self._agenda) > _MOST_WAITING:
            self._agenda.release()
        if len(self._agenda):
            self._again = self._reactor.callLater(0, self._take)

    def _read(self) -> None:
        """Read every socket that has something, of each match one after the other."""
        if self._poll is None:
            return
        for fd, event in self._poll.poll(0, len(self._links)):
            link = self._links.get(fd)  # None: it has left meanwhile
            if link is None:
                continue
            try:
                self._hear(link, event)
            except Exception:  # noqa: BLE001  # as Twisted does: a fault of the referee's own costs this connection alone
                log.err()
                link.transport.abortConnection()

    def _hear(self, link: PlayerLink, event: int) -> None:
        """Read a link's socket, and let it tell what came."""
        if self._agenda.has(link.owner):
            link.catch_up()
        if link in self._fds and self._is_read(link, event):
            link.deliver()

    def _is_read(self, link: PlayerLink, event: int) -> bool:
        """Read a link's socket; return whether it gave anything. What was said before an end is read before the end."""
        try:
            data = link.transport.socket.recv(_READ_BYTES) if event & ~EPOLLRDHUP == EPOLLIN else b""
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
