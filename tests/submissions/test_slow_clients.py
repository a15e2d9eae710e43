"""The service's limits for slow, silent and many clients, under a test's clock. Knows no sockets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionLost
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from referee.net.desk import Authors
from referee.net.reception import CONNECTION_S, LINGER_S, MAX_CONNECTIONS, SILENCE_S, _Service
from referee.net.tokens import add_tokens

REQUEST = "POST /versions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\n"


class Reader:
    """A desk that never answers: what is tested is over before."""

    def answer(self, _inquiry: Any) -> "Deferred[Any]":
        """Take the inquiry and say nothing."""
        return Deferred()


class Door:
    """The service under a test's clock, and its clients."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self._clients: list[Any] = []
        path = folder / "authors.toml"
        self.token = add_tokens(path, ["ada"], may_renew=False)["ada"]
        self.service = _Service(Reader(), Authors(path), lambda *_, **__: None, self.clock)  # type: ignore[arg-type]

    def client(self) -> tuple[Any, StringTransport]:
        """Connect, and return the service's end and what it is connected by."""
        protocol = self.service.buildProtocol(None)
        transport = StringTransport()
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
def door(tmp_path: Path) -> Iterator[Door]:
    """Return a service that knows one author."""
    door = Door(tmp_path)
    yield door
    door.close()


@pytest.mark.parametrize(
    "said", ["", "POST /vers", REQUEST, REQUEST + "some of it"], ids=["nothing", "half a line", "head", "half a body"]
)
def test_a_silent_client_is_let_go(door: Door, said: str) -> None:
    """Wherever in its request it falls silent."""
    protocol, transport = door.client()
    protocol.dataReceived(said.format(token=door.token).encode())
    door.advance(SILENCE_S - 1)
    assert not transport.disconnecting
    door.advance(1)
    assert transport.disconnecting


def test_a_dripping_client_is_cut_off(door: Door) -> None:
    """A byte now and then is not silence; the whole request has its time, and no more."""
    protocol, transport = door.client()
    protocol.dataReceived(REQUEST.format(token=door.token).encode())
    for _ in range(round(CONNECTION_S / 10) - 1):
        door.advance(10)
        protocol.dataReceived(b"x")
    assert not transport.disconnecting
    door.advance(10)
    assert transport.disconnected or transport.disconnecting


def test_a_refused_client_that_sends_on_hears_why_and_is_let_go(door: Door) -> None:
    """The answer is there at once; what still comes is read for a moment, and kept nowhere."""
    protocol, transport = door.client()
    protocol.dataReceived(REQUEST.format(token="nobody's").encode())
    assert transport.value().startswith(b"HTTP/1.1 401 ")
    protocol.dataReceived(b"x" * 1000)
    assert not transport.disconnecting
    door.advance(LINGER_S)
    assert transport.disconnecting


def test_only_so_many_are_let_in_at_a_time(door: Door) -> None:
    """Who comes later is turned away until somebody has left."""
    clients = [door.client() for _ in range(MAX_CONNECTIONS)]
    assert door.service.buildProtocol(None) is None
    door.leave(clients[0][0])
    door.client()
    assert door.service.buildProtocol(None) is None
