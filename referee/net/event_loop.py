"""One event loop, as the matches and lobbies that share it see it: agenda, lag and sockets.

Lag is how long the referee itself was not listening. A beat is due every BEAT_S. When one comes late, the loop was busy
in between (a stall), and whatever a player sent then was lying unread. The lag of an answer is the part of its time
that such stalls account for: between writing the request and the first chance to send it, and between the answer's
possible arrival and its being read. A stall while the player was still thinking is no lag.

The loop sends and reads at least once between two beats, and when, it does not tell. So what was written between two
beats may have been sent as late as in the next gap, and what was read may have come in the last one: a stall there
counts, in doubt for the player.

Whoever storms the lobby meanwhile may be the cause of a standstill: it is no excuse for who answers for that origin.
"""

import gc
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from select import EPOLLIN, EPOLLRDHUP, epoll
from typing import Any

from msgspec import Struct
from twisted.python import log
from twisted.python.failure import Failure

from ..clock import Clock, Timer
from ..match.timekeeper import KEPT_STANDSTILLS, UNNOTICED_MS
from .links.origin_limits import MOST_OF_ORIGIN, OriginLimiter, Storms, most_open
from .links.player_protocol import PlayerLink

Stages = tuple[Callable[[], None], ...]
"""What is done for one step of a match, in order; whatever else the agenda holds is at the same stage."""
AT_ONCE = 32
"""Matches that are taken together. Twice as many gain no more, and sockets would be looked at less often."""


class Agenda:
    """The matches of one loop that have something to take."""

    def __init__(self) -> None:
        self._due: dict[object, Stages] = {}
        """By match, in the order in which they came."""
        self._is_held = False

    def __len__(self) -> int:
        """Return how many matches have a step to take."""
        return len(self._due)

    def add(self, match: object, stages: Stages) -> None:
        """Take a step of a match: now, or together with those of others that come while the agenda is held."""
        if self._is_held:
            self._due[match] = stages
        else:
            self._take({match: stages})

    def has(self, match: object) -> bool:
        """Tell whether a match has a step to take."""
        return match in self._due

    def hold(self) -> None:
        """Let steps gather."""
        self._is_held = True

    def release(self) -> None:
        """Take the steps of the first matches, and those that follow; the others wait for the next time."""
        self._take(dict(islice(self._due.items(), AT_ONCE)))

    def _take(self, first: dict[object, Stages]) -> None:
        """Take the steps of some matches, and those that follow from them, whosever they are."""
        waiting, self._due, self._is_held = self._due, first, True
        try:
            while self._due:
                due, self._due = self._due, {}
                for match in due:
                    waiting.pop(match, None)
                for stage in zip(*due.values(), strict=True):
                    for act in stage:
                        try:
                            act()
                        except Exception:  # noqa: BLE001  # of one match; it keeps no other one from its steps
                            log.err()
        finally:
            self._due, self._is_held = waiting, False


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
        """Read a link's socket, and let it tell what came; what was said before an end is read before the end."""
        if self._agenda.has(link.owner):
            link.catch_up()
        if link not in self._fds:
            return
        try:
            data = link.transport.socket.recv(_READ_BYTES) if event & ~EPOLLRDHUP == EPOLLIN else b""
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            link.receive(data)
            link.deliver()
        else:
            self.leave(link)
            link.transport.startReading()  # Twisted finds out what it is


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


YOUNG_OBJECTS = 10_000
"""So many new ones make Python look through them, in place of 700: what steps of many matches make is gone by then."""


def look_seldom() -> None:
    """Leave what there is out of every look for garbage, which would stall the loop, and look less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
