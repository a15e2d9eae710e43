"""The endpoint for monitors under a test's clock: it takes no bodies, and no client for long."""

from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionLost
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from referee.net.http_channel import LINGER_S
from referee.net.http_server import HttpServer
from referee.net.monitor import LIMITS, Monitor

GET = b"GET %b HTTP/1.1\r\nHost: a\r\n%b\r\n"


class Endpoint:
    """The endpoint and its clients."""

    def __init__(self) -> None:
        self.clock = Clock()
        registry = CollectorRegistry()
        Counter("matches", "Matches", registry=registry).inc()
        self._server = HttpServer(Monitor(registry), LIMITS, lambda *_, **__: None, self.clock)
        self._clients: list[Any] = []

    def client(self) -> tuple[Any, StringTransport]:
        """Connect, and return the endpoint's end and what it is connected by."""
        protocol = self._server.buildProtocol(None)
        transport = StringTransport(peerAddress=IPv4Address("TCP", "192.0.2.1", 4711))
        protocol.makeConnection(transport)
        self._clients.append(protocol)
        return protocol, transport

    def close(self) -> None:
        """End all connections, and see that nothing is waited for any more."""
        for protocol in self._clients:
            protocol.connectionLost(Failure(ConnectionLost()))
        assert self.clock.getDelayedCalls() == []


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Return an endpoint with one number."""
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        (b"/metrics", b"200", b"\nmatches_total 1.0\n"),
        (b"/health", b"200", b"\r\n\r\nok\n"),
        (b"/", b"404", b"GET /metrics or /health"),
        (b"/metrics/x", b"404", b"GET /metrics or /health"),
    ],
)
def test_a_page_is_answered_and_the_connection_closed(
    endpoint: Endpoint, path: bytes, code: bytes, said: bytes
) -> None:
    """There are two pages."""
    protocol, transport = endpoint.client()
    protocol.dataReceived(GET % (path, b""))
    assert transport.value().startswith(b"HTTP/1.1 %b " % code)
    assert said in transport.value()
    assert transport.disconnecting


@pytest.mark.parametrize(
    ("method", "announced"),
    [
        (b"GET", b"Content-Length: 1\r\n"),
        (b"POST", b"Content-Length: 99999999999\r\n"),
        (b"POST", b"Transfer-Encoding: chunked\r\n"),
        (b"POST", b""),
    ],
)
def test_a_body_is_refused_before_it_is_read(endpoint: Endpoint, method: bytes, announced: bytes) -> None:
    """What is sent of it all the same is kept nowhere, and soon not even read."""
    protocol, transport = endpoint.client()
    protocol.dataReceived((GET % (b"/metrics", announced)).replace(b"GET", method))
    assert transport.value().startswith(b"HTTP/1.1 413 ")
    protocol.dataReceived(b"x" * 500_000)
    assert protocol.requests[0].content.getvalue() == b""
    endpoint.clock.advance(LINGER_S)
    assert transport.disconnecting


def test_who_asks_for_nothing_is_let_go(endpoint: Endpoint) -> None:
    """Whatever it says meanwhile."""
    protocol, transport = endpoint.client()
    for _ in range(9):
        endpoint.clock.advance(LIMITS.head_s / 10)
        protocol.dataReceived(b"x")
    assert not transport.disconnecting
    endpoint.clock.advance(LIMITS.head_s / 10)
    assert transport.disconnecting


def test_only_so_many_are_connected(endpoint: Endpoint) -> None:
    """The oldest makes way, and whoever asks is answered."""
    idle = [endpoint.client() for _ in range(10 * LIMITS.of_address)]
    protocol, transport = endpoint.client()
    protocol.dataReceived(GET % (b"/health", b""))
    endpoint.clock.advance(0)
    assert transport.value().endswith(b"ok\n")
    assert sum(not transport.disconnected for _, transport in idle) < LIMITS.of_address
