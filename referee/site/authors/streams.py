"""Server-sent events for authors: each is told that something about its own programs has changed, and nothing else."""

from collections.abc import Callable
from typing import Any

import msgspec
from twisted.internet.task import LoopingCall

from ..event_streams import EventStreams

LOOK_S = 0.5
"""Between two looks at what an author's check has told."""
LONGEST_S = 600.0
"""After that all are cut, and come back by themselves: who is not signed in any more does not get in."""


class AuthorStreams:
    """The authors who look on.

    Args:
        clock: the reactor, or a test's clock.
        stamp: returns of an author what is another whenever something has changed.
    """

    def __init__(self, clock: Any, stamp: Callable[[str], Any]) -> None:
        self._clock = clock
        self._stamp = stamp
        self._streams: dict[str, EventStreams] = {}
        self._told: dict[str, Any] = {}
        self._since = 0.0
        self._look = LoopingCall(self._looked)
        self._look.clock = clock

    def add(self, author: str, request: Any) -> None:
        """Let an author look on."""
        if author not in self._streams:
            self._told[author] = self._stamp(author)
            self._streams[author] = EventStreams(self._clock, lambda: msgspec.json.encode(self._stamp(author)))
        self._streams[author].add(request)
        if not self._look.running:
            self._since = self._clock.seconds()
            self._look.start(LOOK_S, now=False)

    def close(self, author: str) -> None:
        """Tell an author nothing any more: nobody knows which of its windows has signed out."""
        streams = self._streams.pop(author, None)
        if streams is not None:
            streams.close()

    def close_all(self) -> None:
        """Tell nobody anything any more."""
        for author in list(self._streams):
            self.close(author)
        if self._look.running:
            self._look.stop()

    def _looked(self) -> None:
        if self._clock.seconds() - self._since > LONGEST_S:
            self.close_all()
            return
        for author, streams in list(self._streams.items()):
            if not len(streams):
                self.close(author)
            elif self._told[author] != (now := self._stamp(author)):
                self._told[author] = now
                streams.changed()
