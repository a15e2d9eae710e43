"""Server-sent events for those who are signed in: each is told that something it is shown has changed, and no more."""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall

from .answers import streamed
from .event_streams import LONGEST_S, EventStreams
from .guarded_routes import Visit
from .sessions import Person

LOOK_S = 0.5
"""Between two looks at what there is to be told."""


class PersonStreams:
    """Those who look on.

    Args:
        clock: the reactor, or a test's clock.
        stamp: returns what is another whenever something has changed that somebody is shown.
    """

    def __init__(self, clock: Any, stamp: Callable[[Person], Any]) -> None:
        self._clock = clock
        self._stamp = stamp
        self._streams: dict[Person, EventStreams] = {}
        self._told: dict[Person, Any] = {}
        self._since = 0.0
        self._look = LoopingCall(self._looked)
        self._look.clock = clock

    def follow(self, visit: Visit) -> Deferred[bytes]:
        """Let who asks look on."""
        return streamed(visit.request, partial(self.add, visit.person))

    def add(self, person: Person, request: Any) -> None:
        """Let somebody look on."""
        if person not in self._streams:
            self._told[person] = self._stamp(person)
            self._streams[person] = EventStreams(self._clock, lambda: msgspec.json.encode(self._stamp(person)))
        self._streams[person].add(request)
        if not self._look.running:
            self._since = self._clock.seconds()
            self._look.start(LOOK_S, now=False)

    def close(self, person: Person) -> None:
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

    def _looked(self) -> None:
        if self._clock.seconds() - self._since > LONGEST_S:
            self.close_all()
            return
        for person, streams in list(self._streams.items()):
            if not len(streams):
                self.close(person)
            elif self._told[person] != (now := self._stamp(person)):
                self._told[person] = now
                streams.changed()
