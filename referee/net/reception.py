"""The service that authors hand their programs in to, over HTTP. Knows requests, limits and slow clients.

Refuses to know what is answered (desk.py). Whoever has no token, or announces too much, is refused before the body is
read. A connection carries one request.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, unquote

from twisted.internet.defer import Deferred
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web import http

from .addresses import listen
from .clock import Port, Timer
from .desk import Authors, Desk, Inquiry, Reply, before_the_body, refusal
from .telemetry import Note

MAX_CONNECTIONS = 256
"""A class that hands in at the last minute; each may hold the largest archive, on disk while it comes."""
SILENCE_S = 20.0
"""A client that sends nothing for so long, in the middle of a request, is gone."""
CONNECTION_S = 300.0
"""From the first byte to the last: the largest archive at 64 KiB/s, and a long record explained in a queue."""
LINGER_S = 2.0
"""How long what a refused client still sends is read: closed at once, it would lose the answer."""


class _Request(http.Request):
    """One request; called by Twisted."""

    channel: Any
    content: Any

    def __init__(self, channel: Any, service: "_Service") -> None:
        super().__init__(channel)
        self._service = service
        self._author: str | None = None
        self._is_refused = False
        self._is_gone = False

    def gotLength(self, length: int | None) -> None:
        """Look at what was announced, before the body is read."""
        self._author = self._service.authors.named(self._token())
        reply = before_the_body(self._author, length)
        if reply is None:
            super().gotLength(length)  # type: ignore[no-untyped-call]
            return
        self.content = BytesIO()
        self._is_refused = True
        self.requestHeaders.removeHeader(b"expect")  # nobody is asked to go on
        self.channel.refuse(reply)

    def handleContentChunk(self, data: bytes) -> None:
        """Keep a part of the body, if anybody wants it."""
        if not self._is_refused:
            super().handleContentChunk(data)  # type: ignore[no-untyped-call]

    def process(self) -> None:
        """Answer the whole request."""
        if self._is_refused:
            self.channel.loseConnection()
            return
        self.notifyFinish().addErrback(self._note_gone)
        answering = Deferred.fromCoroutine(self._service.desk.answer(self._inquiry()))
        answering.addCallbacks(self._send, self._fail)

    def _token(self) -> str | None:
        given = self.requestHeaders.getRawHeaders(b"authorization") or []
        kind, _, token = (given[0] if len(given) == 1 else b"").decode("latin-1").partition(" ")
        return token.strip() if kind.lower() == "bearer" else None

    def _inquiry(self) -> Inquiry:
        assert self._author is not None, "others were refused"
        path, _, query = self.uri.decode("latin-1").partition("?")
        return Inquiry(
            author=self._author,
            method=self.method.decode("latin-1"),
            path=tuple(unquote(part, errors="replace") for part in path.split("/")[1:]),
            query=_parsed(query),
            body=self.content.read(),
        )

    def _note_gone(self, _reason: Failure) -> None:
        self._is_gone = True

    def _send(self, reply: Reply) -> None:
        if self._is_gone:
            return
        answer: Any = self  # Twisted's own methods have no types
        answer.setResponseCode(reply.code)
        for name, value in _headers(reply).items():
            answer.setHeader(name, value)
        answer.write(reply.body)
        answer.finish()

    def _fail(self, failure: Failure) -> None:
        """Tell the organiser what went wrong; the author learns only that it was not its fault."""
        self._service.note("request-failed", author=self._author, error=failure.getErrorMessage())
        text = "the referee could not answer, and nothing was taken in; it is not your fault"
        self._send(refusal(HTTPStatus.INTERNAL_SERVER_ERROR, text, "try again; if it stays so, tell the organiser"))


class _Channel(http.HTTPChannel):
    """One connection; called by Twisted."""

    callLater: Any  # noqa: N815  # Twisted's own
    transport: Any
    _limit: Timer | None = None

    def connectionMade(self) -> None:
        """Begin to count its time."""
        self._count(CONNECTION_S, self._abort)
        super().connectionMade()  # type: ignore[no-untyped-call]

    def checkPersistence(self, request: Any, version: bytes) -> bool:
        """Let no second request follow."""
        return False

    def refuse(self, reply: Reply) -> None:
        """Answer at once, and read for a moment what still comes."""
        lines = [f"HTTP/1.1 {reply.code} {reply.code.phrase}"]
        lines += [f"{name}: {value}" for name, value in _headers(reply).items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + reply.body)
        if hasattr(self.transport, "loseWriteConnection"):  # TLS has no such half
            self.transport.loseWriteConnection()
        self._count(LINGER_S, self._leave)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Stop counting."""
        if self._limit is not None and self._limit.active():
            self._limit.cancel()
        self.factory.left()
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def _count(self, limit_s: float, function: Callable[[], None]) -> None:
        """Count anew, towards another end."""
        if self._limit is not None and self._limit.active():
            self._limit.cancel()
        self._limit = self.callLater(limit_s, function)

    def _leave(self) -> None:
        self._count(LINGER_S, self._abort)
        self.transport.loseConnection()

    def _abort(self) -> None:
        self.transport.abortConnection()


class _Service(http.HTTPFactory):
    """All connections; called by Twisted.

    Args:
        desk: answers.
        authors: who may ask.
        note: takes note of what goes wrong.
        reactor: Twisted's.
    """

    protocol: Any = _Channel
    noisy = False

    def __init__(self, desk: Desk, authors: Authors, note: Note, reactor: Any) -> None:
        super().__init__(timeout=SILENCE_S, reactor=reactor)
        self.desk = desk
        self.authors = authors
        self.note = note
        self._open = 0

    def buildProtocol(self, addr: Any) -> Any:
        """Take a connection, unless there are too many."""
        if self._open >= MAX_CONNECTIONS:
            return None
        channel: Any = super().buildProtocol(addr)
        channel.requestFactory = lambda channel, *_: _Request(channel, self)
        self._open += 1
        return channel

    def left(self) -> None:
        """Take note that a connection has ended."""
        self._open -= 1

    def log(self, request: Any) -> None:
        """Write no access log: notes are taken elsewhere."""


def _headers(reply: Reply) -> Mapping[str, str]:
    return {
        "content-type": reply.content_type,
        "content-length": str(len(reply.body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "connection": "close",
    }


def _parsed(query: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(query, max_num_fields=8))
    except ValueError:
        return {}


async def open_reception(reactor: Any, address: str, desk: Desk, authors: Authors, note: Note) -> Port:
    """Open the service.

    Args:
        reactor: Twisted's reactor.
        address: Twisted endpoint string.
        desk: answers.
        authors: who may ask.
        note: takes note of what goes wrong.

    Raises:
        AddressError: the address can't be listened on.
    """
    return await listen(reactor, address, _Service(desk, authors, note, reactor))
