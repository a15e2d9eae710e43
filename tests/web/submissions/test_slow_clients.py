"""The service's limits for slow, silent and many clients, under a test's clock."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionLost
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from referee.net.http_channel import LINGER_S
from referee.net.http_server import HttpServer
from referee.net.links.tokens import add_tokens
from referee.web.submissions.api import LIMITS, AuthorApi
from referee.web.submissions.authors import Authors

AUTHORS = ["ada", *(f"author{number}" for number in range(LIMITS.known // LIMITS.of_client))]
REQUEST = "POST /versions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\n"


class Reader(AuthorApi):
    """One that never answers: what is tested is over before."""

    def __init__(self, authors: Authors) -> None:
        self._authors = authors

    def answer(self, _inquiry: Any) -> Any:
        """Take the inquiry and say nothing."""
        return Deferred()


class Served:
    """The service under a test's clock, and its clients."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self._clients: list[Any] = []
        path = folder / "authors.toml"
        self.tokens = add_tokens(path, AUTHORS, may_renew=False)
        self.token = self.tokens["ada"]
        self.server = HttpServer(Reader(Authors(path)), LIMITS, lambda *_, **__: None, self.clock)

    def client(self, host: str = "192.0.2.1") -> tuple[Any, StringTransport]:
        """Connect from some host, and return the service's end and what it is connected by."""
        protocol = self.server.buildProtocol(None)
        transport = StringTransport(peerAddress=IPv4Address("TCP", host, 4711))
        protocol.makeConnection(transport)
        self._clients.append(protocol)
        return protocol, transport

    def leave(self, protocol: Any) -> None:
        """End a connection."""
        self._clients.remove(protocol)
        protocol.connectionLost(Failure(ConnectionLost()))

    def close(self) -> None:
        """End all connections, and see that nothing is waited for any more."""
        for protocol in list(self._clients):
            self.leave(protocol)
        assert self.clock.getDelayedCalls() == []

    def advance(self, time_s: float) -> None:
        """Let time pass, second by second."""
        for _ in range(round(time_s)):
            self.clock.advance(1)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Return a service that knows one author."""
    served = Served(tmp_path)
    yield served
    served.close()


@pytest.mark.parametrize("said", ["", "some of it"], ids=["head", "half a body"])
def test_a_silent_client_is_let_go(served: Served, said: str) -> None:
    """Wherever in its request it falls silent."""
    protocol, transport = served.client()
    protocol.dataReceived((REQUEST.format(token=served.token) + said).encode())
    served.advance(LIMITS.silence_s - 1)
    assert not transport.disconnecting
    served.advance(1)
    assert transport.disconnecting


@pytest.mark.parametrize("said", ["", "POST /vers", REQUEST[:-2]], ids=["nothing", "half a line", "half a head"])
def test_a_head_has_its_time_however_it_comes(served: Served, said: str) -> None:
    """Nobody is known before it is whole: a byte now and then buys nothing, with a token or without."""
    protocol, transport = served.client()
    protocol.dataReceived(said.format(token=served.token).encode())
    for _ in range(round(LIMITS.head_s) - 1):
        served.advance(1)
        protocol.dataReceived(b"x")
    assert not transport.disconnecting
    served.advance(1)
    assert transport.disconnecting


def test_a_handshake_is_left_at_once(served: Served) -> None:
    """Who speaks TLS with a service that does not waits for an answer; within a request, the same byte is none."""
    handshake = b"\x16\x03\x01"
    protocol, transport = served.client()
    protocol.dataReceived(handshake)
    assert transport.disconnecting
    protocol, transport = served.client()
    protocol.dataReceived(REQUEST.format(token=served.token).encode())
    protocol.dataReceived(handshake)
    assert not transport.disconnecting


def test_a_head_that_lay_in_the_socket_is_read(served: Served) -> None:
    """A service that stood still reads what came meanwhile before it lets anybody go."""
    protocol, transport = served.client()
    clock: Any = served.clock
    clock.rightNow += LIMITS.head_s + 1
    (late,) = [call for call in clock.calls if call.getTime() <= clock.seconds()]
    clock.calls.remove(late)
    late.called = 1
    late.func()  # the turn of the loop in which its time is over; in the same one, sockets are read
    protocol.dataReceived(REQUEST.format(token=served.token).encode())
    served.advance(1)
    assert not transport.disconnecting


def test_a_dripping_author_is_cut_off(served: Served) -> None:
    """A byte now and then is not silence; the whole request has its time, and no more."""
    protocol, transport = served.client()
    protocol.dataReceived(REQUEST.format(token=served.token).encode())
    for _ in range(round(LIMITS.request_s / 10) - 1):
        served.advance(10)
        protocol.dataReceived(b"x")
    assert not transport.disconnected
    served.advance(10)
    assert transport.disconnected


def test_a_refused_client_that_sends_on_hears_why_and_is_let_go(served: Served) -> None:
    """The answer is there at once; what still comes is read for a moment, and kept nowhere."""
    protocol, transport = served.client()
    protocol.dataReceived(REQUEST.format(token="nobody's").encode())
    assert transport.value().startswith(b"HTTP/1.1 401 ")
    protocol.dataReceived(b"x" * 1000)
    assert not transport.disconnecting
    served.advance(LINGER_S)
    assert transport.disconnecting


def test_strangers_keep_nobody_out(served: Served) -> None:
    """However many connect from one address and say nothing, who has a token is heard, from there or elsewhere."""
    silent = [served.client() for _ in range(10 * LIMITS.of_address)]
    for host in ("192.0.2.1", "192.0.2.2"):
        author, transport = served.client(host)
        author.dataReceived(REQUEST.format(token=served.token).encode())
        served.clock.advance(0)
        assert not transport.disconnected
    assert sum(not transport.disconnected for _, transport in silent) == LIMITS.of_address - 1


def test_strangers_from_many_addresses_keep_nobody_out(served: Served) -> None:
    """There are never more than so many in all; the oldest makes way where no address has more than another."""
    silent = [served.client(f"192.0.2.{number}") for number in range(2 * LIMITS.strangers)]
    author, transport = served.client("198.51.100.1")
    author.dataReceived(REQUEST.format(token=served.token).encode())
    served.clock.advance(0)
    assert not transport.disconnected
    assert sum(not transport.disconnected for _, transport in silent) == LIMITS.strangers - 1


def test_who_came_in_a_crowd_is_heard_first(served: Served) -> None:
    """A class behind one router hands in at once: what it said counts, read or not, before anybody makes way."""
    clients = [served.client() for _ in range(3 * LIMITS.of_address)]
    for (protocol, _), name in zip(clients, AUTHORS, strict=False):
        protocol.dataReceived(REQUEST.format(token=served.tokens[name]).encode())
    served.clock.advance(0)
    assert not any(transport.disconnected for _, transport in clients[: len(AUTHORS)])


def test_an_author_keeps_no_other_out(served: Served) -> None:
    """Its oldest request makes way for its newest, and nobody else's does."""
    other, others = served.client()
    other.dataReceived(REQUEST.format(token=served.tokens[AUTHORS[1]]).encode())
    own = [served.client() for _ in range(LIMITS.of_client + 1)]
    for protocol, _ in own:
        protocol.dataReceived(REQUEST.format(token=served.token).encode())
    assert [transport.disconnected for _, transport in own] == [True] + [False] * LIMITS.of_client
    assert not others.disconnected
