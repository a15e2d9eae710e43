"""Server-sent events: whoever can't take them in time gets the newest state instead.

EventStreams tells the same to all who look on. PersonStreams tells each person that something of its own has changed.
"""

from collections.abc import Callable, Hashable
from typing import Any

import msgspec
from twisted.internet.task import LoopingCall

from ..net.links.addresses import find_origin
from ..net.links.origin_limits import OriginLimiter

PACE_S = 0.5
"""Between two events, where many look on."""
ALIVE_S = 15.0
"""Between two signs of life: proxies cut what is silent for a minute."""
LONGEST_S = 600.0
"""After that those who are signed in are cut, and come back by themselves: who is not any more does not get in."""
MOST_OF_ADDRESS, MOST = 256, 4096
"""Streams: a class room behind one address, and so many files as a process may have open by far."""
MOST_BYTES_A_SECOND = 50_000_000
"""Most bytes a second to all streams together; above that, events are sent less often than every PACE_S."""
LOOK_S = 0.5
"""Between two looks at what there is to be told to those who are signed in."""
_ALIVE = b": alive\n\n"


class _Stream:
    """One who looks on, paused while its connection takes no more; a push producer of Twisted's."""

    def __init__(self, request: Any, whole: Callable[[], bytes], gone: Callable[["_Stream"], None]) -> None:
        self._request = request
        self._whole = whole
        self._is_paused = False
        self._has_missed = False
        """True if an event was dropped while the stream was paused."""
        self._was_alive = True
        request.registerProducer(self, True)
        request.notifyFinish().addBoth(lambda _: gone(self))

    def send(self, event: bytes) -> None:
        """Send an event; if the connection takes no more, how everything stands follows once it does."""
        if self._is_paused:
            self._has_missed = True
        else:
            self._request.write(event)

    def is_stuck(self) -> bool:
        """Tell whether nothing could be sent since it was asked last; send a sign of life otherwise."""
        was_alive, self._was_alive = self._was_alive, not self._is_paused
        if not self._is_paused:
            self._request.write(_ALIVE)
        return self._is_paused and not was_alive

    def pauseProducing(self) -> None:
        """Wait; called by Twisted."""
        self._is_paused = True

    def resumeProducing(self) -> None:
        """Go on; called by Twisted."""
        self._is_paused = False
        if self._has_missed:
            self._has_missed = False
            self._request.write(self._whole())

    def stopProducing(self) -> None:
        """Do nothing; its request tells that it is over. Called by Twisted."""

    def cut(self) -> None:
        """End it at once."""
        self._request.transport.abortConnection()


class EventStreams:
    """All who look on.

    Args:
        clock: the reactor, or a test's clock.
        snapshot: returns how everything stands, as JSON.
        news: returns what has changed since it was asked last, as JSON, for who knows the rest; None: all is told.
        pace_s: between two events, at least, in seconds.
    """

    def __init__(
        self,
        clock: Any,
        snapshot: Callable[[], bytes],
        news: Callable[[], bytes] | None = None,
        *,
        pace_s: float = PACE_S,
    ) -> None:
        self._clock = clock
        self._snapshot = snapshot
        self._news = news or snapshot
        self._whole_event = b""
        """The last one made, until something changes: for all who come or wake up meanwhile."""
        self._least_s = self._pace_s = pace_s
        self._streams: set[_Stream] = set()
        self._limiter: OriginLimiter[_Stream] = OriginLimiter(MOST_OF_ADDRESS, MOST)
        self._due: Any = None
        self._alive = LoopingCall(self._look)
        self._alive.clock = clock

    def __len__(self) -> int:
        """Return how many look on."""
        return len(self._streams)

    def add(self, request: Any) -> None:
        """Let somebody look on, beginning with what is now; who is one too many of its address makes way."""
        stream = _Stream(request, self._whole, self._remove)
        self._streams.add(stream)
        if not self._alive.running:
            self._alive.start(ALIVE_S, now=False)
        oldest = self._limiter.add(stream, find_origin(str(request.getClientAddress().host)))
        if oldest is not None:
            oldest.cut()
        stream.send(self._whole())

    def notify(self) -> None:
        """Tell everybody soon: what changes until then is told at once."""
        self._whole_event = b""
        if self._due is None and self._streams:
            self._due = self._clock.callLater(self._pace_s, self._tell)

    def close(self) -> None:
        """Tell nothing any more."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        for stream in list(self._streams):
            stream.cut()

    def _tell(self) -> None:
        self._due = None
        event = _event(self._news())
        self._pace_s = max(self._least_s, len(event) * len(self._streams) / MOST_BYTES_A_SECOND)
        for stream in list(self._streams):
            stream.send(event)

    def _whole(self) -> bytes:
        self._whole_event = self._whole_event or _event(self._snapshot())
        return self._whole_event

    def _look(self) -> None:
        for stream in list(self._streams):
            if stream.is_stuck():
                stream.cut()

    def _remove(self, stream: _Stream) -> None:
        self._streams.discard(stream)
        self._limiter.discard(stream)
        if not self._streams and self._alive.running:
            self._alive.stop()


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


class PersonStreams:
    """Those who are signed in and look on.

    Args:
        clock: the reactor, or a test's clock.
        stamp: returns what is another whenever something has changed that somebody is shown.
    """

    def __init__(self, clock: Any, stamp: Callable[[Any], Any]) -> None:
        self._clock = clock
        self._stamp = stamp
        self._streams: dict[Hashable, EventStreams] = {}
        self._told: dict[Hashable, Any] = {}
        self._since = 0.0
        self._look = LoopingCall(self._check_stamps)
        self._look.clock = clock

    def add(self, person: Hashable, request: Any) -> None:
        """Let somebody look on."""
        if person not in self._streams:
            self._told[person] = self._stamp(person)
            self._streams[person] = EventStreams(self._clock, lambda: msgspec.json.encode(self._stamp(person)))
        self._streams[person].add(request)
        if not self._look.running:
            self._since = self._clock.seconds()
            self._look.start(LOOK_S, now=False)

    def close(self, person: Hashable) -> None:
        """Tell somebody nothing any more: nobody knows which window has signed out."""
        streams = self._streams.pop(person, None)
        if streams is not None:
            streams.close()

    def close_all(self) -> None:
        """Tell nobody anything any more."""
        for person in list(self._streams):
            self.close(person)
        if self._look.running:
            self._look.stop()

    def _check_stamps(self) -> None:
        if self._clock.seconds() - self._since > LONGEST_S:
            self.close_all()
            return
        for person, streams in list(self._streams.items()):
            if not len(streams):
                self.close(person)
            elif self._told[person] != (now := self._stamp(person)):
                self._told[person] = now
                streams.notify()
