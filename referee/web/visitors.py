"""Holds those who visit the site to what a site has for all: connections, and bodies that somebody waits for."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec import Struct
from twisted.internet.address import IPv4Address
from twisted.internet.interfaces import IProtocolNegotiationFactory, ISSLTransport
from twisted.internet.protocol import connectionDone
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.python.failure import Failure
from twisted.web import http
from twisted.web.server import Request, Site
from zope.interface import implementer  # type: ignore[import-untyped]  # it has no types

from ..clock import Timer
from ..net.links.addresses import find_origin
from ..net.links.origin_limits import OriginLimiter
from .http import refuse

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # besides that of each page, which names its one script
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
LINGER_S = 2.0
"""Seconds for which the server still reads from a refused client, which would lose the answer if closed at once."""
_TLS_HANDSHAKE = b"\x16"
"""First byte of a client that speaks TLS to a server that does not; no request begins with it."""
_LENGTH_DIGITS = 15
"""Most digits of a Content-Length. Python itself refuses to convert numbers of thousands of digits."""
SILENCE_S = 30
"""A visitor who sends nothing for so long, in the middle of a request, is gone."""
MOST_OF_ADDRESS, MOST = 512, 4096
"""Connections: of a class of 200 behind one address, whose browsers open some each, and of all."""
_LABEL = rb"[\w!$%&'()*+,;=~-]{1,63}"
_HOST = re.compile(rb"(?:" + _LABEL + rb"(?:\." + _LABEL + rb")*\.?|\[(?P<v6>[\da-fA-F:.]{2,45})\])(?::\d{0,5})?")
"""Form of a valid Host header."""
_MOST_OF_HOST = 255
"""Bytes of its name."""
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d+)?|([^:]*):\d+")
"""Form in which a proxy writes an address with a port, or an IPv6 address in brackets."""
_THIS_MACHINE = "127.0.0.1"
"""Address of visitors that come through a socket in the file system, which has none."""


class HttpChannel(http.HTTPChannel):
    """HTTP on one connection, with early refusals; called by Twisted."""

    callLater: Any  # noqa: N815  # Twisted's own
    transport: Any
    _timer: Timer | None = None
    _is_new = True

    def dataReceived(self, data: bytes) -> None:
        """Receive bytes; a client that would wait for the answer to its TLS handshake is disconnected at once."""
        if self._is_new and data.startswith(_TLS_HANDSHAKE):
            self.leave()
        else:
            self._is_new = False
            super().dataReceived(data)  # type: ignore[no-untyped-call]

    def headerReceived(self, line: bytes) -> bool:
        """Receive a line of the head; refuse one that announces an impossible length."""
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and len(value.strip()) > _LENGTH_DIGITS:
            self._respondToBadRequestAndDisconnect()  # type: ignore[no-untyped-call]
            return False
        return bool(super().headerReceived(line))  # type: ignore[no-untyped-call]

    def refuse(self, code: HTTPStatus, headers: Mapping[str, str], body: bytes) -> None:
        """Answer at once, and go on reading for a moment."""
        lines = [f"HTTP/1.1 {code} {code.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        # TLS can't be closed on one side. The TCP connection below it can, but not all was written to that one yet.
        if hasattr(self.transport, "loseWriteConnection") and not ISSLTransport.providedBy(self.transport):
            self.transport.loseWriteConnection()
        self.set_timer(LINGER_S, self.leave)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Cancel the timer."""
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def set_timer(self, limit_s: float, function: Callable[[], None]) -> None:
        """Call a function after a time, in the place of what was to be called before."""
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = self.callLater(limit_s, function)

    def leave(self) -> None:
        """Close the connection once everything is sent, and soon in any case."""
        self.set_timer(LINGER_S, self.abort)
        self.transport.loseConnection()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abortConnection()


class BodyLimit(Struct, frozen=True):
    """How much of a body may come."""

    kept: int = 0
    """Most bytes that are kept; a longer body is refused."""
    dropped: int = 65_536
    """Most bytes that are read and dropped; a client that sends more is disconnected."""


NO_BODY = BodyLimit()
FindLimit = Callable[[str, str, Any], BodyLimit]
"""Tells how much of a body may come: by method, path and request."""


class _Request(Request):
    """One request; called by Twisted."""

    channel: Any
    content: Any

    def __init__(self, find_limit: FindLimit, *args: Any, is_behind_proxy: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]  # Twisted has no types
        if not hasattr(self.client, "host"):
            self.client = IPv4Address("TCP", _THIS_MACHINE, 0)
        self._is_behind_proxy = is_behind_proxy
        self._find_limit = find_limit
        self._limit = NO_BODY
        self._came = 0
        self._is_cut = False
        self.content_type = ""
        """Media type of the body."""

    @property
    def is_too_large(self) -> bool:
        """Whether the body was longer than what is kept, so that nothing of it was."""
        return self._came > self._limit.kept

    def gotLength(self, length: int | None) -> None:
        """Look how much of the body may come."""
        if self._is_behind_proxy:
            self._take_from_proxy()  # first of all: what cookie counts depends on it
        self.content_type = self._plain_header(b"content-type")
        self.requestHeaders.removeHeader(b"content-type")  # Twisted would take a form apart at once, and in memory
        method, path = self.channel._command, self.channel._path  # noqa: SLF001  # told only when it is whole
        self._limit = self._find_limit(method.decode("latin-1"), path.partition(b"?")[0].decode("latin-1"), self)
        is_cut = length is not None and length > max(self._limit.kept, self._limit.dropped)
        super().gotLength(length if self._limit.kept and not is_cut else 0)  # type: ignore[no-untyped-call]
        if is_cut:
            self._refuse_body()

    def handleContentChunk(self, data: bytes) -> None:
        """Keep a part of the body, unless it is too much."""
        if self._is_cut:
            return
        self._came += len(data)
        if not self.is_too_large:
            self.content.write(data)
            return
        self.content.seek(0)
        self.content.truncate()
        if self._came > self._limit.dropped:
            self._refuse_body()

    def _refuse_body(self) -> None:
        """Say that the body is too large, and take no more of it than what comes within a moment."""
        self._is_cut = True
        self.requestHeaders.removeHeader(b"expect")  # nobody is asked to go on
        self.channel.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HEADERS | {"Connection": "close"}, b"")

    def process(self) -> None:
        """Answer with the headers of the site, whoever makes the answer; whose body was refused has its answer."""
        if self._is_cut:
            return
        for name, value in HEADERS.items():
            self.setHeader(name, value)  # type: ignore[no-untyped-call]  # Twisted has no types
        if not self._is_readable():  # the framework would tell the organiser of each with a traceback
            self.write(refuse(self, HTTPStatus.BAD_REQUEST))  # type: ignore[no-untyped-call]  # Twisted has no types
            self.finish()  # type: ignore[no-untyped-call]  # Twisted has no types
            return
        if not self.requestHeaders.hasHeader(b"host"):  # else it is the address listened on, and a socket has none
            self.requestHeaders.setRawHeaders(b"host", [b"localhost"])
        super().process()  # type: ignore[no-untyped-call]  # Twisted has no types

    def _is_readable(self) -> bool:
        """Tell whether the address is UTF-8, and the host the name of one, which HTTP 1.1 asks for."""
        hosts = self.requestHeaders.getRawHeaders(b"host", [])
        if len(hosts) > 1 or (not hosts and self.clientproto == b"HTTP/1.1"):
            return False
        if not all(map(_is_host, hosts)):
            return False
        try:
            unquote_to_bytes(self.path).decode()
        except UnicodeDecodeError:
            return False
        return True

    def _take_from_proxy(self) -> None:
        """Take who asks, and whether by TLS, from what the proxy has added last: visitors send such headers, too."""
        host = _read_proxy_address(self._last_value(b"x-forwarded-for"))
        if host:
            self.client = IPv4Address("TCP", host, 0)  # only its host is looked at
        self._forceSSL = self._last_value(b"x-forwarded-proto").lower() == "https"

    def _last_value(self, name: bytes) -> str:
        """Return the last value of a header that is a list; empty if there is none."""
        values = b",".join(self.requestHeaders.getRawHeaders(name, [])).decode("latin-1").split(",")
        return next((value.strip() for value in reversed(values) if value.strip()), "")

    def _plain_header(self, name: bytes) -> str:
        """Return a header, the last one of its name, whatever bytes it has; empty if there is none."""
        return (self.requestHeaders.getRawHeaders(name) or [b""])[-1].decode("latin-1")


def _is_host(host: bytes) -> bool:
    """Tell whether this is the name or the address of a host."""
    found = _HOST.fullmatch(host) if len(host) <= _MOST_OF_HOST else None
    if found is None or found["v6"] is None:
        return found is not None
    try:
        IPv6Address(found["v6"].decode())
    except ValueError:
        return False
    return True


def _read_proxy_address(text: str) -> str:
    """Return the address that a proxy writes, with or without a port; empty if it is none, as `unknown`."""
    found = _WITH_PORT.fullmatch(text)
    try:
        return str(ip_address((found[1] or found[2]) if found else text))
    except ValueError:
        return ""


class _Connection(ProtocolWrapper):
    """One connection; called by Twisted."""

    factory: "Visitors"

    def connectionMade(self) -> None:
        """Count it, among those of its address."""
        super().connectionMade()  # type: ignore[no-untyped-call]  # Twisted has no types
        self.factory.add(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Count it no more."""
        self.factory.remove(self)
        super().connectionLost(reason)  # type: ignore[no-untyped-call]  # Twisted has no types


@implementer(IProtocolNegotiationFactory)  # without it, TLS ends with whoever offers protocols, as browsers do
class Visitors(WrappingFactory):
    """All connections of the site; called by Twisted.

    Args:
        resource: answers; a resource of Twisted's.
        reactor: Twisted's.
        find_limit: tells how much of a body may come.
        is_behind_proxy: whether all that comes is passed on by a web server in front, which tells whose it is.
    """

    protocol = _Connection
    noisy = False

    def __init__(self, resource: Any, reactor: Any, find_limit: FindLimit, *, is_behind_proxy: bool = False) -> None:
        site = Site(
            resource, partial(_Request, find_limit, is_behind_proxy=is_behind_proxy), reactor=reactor, timeout=SILENCE_S
        )
        site.protocol = HttpChannel  # type: ignore[assignment]  # that of Twisted's would find out about HTTP/2 first
        site.displayTracebacks = False
        site.noisy = False
        super().__init__(site)  # type: ignore[no-untyped-call]  # Twisted has no types
        self._is_behind_proxy = is_behind_proxy
        self._limiter: OriginLimiter[_Connection] = OriginLimiter(MOST_OF_ADDRESS, MOST)

    def acceptableProtocols(self) -> list[bytes]:
        """Return what is spoken inside of TLS: of HTTP/2 Twisted has a part only."""
        return [b"http/1.1"]

    def add(self, connection: _Connection) -> None:
        """Count a connection; where there are too many of its address, or of all, the oldest makes way.

        Those of a proxy are all its own: each stands for itself.
        """
        transport: Any = connection.transport
        host = str(getattr(transport.getPeer(), "host", ""))
        oldest = self._limiter.add(connection, str(id(connection)) if self._is_behind_proxy else find_origin(host))
        if oldest is not None:
            made_way: Any = oldest.transport
            made_way.abortConnection()

    def remove(self, connection: _Connection) -> None:
        """Count a connection no more."""
        self._limiter.discard(connection)
