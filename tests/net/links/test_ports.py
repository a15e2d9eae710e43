"""Real ports on a test's loop: connections in a turn, and for whom a private socket's connections count."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import tcp, unix
from twisted.internet.protocol import Factory, Protocol

from referee.net.links.addresses import ACCEPTS, find_origin, limit_accepts
from referee.net.links.lobby import MatchLobby, SignUpPolicy
from referee.net.links.player_protocol import LinkFactory
from referee.net.matches.programs import MatchPrograms, Occupant, Vacancy, private_sockets
from referee.net.matches.settings import MatchServices
from referee.programs.confining import Confinement
from referee.programs.player_spec import Launch

from ...programs.loop import Loop

MANY = 5 * ACCEPTS


class Counting(Factory):
    """Counts its connections."""

    def __init__(self) -> None:
        self.count = 0

    def buildProtocol(self, addr: object) -> Protocol:
        """Count a connection; called by Twisted."""
        self.count += 1
        return Protocol()


@pytest.fixture
def open_ones() -> Iterator[ExitStack]:
    """Close what a test has opened."""
    with ExitStack() as stack:
        yield stack


def bounded(stack: ExitStack, kind: Any, address: Any, factory: Any) -> Any:
    """Return a listening port on a test's loop."""
    loop: Any = Loop()
    port = kind(address, factory, 4096, reactor=loop)
    port.startListening()
    stack.callback(lambda: [reader.socket.close() for reader in loop.readers])
    return limit_accepts(port)


def connected(stack: ExitStack, family: int, address: Any) -> socket.socket:
    """Return a connection to a port."""
    sock = stack.enter_context(socket.socket(family))
    sock.connect(address)
    return sock


@pytest.mark.parametrize("kind", [tcp.Port, unix.Port])
def test_a_turn_of_the_loop_takes_so_many_and_no_more(open_ones: ExitStack, tmp_path: Path, kind: Any) -> None:
    """A storm does not raise the number, and a quiet time does not lower it for good."""
    factory = Counting()
    path = str(tmp_path / "socket")
    port = bounded(open_ones, kind, path if kind is unix.Port else 0, factory)
    family = socket.AF_UNIX if kind is unix.Port else socket.AF_INET
    address = path if kind is unix.Port else ("127.0.0.1", port.getHost().port)
    counts = []
    for crowd in (1, MANY):
        for _ in range(crowd):
            connected(open_ones, family, address)
        for _ in range(4):
            port.doRead()
            counts.append(factory.count)
    assert counts == [1, 1, 1, 1, *(1 + ACCEPTS * turn for turn in (1, 2, 3, 4))]


def test_a_private_socket_answers_for_its_connections(open_ones: ExitStack, tmp_path: Path) -> None:
    """A program in a sandbox has a socket of its own and no other way in; so its first byte is known to be its own."""
    lobby = MatchLobby(Loop(), SignUpPolicy())
    for seat in range(2):
        path = str(tmp_path / str(seat))
        factory: Any = LinkFactory(lobby, lobby.clock, lobby.clock.seconds)
        port = bounded(open_ones, unix.Port, path, factory)
        connected(open_ones, socket.AF_UNIX, path)
        port.doRead()
        link = list(lobby.greeting)[seat]
        open_ones.callback(link.transport.socket.close)
        assert link.origin == path


def test_each_program_in_a_sandbox_has_a_socket_of_its_own(tmp_path: Path) -> None:
    """The socket is in a folder that nobody else can enter. Without a sandbox there is none."""
    stand_in: Any = object()
    occupants: list[Occupant] = [
        Launch(name="a", argv=()),
        Vacancy(name="b", why="it is ill"),
        Launch(name="c", argv=()),
    ]
    programs = MatchPrograms(stand_in, occupants, [], tmp_path, stand_in, MatchServices())
    boxed, free = Confinement(sandbox=stand_in), Confinement()
    with private_sockets(boxed, programs.seats) as sockets, private_sockets(free, programs.seats) as none:
        assert (list(sockets), len(set(sockets.values())), none) == ([0, 2], 2, {})
        assert {path.parent.stat().st_mode & 0o777 for path in sockets.values()} == {0o700}


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("referee", "referee"),
    ],
)
def test_a_site_answers_for_all_its_addresses(host: str, origin: str) -> None:
    """There are more addresses of IPv6 than can be counted."""
    assert find_origin(host) == origin
