"""Limits for visitors: connections by address, and no bodies."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from klein import Klein
from twisted.internet.address import IPv4Address, UNIXAddress
from twisted.internet.ssl import PrivateCertificate
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.logger import LogLevel, globalLogPublisher
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.web.resource import Resource

from referee.web import visitors
from referee.web.http import find_address
from referee.web.visitors import LINGER_S, NO_BODY, BodyLimit, Visitors

from ..cli.test_serving import certificate

DROPPED_BYTES = NO_BODY.dropped
LIMIT = BodyLimit(10, 20)


class Echo(Resource):
    """A page that shows its whole request."""

    isLeaf = True  # noqa: N815  # Twisted's

    def render(self, request: Any) -> bytes:
        """Return the body of the request."""
        return b"body: " + bytes(request.content.read()) + (b", taken apart" if request.args else b"")


def new_site(clock: Clock | None = None) -> Visitors:
    """Return a site of one page."""
    return Visitors(Echo(), clock or Clock(), lambda method, path, request: LIMIT if path == "/form" else NO_BODY)  # type: ignore[no-untyped-call]  # Twisted has no types


def visitor(site: Visitors, host: str = "10.0.0.1", *, is_local: bool = False) -> tuple[Any, StringTransport]:
    """Connect, over TCP or through a socket in the file system."""
    address: Any = UNIXAddress(None) if is_local else IPv4Address("TCP", host, 1)
    transport = StringTransport(hostAddress=address, peerAddress=address)
    channel = site.buildProtocol(address)
    channel.makeConnection(transport)
    return channel, transport


@pytest.fixture
def site() -> Visitors:
    """Return a site of one page."""
    return new_site()


@pytest.mark.parametrize(
    "head", [b"content-length: %d\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n%x\r\n"], ids=["announced", "chunked"]
)
@pytest.mark.parametrize(("length", "is_cut"), [(1, False), (DROPPED_BYTES, False), (DROPPED_BYTES + 1, True)])
def test_nothing_is_kept_of_a_body(head: bytes, length: int, *, is_cut: bool) -> None:
    """A little too much is still answered; more is refused, and cut if it does not end."""
    clock = Clock()
    channel, transport = visitor(new_site(clock))
    data = b"POST / HTTP/1.1\r\nhost: x\r\n" + head % length + length * b"x"
    data += b"\r\n0\r\n\r\n" if b"chunked" in head else b""
    for start in range(0, len(data), 10_000):
        if not transport.disconnected:
            channel.dataReceived(data[start : start + 10_000])
    assert transport.value().startswith(b"HTTP/1.1 413 " if is_cut else b"HTTP/1.1 200 ")
    for _ in range(2):
        clock.advance(LINGER_S)
    assert transport.disconnected == is_cut
    assert (b"body: " in transport.value()) != is_cut
    assert transport.value().count(b"HTTP/1.1") == 1
    assert b"body: x" not in transport.value()


@pytest.mark.parametrize(("length", "kept", "is_cut"), [(10, 10, False), (11, 0, False), (20, 0, False), (21, 0, True)])
def test_a_body_has_the_room_that_it_is_given(length: int, kept: int, *, is_cut: bool) -> None:
    """Of a body that is too long nothing is kept; one that is far too long is cut."""
    clock = Clock()
    channel, transport = visitor(new_site(clock))
    channel.dataReceived(b"POST /form HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(length):
        if not transport.disconnected:
            channel.dataReceived(b"1\r\nx\r\n")
    if not is_cut:
        channel.dataReceived(b"0\r\n\r\n")
    for _ in range(2):
        clock.advance(LINGER_S)
    assert transport.disconnected == is_cut
    channel.connectionLost()
    assert is_cut or transport.value().count(b"x", transport.value().index(b"body: ")) == kept


def test_a_form_is_not_taken_apart_unasked(site: Visitors) -> None:
    """Otherwise all fields would be in memory before any is checked."""
    channel, transport = visitor(site)
    form = b"content-type: application/x-www-form-urlencoded\r\ncontent-length: 3\r\n\r\na=1"
    channel.dataReceived(b"POST /form HTTP/1.1\r\nhost: x\r\n" + form)
    assert b"body: a=1" in transport.value()
    assert b"taken apart" not in transport.value()


def test_one_address_has_so_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one more, its own oldest makes way; closed ones no longer count."""
    monkeypatch.setattr(visitors, "MOST_OF_ADDRESS", 2)
    site = new_site()
    other, first, second = visitor(site, "10.0.0.2")[1], visitor(site), visitor(site)
    second[0].connectionLost()
    third = visitor(site)
    assert not first[1].disconnected
    visitor(site)
    assert (first[1].disconnected, third[1].disconnected, other.disconnected) == (True, False, False)


class Who(Resource):
    """A page that shows who asks, and whether by TLS."""

    isLeaf = True  # noqa: N815  # Twisted's

    def render(self, request: Any) -> bytes:
        """Return the visitor's address and the kind of connection."""
        return f"{request.getClientAddress().host} {bool(request.isSecure())}".encode()


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({}, "10.0.0.1 False"),
        ({"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}, "192.0.2.7 True"),
        ({"X-Forwarded-For": "10.9.9.9, 192.0.2.7", "X-Forwarded-Proto": "https, http"}, "192.0.2.7 False"),
        ({"X-Forwarded-For": "2001:db8::1"}, "2001:db8::1 False"),
        ({"X-Forwarded-For": "192.0.2.7:4711"}, "192.0.2.7 False"),
        ({"X-Forwarded-For": "10.9.9.9:1, 192.0.2.7:65535 "}, "192.0.2.7 False"),
        ({"X-Forwarded-For": "[2001:db8::1]:4711"}, "2001:db8::1 False"),
        ({"X-Forwarded-For": "[2001:db8::1]"}, "2001:db8::1 False"),
        ({"X-Forwarded-For": "10.9.9.9, [::ffff:192.0.2.7]:80"}, "::ffff:c000:207 False"),
        ({"X-Forwarded-For": "192.0.2.7, , "}, "192.0.2.7 False"),
        ({"X-Forwarded-For": "10.9.9.9", "x-forwarded-for": "192.0.2.7:80"}, "192.0.2.7 False"),
        ({"X-Forwarded-For": "192.0.2.7", "x-forwarded-for": ""}, "192.0.2.7 False"),
        ({"X-Forwarded-For": "192.0.2.7, unknown"}, "10.0.0.1 False"),
        ({"X-Forwarded-For": "192.0.2.7:"}, "10.0.0.1 False"),
        ({"X-Forwarded-For": "192.0.2.7:x"}, "10.0.0.1 False"),
        ({"X-Forwarded-For": "[192.0.2.7"}, "10.0.0.1 False"),
        ({"X-Forwarded-For": ", ", "X-Forwarded-Proto": "http,HTTPS,"}, "10.0.0.1 True"),
        ({"X-Forwarded-For": "<script>", "X-Forwarded-Proto": "HTTPS!"}, "10.0.0.1 False"),
    ],
)
@pytest.mark.parametrize("is_behind_proxy", [False, True])
def test_a_proxy_tells_who_asks(sent: dict[str, str], told: str, *, is_behind_proxy: bool) -> None:
    """The last entry of the header counts, which the proxy added; without a proxy, the header is ignored."""
    site = Visitors(Who(), Clock(), lambda *_: NO_BODY, is_behind_proxy=is_behind_proxy)  # type: ignore[no-untyped-call]  # Twisted has no types
    channel, transport = visitor(site)
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    channel.dataReceived(f"GET / HTTP/1.0\r\n{lines}\r\n".encode())
    assert transport.value().decode().endswith(f"\r\n\r\n{told if is_behind_proxy else '10.0.0.1 False'}")


def test_all_visitors_of_a_proxy_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """No visitor makes way for another one."""
    monkeypatch.setattr(visitors, "MOST_OF_ADDRESS", 2)
    site = Visitors(Who(), Clock(), lambda *_: NO_BODY, is_behind_proxy=True)  # type: ignore[no-untyped-call]  # Twisted has no types
    assert not any(transport.disconnected for _, transport in [visitor(site) for _ in range(9)])


@pytest.mark.filterwarnings("ignore:Passing pyOpenSSL:DeprecationWarning")  # Twisted's own
def test_browsers_come_by_tls(site: Visitors, tmp_path: Path) -> None:
    """A client that offers protocols, as every browser does, gets a page over one of them."""
    clock, transport = Clock(), StringTransport()
    transport.setTcpNoDelay = lambda _on: None  # type: ignore[attr-defined]  # asked for through TLS alone
    pem = certificate(tmp_path).read_bytes() + (tmp_path / "key.pem").read_bytes()
    tls: Any = TLSMemoryBIOFactory  # Twisted's types know neither its own clocks nor its own factories
    server = tls(PrivateCertificate.loadPEM(pem).options(), False, site, clock).buildProtocol(transport.getPeer())
    server.makeConnection(transport)
    browser = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    browser.set_alpn_protocols(["h2", "http/1.1"])
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = browser.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")

    def answer_to(ask: Callable[[], Any]) -> Any:
        for _ in range(10):
            try:
                return ask()
            except ssl.SSLWantReadError:
                server.dataReceived(outgoing.read())
                clock.advance(0)
                incoming.write(transport.value())
                transport.clear()
        raise AssertionError("there is no end of it")

    answer_to(client.do_handshake)
    assert client.selected_alpn_protocol() == "http/1.1"
    client.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    assert b"body: " in answer_to(lambda: client.read(10_000))


WRONG_REQUESTS = {
    **{
        f"host {host[:20]!r}": b"GET / HTTP/1.1\r\nhost: " + host + b"\r\n\r\n"
        for host in (
            b"a..b",
            b"a" * 64,
            b".",
            b"",
            b"a.b..",
            b".a",
            b"x." * 200 + b"de",
            b"\xff\xfe",
            b"\xc3\xa4.de",
            b"a b",
            b"a/b",
            b"a@b",
            b"a,b:1,c",
            b"x:port",
            b"x:123456",
            b"[::1",
            b"[x]",
            b"[....]",
            b"[::::::]",
            b"[1:2]:80",
            b"[1.2.3.4]",
            b"a:b:c",
        )
    },
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
    "bad host, old": b"GET / HTTP/1.0\r\nhost: a..b\r\n\r\n",
    "no UTF-8": b"GET /%ff HTTP/1.1\r\nhost: x\r\n\r\n",
    **{
        f"length {length[:12]!r}": b"POST /form HTTP/1.1\r\nhost: x\r\ncontent-length: " + length + b"\r\n\r\n"
        for length in (b"1" * 5000, b"0" * 5000, b"9" * 20, b"-1", b"+1", b"1_0", b"0x1", b"", b"\xb2", b"1, 1")
    },
    "two lengths": b"POST /form HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
    "length and chunks": b"POST /form HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "no chunk": b"POST /form HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "NUL": b"GET / HTTP/1.1\r\nhost: x\0\r\n\r\n",
    "too long": b"POST /form HTTP/1.1\r\nhost: x\r\ncontent-length: 21\r\nexpect: 100-continue\r\n\r\n",
}


@pytest.mark.parametrize("data", WRONG_REQUESTS.values(), ids=WRONG_REQUESTS)
def test_a_wrong_request_is_the_visitors_and_nobody_is_told(site: Visitors, data: bytes) -> None:
    """The answer has a status for it, and nothing is logged, because the organiser would read it."""
    logged = list[Any]()
    observer: Any = logged.append
    globalLogPublisher.addObserver(observer)
    try:
        channel, transport = visitor(site)
        channel.dataReceived(data)
        channel.connectionLost()
    finally:
        globalLogPublisher.removeObserver(observer)
    assert transport.value()[:12] in (b"HTTP/1.1 400", b"HTTP/1.0 400", b"HTTP/1.1 413")
    assert [event for event in logged if event["log_level"] >= LogLevel.warn] == []


@pytest.mark.parametrize(
    "host", [b"x", b"x.", b"a_b.example:80", b"xn--bcher-kva.example", b"127.0.0.1:8080", b"[::1]:8080", b"a" * 63]
)
def test_a_host_is_one(site: Visitors, host: bytes) -> None:
    """This holds whatever a browser sends."""
    channel, transport = visitor(site)
    channel.dataReceived(b"GET / HTTP/1.1\r\nhost: " + host + b"\r\n\r\n")
    assert transport.value().startswith(b"HTTP/1.1 200")


def test_a_socket_in_the_file_system_is_listened_on() -> None:
    """Its visitors have no address, and with HTTP 1.0 they need not name a host."""
    app = Klein()
    app.route("/")(lambda request: f"{find_address(request)} {request.getRequestHostname().decode()}")
    site = Visitors(app.resource(), Clock(), lambda *_: NO_BODY)
    for head in (b"GET / HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"):
        channel, transport = visitor(site, is_local=True)
        channel.dataReceived(head)
        assert b"127.0.0.1 localhost" in transport.value()


@pytest.mark.parametrize("first", [b"\x16\x03\x01\x02\x00\x01", b"\x16"])
def test_who_speaks_tls_with_a_site_that_does_not_is_left_at_once(site: Visitors, first: bytes) -> None:
    """The visitor would wait for an answer to its handshake; later in a request the first byte means nothing."""
    channel, transport = visitor(site)
    channel.dataReceived(first)
    assert (transport.disconnecting, transport.value()) == (True, b"")
    other, answered = visitor(site)
    other.dataReceived(b"POST /form HTTP/1.0\r\ncontent-length: 1\r\n\r\n")
    other.dataReceived(b"\x16")
    assert b"body: \x16" in answered.value()
