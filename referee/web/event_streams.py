"""Server-sent events. A page that can't read them in time gets the newest state, not a backlog."""

# EventStreams sends the same events to all open pages. PersonStreams notifies the pages of each signed-in person that
# something has changed; a page then fetches the change.
#
# Every event is a complete state, or can be replaced by a complete state, so no event has to be queued for a slow
# reader. So the memory depends only on the number of streams, not on the number of events.

from collections.abc import Callable, Hashable
from typing import Any

import msgspec
from twisted.internet.task import LoopingCall

from ..net.links.addresses import find_origin
from ..net.links.origin_limits import OriginLimiter

PACE_S = 0.5
"""Shortest time between two events, in seconds."""
ALIVE_S = 15.0
"""Seconds between two signs of life; proxies cut a stream that is silent for a minute."""
LONGEST_S = 600.0
"""Seconds after which streams of signed-in people are cut. Browsers then connect again, and are checked again."""
MOST_OF_ADDRESS, MOST = 256, 4096
"""Most streams of one address (such as a class room), and of all addresses. A process may open far more files."""
MOST_BYTES_A_SECOND = 50_000_000
"""Most bytes a second to all streams together. If events are larger, they are sent less often than every PACE_S."""
LOOK_S = 0.5
"""Seconds between two looks whether something has changed for a signed-in person."""
_ALIVE = b": alive\n\n"


class _Stream:
    """One open page, as a Twisted push producer; paused while its connection accepts no more data."""

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
        """Send an event. If the connection accepts no data now, the complete state is sent later instead."""
        if self._is_paused:
            self._has_missed = True
        else:
            self._request.write(event)

    def check_alive(self) -> bool:
        """Send a sign of life. Return false if the connection accepted no data now and at the last check."""
        was_alive, self._was_alive = self._was_alive, not self._is_paused
        if not self._is_paused:
            self._request.write(_ALIVE)
        return was_alive or not self._is_paused

    def pauseProducing(self) -> None:
        """Stop sending; called by Twisted."""
        self._is_paused = True

    def resumeProducing(self) -> None:
        """Send again; called by Twisted."""
        self._is_paused = False
        if self._has_missed:
            self._has_missed = False
            self._request.write(self._whole())

    def stopProducing(self) -> None:
        """Do nothing, because the request reports the end as well; called by Twisted."""

    def cut(self) -> None:
        """Close the connection at once."""
        self._request.transport.abortConnection()


class EventStreams:
    """All open pages that show the same state.

    Args:
        clock: the reactor, or a test's clock.
        snapshot: returns the complete state, as JSON.
        news: returns the changes since its last call, as JSON; None: every event is a complete state.
        pace_s: shortest time between two events, in seconds.
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
        """Event with the complete state, for new and resumed pages; empty if something has changed."""
        self._least_s = self._pace_s = pace_s
        self._streams: set[_Stream] = set()
        self._limiter: OriginLimiter[_Stream] = OriginLimiter(MOST_OF_ADDRESS, MOST)
        self._due: Any = None
        self._alive = LoopingCall(self._look)
        self._alive.clock = clock

    def __len__(self) -> int:
        """Return the number of open pages."""
        return len(self._streams)

    def add(self, request: Any) -> None:
        """Add a page, and send it the complete state. If its address has too many pages, cut the oldest."""
        stream = _Stream(request, self._make_whole, self._remove)
        self._streams.add(stream)
        if not self._alive.running:
            self._alive.start(ALIVE_S, now=False)
        oldest = self._limiter.add(stream, find_origin(str(request.getClientAddress().host)))
        if oldest is not None:
            oldest.cut()
        stream.send(self._make_whole())

    def notify(self) -> None:
        """Send an event soon; it includes all changes until then."""
        self._whole_event = b""
        if self._due is None and self._streams:
            self._due = self._clock.callLater(self._pace_s, self._send_event)

    def close(self) -> None:
        """Cut all pages."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        for stream in list(self._streams):
            stream.cut()

    def _send_event(self) -> None:
        self._due = None
        event = _event(self._news())
        self._pace_s = max(self._least_s, len(event) * len(self._streams) / MOST_BYTES_A_SECOND)
        for stream in list(self._streams):
            stream.send(event)

    def _make_whole(self) -> bytes:
        self._whole_event = self._whole_event or _event(self._snapshot())
        return self._whole_event

    def _look(self) -> None:
        for stream in list(self._streams):
            if not stream.check_alive():
                stream.cut()

    def _remove(self, stream: _Stream) -> None:
        self._streams.discard(stream)
        self._limiter.discard(stream)
        if not self._streams and self._alive.running:
            self._alive.stop()


def _event(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


class PersonStreams:
    """The open pages of signed-in people.

    Args:
        clock: the reactor, or a test's clock.
        stamp: person -> a value that changes whenever something on the person's pages changes.
    """

    def __init__(self, clock: Any, stamp: Callable[[Any], Any]) -> None:
        self._clock = clock
        self._stamp = stamp
        self._streams: dict[Hashable, EventStreams] = {}
        self._stamps: dict[Hashable, Any] = {}
        self._since = 0.0
        self._look = LoopingCall(self._check_stamps)
        self._look.clock = clock

    def add(self, person: Hashable, request: Any) -> None:
        """Add a page of a person."""
        if person not in self._streams:
            self._stamps[person] = self._stamp(person)
            self._streams[person] = EventStreams(self._clock, lambda: msgspec.json.encode(self._stamp(person)))
        self._streams[person].add(request)
        if not self._look.running:
            self._since = self._clock.seconds()
            self._look.start(LOOK_S, now=False)

    def close(self, person: Hashable) -> None:
        """Cut all pages of a person who has signed out on one of them."""
        streams = self._streams.pop(person, None)
        if streams is not None:
            streams.close()

    def close_all(self) -> None:
        """Cut all pages."""
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
            elif self._stamps[person] != (now := self._stamp(person)):
                self._stamps[person] = now
                streams.notify()
