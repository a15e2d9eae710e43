"""The HTTP server of the site: connections, requests, and the limits for both."""

# One reactor serves all visitors, and in `referee host` it also supervises the tournaments. So no work in the reactor
# may take more than a few milliseconds. Longer work runs in one of three places:
#
# - A thread (`deferToThread`), for the disk and for parsing uploads.
# - The workshop (workshop.py), a single thread. It makes pages for one visitor, such as a search or the board of a
#   turn. The client that has taken the least work so far is next.
# - A separate process, for checks, matches and reports, so that their work does not slow down the site.
#
# Visitors are strangers, so each resource has two limits. One limit is for each address, because one visitor must not
# shut the others out. The other is for all addresses together, because an attacker can easily get many. The limits are:
#
#     connections     MOST_OF_ADDRESS, MOST       here; a new connection replaces the oldest one
#     bodies          BodyLimit                   here, before the first byte of the body is read
#     uploads         UPLOADS_OF_PERSON, UPLOADS  guarded_routes.py
#     event streams   MOST_OF_ADDRESS, MOST       event_streams.py; a slow reader skips states
#     work            SECONDS_A_MINUTE            workshop.py
#     requests        RateLimit                   rate_limit.py
#
# Cutting the oldest connection, not refusing the newest one, is a deliberate choice. Otherwise an attacker who opens as
# many connections as allowed could keep everybody else out for any time.
#
# An address means an IPv4 address or an IPv6 /64 network (net/links/addresses.py: find_origin), because a home has
# 2**64 IPv6 addresses to choose from. Behind a proxy only the last value of X-Forwarded-For counts: the proxy wrote it,
# but the visitor may have invented the values before it.

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
from zope.interface import implementer  # type: ignore[import-untyped]  # zope has no types

from ..clock import Timer
from ..net.links.addresses import find_origin
from ..net.links.origin_limits import OriginLimiter
from .http import refuse

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # each page adds its own policy, which names its one script
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
LINGER_S = 2.0
"""Seconds for which the server still reads from a refused client; otherwise the client could lose the answer."""
_TLS_HANDSHAKE = b"\x16"
"""First byte from a client that uses TLS where the server does not; no HTTP request begins with this byte."""
_LENGTH_DIGITS = 15
"""Most digits of a Content-Length. Python itself refuses to convert numbers of thousands of digits."""
SILENCE_S = 30
"""Seconds after which a visitor who stops in the middle of a request is disconnected."""
MOST_OF_ADDRESS, MOST = 512, 4096
"""Most connections of one address, and of all addresses. A class of 200 may share an address, with several each."""
_LABEL = rb"[\w!$%&'()*+,;=~-]{1,63}"
_HOST = re.compile(rb"(?:" + _LABEL + rb"(?:\." + _LABEL + rb")*\.?|\[(?P<v6>[\da-fA-F:.]{2,45})\])(?::\d{0,5})?")
"""Form of a valid Host header."""
_MOST_OF_HOST = 255
"""Most bytes of the name of a host."""
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d+)?|([^:]*):\d+")
"""Form in which a proxy writes an address with a port, or an IPv6 address in brackets."""
_THIS_MACHINE = "127.0.0.1"
"""Address of visitors who come through a Unix socket, which has no address."""


class HttpChannel(http.HTTPChannel):
    """HTTP on one connection, with early refusals; called by Twisted."""

    callLater: Any  # noqa: N815  # Twisted's own
    transport: Any
    _timer: Timer | None = None
    _is_new = True

    def dataReceived(self, data: bytes) -> None:
        """Receive bytes. Disconnect a client that begins with a TLS handshake; it would wait in vain for an answer."""
        if self._is_new and data.startswith(_TLS_HANDSHAKE):
            self.leave()
        else:
            self._is_new = False
            super().dataReceived(data)  # type: ignore[no-untyped-call]

    def headerReceived(self, line: bytes) -> bool:
        """Receive a line of the head; refuse a request that announces an impossible length."""
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and len(value.strip()) > _LENGTH_DIGITS:
            self._respondToBadRequestAndDisconnect()  # type: ignore[no-untyped-call]
            return False
        return bool(super().headerReceived(line))  # type: ignore[no-untyped-call]

    def refuse(self, code: HTTPStatus, headers: Mapping[str, str], body: bytes) -> None:
        """Answer at once, and continue to read for a moment."""
        lines = [f"HTTP/1.1 {code} {code.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        # TLS can't be closed on one side. The TCP connection below could, but TLS has not yet written everything to it.
        if hasattr(self.transport, "loseWriteConnection") and not ISSLTransport.providedBy(self.transport):
            self.transport.loseWriteConnection()
        self.set_timer(LINGER_S, self.leave)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Cancel the timer."""
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        super().connectionLost(reason)  # type: ignore[no-untyped-call]

    def set_timer(self, limit_s: float, function: Callable[[], None]) -> None:
        """Call a function after a time, and cancel the previous planned call."""
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = self.callLater(limit_s, function)

    def leave(self) -> None:
        """Close the connection as soon as everything is sent, but soon in any case."""
        self.set_timer(LINGER_S, self.abort)
        self.transport.loseConnection()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abortConnection()


class BodyLimit(Struct, frozen=True):
    """Limits of one request's body."""

    kept: int = 0
    """Most bytes of an accepted body; a longer body is refused."""
    dropped: int = 65_536
    """Most bytes of a refused body that are read and dropped; a client that sends more is disconnected."""


NO_BODY = BodyLimit()
FindLimit = Callable[[str, str, Any], BodyLimit]
"""(method, path, request) -> limit of the body."""


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
        """True if the body was longer than its limit, so that it was dropped."""
        return self._came > self._limit.kept

    def gotLength(self, length: int | None) -> None:
        """Find the limit of the body, before the body arrives."""
        if self._is_behind_proxy:
            self._read_proxy_headers()  # first, because the name of the session cookie depends on TLS
        self.content_type = self._plain_header(b"content-type")
        self.requestHeaders.removeHeader(b"content-type")  # else Twisted parses a form at once, in memory
        method, path = self.channel._command, self.channel._path  # noqa: SLF001  # public only once the body is there
        self._limit = self._find_limit(method.decode("latin-1"), path.partition(b"?")[0].decode("latin-1"), self)
        is_cut = length is not None and length > max(self._limit.kept, self._limit.dropped)
        super().gotLength(length if self._limit.kept and not is_cut else 0)  # type: ignore[no-untyped-call]
        if is_cut:
            self._refuse_body()

    def handleContentChunk(self, data: bytes) -> None:
        """Keep a part of the body, unless it is too long."""
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
        """Refuse the body as too large, and read only the part of it that arrives within a moment."""
        self._is_cut = True
        self.requestHeaders.removeHeader(b"expect")  # so that Twisted does not ask the client to continue
        self.channel.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HEADERS | {"Connection": "close"}, b"")

    def process(self) -> None:
        """Answer with the headers of the site; do nothing if the refusal of the body was already the answer."""
        if self._is_cut:
            return
        for name, value in HEADERS.items():
            self.setHeader(name, value)  # type: ignore[no-untyped-call]  # Twisted has no types
        if not self._is_readable():  # else Klein logs a traceback for each such request
            self.write(refuse(self, HTTPStatus.BAD_REQUEST))  # type: ignore[no-untyped-call]  # Twisted has no types
            self.finish()  # type: ignore[no-untyped-call]  # Twisted has no types
            return
        if not self.requestHeaders.hasHeader(
            b"host"
        ):  # else Twisted uses the address of the port, which a Unix socket does not have
            self.requestHeaders.setRawHeaders(b"host", [b"localhost"])
        super().process()  # type: ignore[no-untyped-call]  # Twisted has no types

    def _is_readable(self) -> bool:
        """Return whether the address is UTF-8, and the Host header a valid name, which HTTP 1.1 requires."""
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

    def _read_proxy_headers(self) -> None:
        """Read the visitor's address, and whether the visitor uses TLS, from the last values that the proxy added."""
        host = _read_proxy_address(self._last_value(b"x-forwarded-for"))
        if host:
            self.client = IPv4Address("TCP", host, 0)  # only the host is used
        self._forceSSL = self._last_value(b"x-forwarded-proto").lower() == "https"

    def _last_value(self, name: bytes) -> str:
        """Return the last value of a header that is a list; empty if there is no such header."""
        values = b",".join(self.requestHeaders.getRawHeaders(name, [])).decode("latin-1").split(",")
        return next((value.strip() for value in reversed(values) if value.strip()), "")

    def _plain_header(self, name: bytes) -> str:
        """Return the last header with a name, with any bytes; empty if there is no such header."""
        return (self.requestHeaders.getRawHeaders(name) or [b""])[-1].decode("latin-1")


def _is_host(host: bytes) -> bool:
    """Return whether a text is the name or the address of a host."""
    parts = _HOST.fullmatch(host) if len(host) <= _MOST_OF_HOST else None
    if parts is None or parts["v6"] is None:
        return parts is not None
    try:
        IPv6Address(parts["v6"].decode())
    except ValueError:
        return False
    return True


def _read_proxy_address(text: str) -> str:
    """Return the address that a proxy has written, without its port; empty if the text is no address (`unknown`)."""
    with_port = _WITH_PORT.fullmatch(text)
    try:
        return str(ip_address((with_port[1] or with_port[2]) if with_port else text))
    except ValueError:
        return ""


class _Connection(ProtocolWrapper):
    """One connection; called by Twisted."""

    factory: "Visitors"

    def connectionMade(self) -> None:
        """Count the connection."""
        super().connectionMade()  # type: ignore[no-untyped-call]  # Twisted has no types
        self.factory.add(self)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Stop counting the connection."""
        self.factory.remove(self)
        super().connectionLost(reason)  # type: ignore[no-untyped-call]  # Twisted has no types


@implementer(IProtocolNegotiationFactory)  # else TLS fails with clients that offer protocols, such as browsers
class Visitors(WrappingFactory):
    """All connections of the site; called by Twisted.

    Args:
        resource: Twisted resource that answers requests.
        reactor: Twisted's reactor.
        find_limit: finds the limit of a request's body.
        is_behind_proxy: true if a web server in front passes on all requests, with the addresses of the visitors.
    """

    protocol = _Connection
    noisy = False

    def __init__(self, resource: Any, reactor: Any, find_limit: FindLimit, *, is_behind_proxy: bool = False) -> None:
        site = Site(
            resource, partial(_Request, find_limit, is_behind_proxy=is_behind_proxy), reactor=reactor, timeout=SILENCE_S
        )
        site.protocol = HttpChannel  # type: ignore[assignment]  # Twisted's own would try HTTP/2 first
        site.displayTracebacks = False
        site.noisy = False
        super().__init__(site)  # type: ignore[no-untyped-call]  # Twisted has no types
        self._is_behind_proxy = is_behind_proxy
        self._limiter: OriginLimiter[_Connection] = OriginLimiter(MOST_OF_ADDRESS, MOST)

    def acceptableProtocols(self) -> list[bytes]:
        """Return the protocols offered in TLS; Twisted's HTTP/2 is incomplete."""
        return [b"http/1.1"]

    def add(self, connection: _Connection) -> None:
        """Count a connection; if there are too many from its address, or in total, cut the oldest one.

        All connections of a proxy come from one address, so behind a proxy only the total is limited.
        """
        transport: Any = connection.transport
        host = str(getattr(transport.getPeer(), "host", ""))
        oldest = self._limiter.add(connection, str(id(connection)) if self._is_behind_proxy else find_origin(host))
        if oldest is not None:
            cut: Any = oldest.transport
            cut.abortConnection()

    def remove(self, connection: _Connection) -> None:
        """Stop counting a connection."""
        self._limiter.discard(connection)
