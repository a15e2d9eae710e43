"""A connection of a service over HTTP: what no request begins with is left at once, and what is refused is so early."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from twisted.internet.interfaces import ISSLTransport
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web import http

from ..clock import Timer

LINGER_S = 2.0
"""How long what a refused client still sends is read: closed at once, it would lose the answer."""
_TLS_HANDSHAKE = b"\x16"
"""What a client's first byte is that speaks TLS with a service that does not; no request begins so."""
_LENGTH_DIGITS = 15
"""Of a body's length: a longer number is no length, and Python does not even read one of thousands of digits."""


class HttpChannel(http.HTTPChannel):
    """One connection; called by Twisted."""

    callLater: Any  # noqa: N815  # Twisted's own
    transport: Any
    _limit: Timer | None = None
    _is_new = True

    def dataReceived(self, data: bytes) -> None:
        """Take bytes; a client that would wait for the answer to its TLS handshake is left at once."""
        if self._is_new and data.startswith(_TLS_HANDSHAKE):
            self.leave()
        else:
            self._is_new = False
            super().dataReceived(data)  # type: ignore[no-untyped-call]

    def headerReceived(self, line: bytes) -> bool:
        """Take a line of the head, unless it announces a length that is none."""
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and len(value.strip()) > _LENGTH_DIGITS:
            self._respondToBadRequestAndDisconnect()  # type: ignore[no-untyped-call]
            return False
        return bool(super().headerReceived(line))  # type: ignore[no-untyped-call]

    def refuse(self, code: HTTPStatus, headers: Mapping[str, str], body: bytes) -> None:
        """Answer at once, and read for a moment what still comes."""
        lines = [f"HTTP/1.1 {code} {code.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        # TLS has no such half; the connection beneath it, which it hands out, has, but not yet all that was written.
        if hasattr(self.transport, "loseWriteConnection") and not ISSLTransport.providedBy(self.transport):
            self.transport.loseWriteConnection()
        self.count(LINGER_S, self.leave)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Stop counting."""
        if self._limit is not None and self._limit.active():
            self._limit.cancel()
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def count(self, limit_s: float, function: Callable[[], None]) -> None:
        """Count the time to something, and no more to what was counted before."""
        if self._limit is not None and self._limit.active():
            self._limit.cancel()
        self._limit = self.callLater(limit_s, function)

    def leave(self) -> None:
        """End the connection once all is sent, and soon in any case."""
        self.count(LINGER_S, self.abort)
        self.transport.loseConnection()

    def abort(self) -> None:
        """End the connection."""
        self.transport.abortConnection()
