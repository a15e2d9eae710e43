"""HTTP for services of this referee: limits for slow, silent and many clients.

Whatever a service does not want is refused before its body is read. A connection
carries one request.
"""

from collections.abc import Mapping
from http import HTTPStatus
from io import BytesIO
from typing import Any

from msgspec import Struct
from twisted.internet.defer import Deferred
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web import http

from ..observers import Note
from .http_channel import HttpChannel
from .http_messages import HttpService, Reply, bearer_of, inquiry_of, refusal
from .links.addresses import origin_of
from .links.origin_limits import OriginLimiter

_WITH_BODY = (b"PUT", b"POST", b"PATCH")
"""Methods whose body may be empty only if they say so."""


class Limits(Struct, frozen=True, kw_only=True):
    """What clients are held to."""

    head_s: float
    """From the connection to the end of the request's head, whatever of it comes: until then nobody knows who it is."""
    silence_s: float
    """A client that sends nothing for so long, in the middle of a request, is gone."""
    request_s: float
    """From the end of the head to the last byte of the answer."""
    strangers: int
    """Connections of clients that are not known, in all."""
    of_address: int
    """Of them, from one address."""
    known: int = 1
    """Connections of clients that are known, in all."""
    of_client: int = 1
    """Of them, of one client."""


class _Request(http.Request):
    """One request; called by Twisted."""

    channel: Any
    content: Any

    def __init__(self, channel: Any, server: "HttpServer") -> None:
        super().__init__(channel)
        self._server = server
        self._author = ""
        self._is_refused = False

    def gotLength(self, length: int | None) -> None:
        """Look at what was announced, before the body is read."""
        method = self.channel._command  # noqa: SLF001  # the request itself is told only when it is whole
        if method in _WITH_BODY and not self.requestHeaders.hasHeader(b"content-length"):
            length = None
        found = self._server.service.announced(bearer_of(self.requestHeaders), length)
        if isinstance(found, str):
            self._author = found
            self.channel.introduce(found)
            super().gotLength(length)  # type: ignore[no-untyped-call]
            return
        self.content = BytesIO()
        self._is_refused = True
        self.requestHeaders.removeHeader(b"expect")  # nobody is asked to go on
        self.channel.refuse(found.code, _headers(found), found.body)

    def handleContentChunk(self, data: bytes) -> None:
        """Keep a part of the body, if anybody wants it."""
        if not self._is_refused:
            super().handleContentChunk(data)  # type: ignore[no-untyped-call]

    def process(self) -> None:
        """Answer the whole request, unless it was answered before."""
        if not self._is_refused:
            Deferred.fromCoroutine(self._answer())

    async def _answer(self) -> None:
        try:
            inquiry = inquiry_of(self._author, self.method, self.uri, self.content.read())
            reply = await self._server.service.answer(inquiry)
        except Exception as error:  # noqa: BLE001  # the organiser is told it, and the author only whose fault it was not
            self._server.note("request-failed", author=self._author, error=str(error))
            text = "the referee could not answer, and nothing was taken in; it is not your fault"
            reply = refusal(HTTPStatus.INTERNAL_SERVER_ERROR, text, "try again; if it stays so, tell the organiser")
        if self.channel is not None:  # else the connection is gone
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        answer: Any = self  # Twisted's own methods have no types
        answer.setResponseCode(reply.code)
        for name, value in _headers(reply).items():
            answer.setHeader(name, value)
        answer.write(reply.body)
        answer.finish()


class _Channel(HttpChannel):
    """One connection; called by Twisted."""

    factory: "HttpServer"

    def connectionMade(self) -> None:
        """Begin to count its time, and it among those of its address."""
        super().connectionMade()  # type: ignore[no-untyped-call]
        self.count(self.factory.limits.head_s, self._silent)
        self.factory.came(self, origin_of(str(getattr(self.transport.getPeer(), "host", ""))))

    def introduce(self, author: str) -> None:
        """Take note who it is, and give it the time for a request."""
        self.count(self.factory.limits.request_s, self.abort)
        if author:
            self.factory.is_known(self, author)

    def checkPersistence(self, request: Any, version: bytes) -> bool:
        """Let no second request follow."""
        return False

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Count it no more."""
        self.factory.left(self)
        super().connectionLost(reason)

    def _silent(self) -> None:
        """Leave in two turns of the loop: what came while it stood still is read first."""
        self.count(0, lambda: self.count(0, self.leave))


class HttpServer(http.HTTPFactory):
    """All connections of one service; called by Twisted.

    Args:
        service: answers.
        limits: what clients are held to.
        note: takes note of what goes wrong.
        reactor: Twisted's.
    """

    protocol: Any = _Channel
    noisy = False

    def __init__(self, service: HttpService, limits: Limits, note: Note, reactor: Any) -> None:
        super().__init__(timeout=limits.silence_s, reactor=reactor)
        self.service = service
        self.limits = limits
        self.note = note
        self._clock: Any = reactor
        self._strangers: OriginLimiter[_Channel] = OriginLimiter(limits.of_address, limits.strangers)
        self._known: OriginLimiter[_Channel] = OriginLimiter(limits.of_client, limits.known)

    def buildProtocol(self, addr: Any) -> Any:
        """Take a connection."""
        channel: Any = super().buildProtocol(addr)
        channel.requestFactory = lambda channel, *_: _Request(channel, self)
        return channel

    def came(self, channel: _Channel, origin: str) -> None:
        """Count a stranger; whoever is one too many makes way, unless its request is there already."""
        oldest = self._strangers.add(channel, origin)
        if oldest is not None:
            self._clock.callLater(0, self._clock.callLater, 0, self._make_way, oldest)

    def is_known(self, channel: _Channel, client: str) -> None:
        """Count a connection for its client; if that has too many, its oldest makes way."""
        self._strangers.discard(channel)
        oldest = self._known.add(channel, client)
        if oldest is not None:
            oldest.abort()

    def _make_way(self, channel: _Channel) -> None:
        if channel not in self._known:
            channel.abort()

    def left(self, channel: _Channel) -> None:
        """Take note that a connection has ended."""
        self._strangers.discard(channel)
        self._known.discard(channel)

    def log(self, request: Any) -> None:
        """Write no access log: notes are taken elsewhere."""


def _headers(reply: Reply) -> Mapping[str, str]:
    return {
        "content-type": reply.content_type,
        "content-length": str(len(reply.body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "connection": "close",
        **({"allow": reply.allow} if reply.allow else {}),
    }
