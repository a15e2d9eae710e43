"""Holds those who visit the site to what a site has for all: connections, and requests without a body."""

from io import BytesIO
from typing import Any

from twisted.internet.protocol import connectionDone
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.python.failure import Failure
from twisted.web.server import Request, Site

from ..net.links.addresses import origin_of
from ..net.links.crowd import Crowd

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # besides that of each page, which names its one script
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
SILENCE_S = 30
"""A visitor who sends nothing for so long, in the middle of a request, is gone."""
MOST_OF_ADDRESS, MOST = 256, 4096
"""Connections: of a class room behind one address, whose browsers open some each, and of all."""
DROPPED_BYTES = 65_536
"""Of a body that nobody asked for; whoever sends more than that is cut."""


class _Request(Request):
    """One request; called by Twisted."""

    channel: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]  # Twisted has no types
        self._dropped = 0

    def gotLength(self, length: int | None) -> None:
        """Keep nothing of a body: no page takes one."""
        self.content = BytesIO()

    def handleContentChunk(self, data: bytes) -> None:
        """Drop a part of the body."""
        self._dropped += len(data)
        if self._dropped > DROPPED_BYTES:
            self.channel.transport.abortConnection()

    def process(self) -> None:
        """Answer with the headers of the site, whoever makes the answer; who was cut gets none."""
        if self._dropped > DROPPED_BYTES:
            return
        for name, value in HEADERS.items():
            self.setHeader(name, value)  # type: ignore[no-untyped-call]  # Twisted has no types
        super().process()  # type: ignore[no-untyped-call]  # Twisted has no types


class _Connection(ProtocolWrapper):
    """One connection; called by Twisted."""

    factory: "Visitors"

    def connectionMade(self) -> None:
        """Count it, among those of its address."""
        super().connectionMade()  # type: ignore[no-untyped-call]  # Twisted has no types
        self.factory.came(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Count it no more."""
        self.factory.left(self)
        super().connectionLost(reason)  # type: ignore[no-untyped-call]  # Twisted has no types


class Visitors(WrappingFactory):
    """All connections of the site; called by Twisted.

    Args:
        resource: answers; a resource of Twisted's.
        reactor: Twisted's.
    """

    protocol = _Connection
    noisy = False

    def __init__(self, resource: Any, reactor: Any) -> None:
        site = Site(resource, _Request, reactor=reactor, timeout=SILENCE_S)
        site.displayTracebacks = False
        site.noisy = False
        super().__init__(site)  # type: ignore[no-untyped-call]  # Twisted has no types
        self._crowd: Crowd[_Connection] = Crowd(MOST_OF_ADDRESS, MOST)

    def came(self, connection: _Connection) -> None:
        """Count a connection; where there are too many of its address, or of all, the oldest makes way."""
        transport: Any = connection.transport
        oldest = self._crowd.add(connection, origin_of(str(getattr(transport.getPeer(), "host", ""))))
        if oldest is not None:
            made_way: Any = oldest.transport
            made_way.abortConnection()

    def left(self, connection: _Connection) -> None:
        """Count a connection no more."""
        self._crowd.discard(connection)
