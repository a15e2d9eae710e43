"""The parts of one event loop that its matches and lobbies share: the agenda, the lag and the players' sockets."""

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

# THEORY
#
# One thread reads the sockets of all players, judges their moves, writes the records and sends the answers. While it
# does one of these, it does none of the others. So a player's time, as the referee could naively measure it, has two
# parts: what the player took, and what the referee took before it sent the request or looked at the answer. Charging
# the second part would expel a player because *another* match was being shuffled. So the second part is measured and
# taken off.
#
# How do we know that the loop was not listening? We ask it to call us every BEAT_S. If a beat comes late, the loop was
# busy in between: that gap is a *stall* (records call it a standstill). Between two punctual beats the loop has sent
# and read at least once, but we do not know when. So there are two rules, both in the player's favour:
#
# - A request written between two beats may have left as late as the end of the next gap. If that gap is a stall, all of
#   it counts as the delay of sending.
# - An answer read at a beat may have arrived at any time since the beat before. If that gap is a stall, all of it
#   counts as the delay of reading:
#
#       beat      beat                     late beat
#         |---------|<-------- stall -------->|
#                           ^ answer arrives  ^ answer is read: the whole stall is its lag
#
# A stall while the player was still thinking has delayed nothing, and is no lag. But it may have slowed down the
# player, which may run on the same machine. So the longest one is recorded (`stalled_ms`), and after a very long one
# nobody is judged late (see the timekeeper of the match). A stall of up to UNNOTICED_MS escapes the beat. No verdict
# depends on such a short stall: requests are written to the socket at once (PlayerLink.flush), and lateness is decided
# by one more look into the socket, not by the beat (Stopwatch).
#
# The rule could be abused: a player that floods the lobby with connections makes the loop stall, and would be credited
# with that time. So an origin that storms the lobby gets no credit for stalls during its storm; everybody else does.
#
# Why not read the sockets in a thread of their own, which never stalls? Because in Python that thread would stall as
# well: it needs the interpreter's lock, which the first thread holds while it is busy.

Stages = tuple[Callable[[], None], ...]
"""Stages of a match for one event, in order. All matches on the agenda finish a stage before any begins the next."""
AT_ONCE = 32
"""Most matches that run together. Larger batches are no faster, and the sockets would be read less often."""


class Agenda:
    """The matches of one loop that have an event to take."""

    def __init__(self) -> None:
        self.due: dict[object, Stages] = {}
        """Match that has an event to take -> its stages; in order of arrival."""
        self._is_held = False

    def add(self, match: object, stages: Stages) -> None:
        """Have a match take an event: at once, or together with others if the agenda is held."""
        if self._is_held:
            self.due[match] = stages
        else:
            self._run({match: stages})

    def hold(self) -> None:
        """Collect the matches that are added from now on; `release` runs them."""
        self._is_held = True

    def release(self) -> None:
        """Run the first AT_ONCE matches, and those that get an event from them; the others wait."""
        self._run(dict(islice(self.due.items(), AT_ONCE)))

    def _run(self, first: dict[object, Stages]) -> None:
        """Run the stages of some matches, and of all matches that get an event from them."""
        waiting, self.due, self._is_held = self.due, first, True
        try:
            while self.due:
                due, self.due = self.due, {}
                for match in due:
                    waiting.pop(match, None)
                for stage in zip(*due.values(), strict=True):
                    for act in stage:
                        try:
                            act()
                        except Exception:  # noqa: BLE001  # a fault in one match must not stop the others
                            log.err()
        finally:
            self.due, self._is_held = waiting, False


BEAT_S = 0.005
"""Seconds between two beats of the loop."""
_UNNOTICED_S = UNNOTICED_MS / 1000


def new_process() -> str:
    """Return a unique name for a process that plays matches."""
    return secrets.token_hex(8)


class _Stall(Struct, frozen=True):
    """A gap between two beats that was too long; all instants are in monotonic seconds."""

    begin: float
    end: float
    before: float
    """The last beat before `begin`."""
    storming: frozenset[str]
    """Origins that stormed the lobby then: the stall excuses none of their seats."""


class Lag:
    """Measures how late an event loop is; see the theory above.

    Args:
        clock: the reactor, or a test's clock.
        now: returns monotonic seconds.
        process: name of this process in records; empty: a new one.
    """

    def __init__(self, clock: Clock, now: Callable[[], float], process: str = "") -> None:
        self.now = now
        self.process = process or new_process()
        """Names the clock of this process in the records of all its matches."""
        self.begun = now()
        """Zero of that clock, in monotonic seconds. It makes instants of different matches comparable."""
        self.listeners: set[Callable[[float, float], None]] = set()
        """Functions that are called with the beginning and the end of every stall."""
        self.storms = Storms(now)
        self.note: Callable[..., None] = lambda _event, **_facts: None
        """Called with every stall, for the referee's diagnostics."""
        self._last = self._before = now()
        """The last beat, and the one before it."""
        self._stalls: list[_Stall] = []
        self._clock = clock
        self._timer: Timer | None = None
        """Timer of the next beat; None while the loop does not beat."""
        self._zero_s = 0.0
        """Instant of the clock from which beats are counted, in seconds."""
        self._users = 0
        """Number of callers that need the beat."""

    def start(self) -> None:
        """Begin to beat, unless the loop beats already."""
        self._users += 1
        if self._timer is None:
            self._last = self._before = self.now()
            self._zero_s = self._clock.seconds()
            self._timer = self._clock.callLater(BEAT_S, self._beat)

    def stop(self) -> None:
        """Stop beating, unless another caller needs the beat."""
        self._users = max(self._users - 1, 0)
        if not self._users and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat within a block."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def _beat(self) -> None:
        at_s = self._clock.seconds()
        wait_s = BEAT_S - (at_s - self._zero_s) % BEAT_S  # a late beat does not delay the next one
        self._timer = self._clock.callLater(BEAT_S if at_s + wait_s == at_s else wait_s, self._beat)
        now, last, before = self.now(), self._last, self._before
        self._before, self._last = last, now
        if now - last > _UNNOTICED_S:
            storming = self.storms.origins()
            self._stalls.append(_Stall(last, now, before, storming))
            del self._stalls[:-KEPT_STANDSTILLS]
            for listen in self.listeners:
                listen(last, now)
            blamed = {"storming": sorted(storming)} if storming else {}
            self.note("loop-stalled", stalled_s=round(now - last, 6), **blamed)

    def was_punctual(self, sent: float, now: float) -> bool:
        """Return whether no stall was noticed between two instants; if so, nobody who is late is excused."""
        return (not self._stalls or self._stalls[-1].end <= sent) and self.stalled_since(now) is None

    def stalled_since(self, at: float) -> float | None:
        """Return when the stall that is going on at an instant began, in monotonic seconds; None if there is none."""
        return self._last if self._timer is not None and at - self._last > _UNNOTICED_S else None

    def sending_delay(self, sent: float, origin: str = "") -> float:
        """Return how long a request may have waited for the loop to send it, in seconds.

        Args:
            sent: when it was written, in monotonic seconds.
            origin: origin of the connection; stalls while it storms the lobby do not count.
        """
        end = sent
        for stall in reversed(self._stalls):
            if stall.end <= sent:
                break
            if stall.before <= sent and origin not in stall.storming:
                end = max(end, stall.end)
        return end - sent

    def reading_delay(self, sent: float, now: float, origin: str = "") -> float:
        """Return how long an answer may have lain unread, in seconds; at most the time since the request.

        Args:
            sent: when the request was written, in monotonic seconds.
            now: when the answer was read.
            origin: origin of the connection; see sending_delay.
        """
        last = self._stalls[-1] if self._stalls else None
        if last is not None and sent < last.end == self._last and origin not in last.storming:
            return now - max(last.begin, sent)
        return self._present_stall(sent, now, origin)

    def longest_stall(self, sent: float, now: float, origin: str | None) -> float:
        """Return the longest stall between two instants, in seconds; 0 if there was none.

        Args:
            sent: monotonic seconds.
            now: monotonic seconds.
            origin: origin of the connection; stalls while it stormed the lobby are left out. None: no stall is left
                out.
        """
        longest = self._present_stall(sent, now, origin)
        for stall in reversed(self._stalls):
            if stall.end <= sent:
                break
            if origin not in stall.storming:
                longest = max(longest, stall.end - max(stall.begin, sent))
        return longest

    def _present_stall(self, sent: float, now: float, origin: str | None) -> float:
        """Return how long the present stall has lasted since an instant, in seconds; 0 if there is none."""
        begun = self.stalled_since(now)
        return 0.0 if begun is None or origin in self.storms.origins() else now - max(begun, sent)


MOST_WAITING = 256
"""Most matches that may wait for the next turn of the loop: eight batches of AT_ONCE.

So a request is sent within nine turns of the loop. A turn that takes longer than UNNOTICED_MS counts as a stall. If
more matches wait, they run without a look at the sockets in between; the beat notices that stall as well.
"""
_READ_BYTES = 65_536


class PlayerSockets:
    """Reads the sockets of one loop's players, in place of the reactor.

    The reactor would read one socket, have its match answer, and read the next one: the last player's bytes would lie
    unread while all others are answered. Here all sockets are read first, so that the instant of every answer is right.

    Args:
        clock: the reactor, or a test's clock, under which no link has a socket.
        agenda: agenda of the loop's matches.
    """

    def __init__(self, clock: Clock, agenda: Agenda) -> None:
        self._reactor: Any = clock
        self._agenda = agenda
        self.links: dict[int, PlayerLink] = {}
        """Descriptor -> the link whose socket is read here."""
        self._descriptors: dict[PlayerLink, int] = {}
        """Link -> descriptor. It is stored here because a link whose socket is closed no longer knows it."""
        self._poll: epoll | None = None
        """Exists while there are links."""
        self._next_turn: Timer | None = None
        """Runs while matches wait for the loop's next turn."""

    def watch(self, link: PlayerLink) -> None:
        """Read a link's socket from now on, until `leave`."""
        if self._poll is None:
            self._poll = epoll()
            self._reactor.addReader(self)
        descriptor = link.transport.fileno()
        link.transport.stopReading()
        self._poll.register(descriptor, EPOLLIN | EPOLLRDHUP)
        self.links[descriptor], self._descriptors[link], link.leave_reader = link, descriptor, self.leave

    def leave(self, link: PlayerLink) -> None:
        """Stop reading a link's socket, if it is read here."""
        descriptor = self._descriptors.pop(link, None)
        if descriptor is None or self._poll is None:
            return
        del self.links[descriptor]
        with suppress(OSError):  # a closed socket is no longer in the set
            self._poll.unregister(descriptor)
        if not self.links:
            self._reactor.removeReader(self)
            self._poll.close()
            self._poll = None

    # --- for Twisted

    def fileno(self) -> int:
        """Return the descriptor that is readable while any socket is."""
        return -1 if self._poll is None else self._poll.fileno()

    def logPrefix(self) -> str:
        """Name the source of faults in Twisted's log."""
        return type(self).__name__

    def connectionLost(self, reason: Failure) -> None:
        """End every link; called by Twisted when the reactor stops."""
        for link in list(self._descriptors):
            link.transport.connectionLost(reason)

    def doRead(self) -> None:
        """Take one turn, unless the next turn is due anyway."""
        if self._next_turn is None:
            self._take_turn()

    def _take_turn(self) -> None:
        """Read every socket that has data, then let the first matches answer; the others answer in the next turn.

        With few players, the next answer has often come by then. It is read in the same turn, until AT_ONCE answers
        were read. Another turn of the reactor would cost half as much as handling the answer.
        """
        self._next_turn = None
        total = count = self._read_and_answer()
        while count and total < AT_ONCE and not self._agenda.due:
            count = self._read_and_answer()
            total += count
        while len(self._agenda.due) > MOST_WAITING:
            self._agenda.release()
        if self._agenda.due:
            self._next_turn = self._reactor.callLater(0, self._take_turn)

    def _read_and_answer(self) -> int:
        """Read every socket that has data, and let the first matches answer; return how many sockets had data."""
        self._agenda.hold()
        try:
            return self._read()
        finally:
            self._agenda.release()

    def _read(self) -> int:
        """Read every socket that has data; the bytes become events, which wait on the agenda.

        Returns:
            Number of sockets that had data.
        """
        if self._poll is None:
            return 0
        events = self._poll.poll(0, len(self.links))
        for descriptor, event in events:
            link = self.links.get(descriptor)  # None: handling an earlier link has closed this one
            if link is None:
                continue
            try:
                self._receive(link, event)
            except Exception:  # noqa: BLE001  # as Twisted does: a fault of the referee costs this connection alone
                log.err()
                self.leave(link)
                link.transport.abortConnection()
        return len(events)

    def _receive(self, link: PlayerLink, event: int) -> None:
        """Read a link's socket, and have the link deliver what came; bytes are read before the connection's end."""
        if link.owner in self._agenda.due:
            link.catch_up()
        if link not in self._descriptors:
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
            link.transport.startReading()  # Twisted finds out why nothing came, and ends the link


class EventLoop:
    """The parts that matches and lobbies of one event loop share.

    Args:
        clock: the reactor, or a test's clock.
        now: returns monotonic seconds.
        process: name of this process in records; empty: a new one.
    """

    def __init__(self, clock: Clock, now: Callable[[], float], process: str = "") -> None:
        self.now = now
        self.lag = Lag(clock, now, process)
        self.agenda = Agenda()
        self.sockets = PlayerSockets(clock, self.agenda)
        self.origins: OriginLimiter[Any] = OriginLimiter(MOST_OF_ORIGIN, most_open())
        """Limits, per origin, the connections of all lobbies that have no seat yet."""


YOUNG_OBJECTS = 10_000
"""Number of new objects after which Python looks for garbage, instead of 700: most are freed before that."""


def collect_garbage_rarely() -> None:
    """Exempt all present objects from garbage collection, which would stall the loop, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
