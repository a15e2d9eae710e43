"""Real sockets on a reactor of the test: messages in any pieces, and the ends of connections."""

import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from twisted.internet.error import ConnectionDone
from twisted.python import log
from twisted.python.failure import Failure

from protocol import Connection, Need, RemoteProtocolError, Role
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Hello, Message
from referee.net import event_loop as event_loop_module
from referee.net.links.lobby import Lobby
from referee.net.links.player_protocol import LinkFactory, PlayerLink

from ..real_loop import real_loop

HELLO = Hello(version=PROTOCOL_VERSION, name="ada")
LINGER_NOT = struct.pack("ii", 1, 0)
"""Option of a socket that closes with a reset."""


class Seats(Lobby):
    """Accepts all connections, and stores their messages."""

    def __init__(self, reactor: Any) -> None:
        super().__init__(reactor)
        self.came: list[str] = []
        self.lost: list[str] = []
        self.on_seated: Callable[[PlayerLink], None] = lambda _link: None
        self.on_catching_up: Callable[[], None] = lambda: None
        self.on_broken: Callable[[str], None] = lambda _code: None

    def catch_up(self) -> None:
        """Take the waiting messages."""
        self.on_catching_up()

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Accept everybody."""

    def seat(self, link: PlayerLink) -> None:
        """Store the new player's link."""
        self.came.append(link.name)
        self.on_seated(link)

    def on_leave(self, link: PlayerLink) -> None:
        """Store the link of a player that left."""
        self.lost.append(link.name)

    def on_breach(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Report the breach, and refuse the player as usual."""
        self.on_broken(str(error.code))
        super().on_breach(link, error)


class Scene:
    """A port, its lobby, and the players' ends."""

    def __init__(self, stack: ExitStack) -> None:
        self.reactor = stack.enter_context(real_loop())
        self.lobby = Seats(self.reactor)
        self.sockets = self.lobby.patience.loop.sockets
        factory = LinkFactory(self.lobby, self.reactor, self.reactor.seconds)
        self.port = self.reactor.listenTCP(0, factory, interface="127.0.0.1", backlog=512)
        self._stack = stack

    def connect(self) -> socket.socket:
        """Return a player's end of a new connection that the lobby has taken."""
        before = len(self.lobby.greeting)
        end = self._stack.enter_context(socket.create_connection(("127.0.0.1", self.port.getHost().port)))
        while len(self.lobby.greeting) == before:
            self.look()
        return end

    def look(self) -> None:
        """Let the loop take one turn without waiting."""
        self.reactor.iterate(0)

    def answers(self) -> list[str]:
        """Answer all players through the agenda; return the list of players that are read and answered from now on."""
        order: list[str] = []
        waiting: list[str] = []

        def _catch_up() -> None:
            order.extend(f"{name} answered" for name in waiting)
            waiting.clear()

        def _seat(link: PlayerLink) -> None:
            order.append(f"{link.name} heard")
            waiting.append(link.name)
            self.lobby.patience.loop.agenda.add(self.lobby, (_catch_up,))

        self.lobby.on_seated, self.lobby.on_catching_up = _seat, _catch_up
        return order

    def readers(self) -> set[str]:
        """Return the types of the descriptors that Twisted's loop reads itself."""
        return {type(reader).__name__ for reader in self.reactor.getReaders()} - {"_UnixWaker"}


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Open a port of the test's own."""
    with ExitStack() as stack:
        yield Scene(stack)


def said(name: str = "ada") -> bytes:
    """Return the bytes of a hello."""
    return Connection(Role.PLAYER).send(Hello(version=PROTOCOL_VERSION, name=name))


def heard(end: socket.socket) -> list[str]:
    """Return the kinds of messages that have come to a player that said hello."""
    connection = Connection(Role.PLAYER)
    connection.send(HELLO)
    end.setblocking(False)
    try:
        connection.receive_data(end.recv(65_536))
    except BlockingIOError:
        return []
    kinds = []
    while (message := connection.next_event()) is not Need.DATA:
        assert isinstance(message, Message)
        kinds.append(type(message).__name__)
    return kinds


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_what_comes_is_taken_however_it_is_cut(scene: Scene, piece: int) -> None:
    """The answer comes in the same turn of the loop. Twisted itself reads only the port and one more descriptor."""
    end, data = scene.connect(), said()
    for start in range(0, len(data), piece):
        assert scene.lobby.came == []
        end.sendall(data[start : start + piece])
        scene.look()
    assert scene.lobby.came == ["ada"]
    assert heard(end) == ["Welcome"]
    assert scene.readers() == {"Port", "PlayerSockets"}


def test_a_crowd_is_read_in_one_turn(scene: Scene) -> None:
    """All messages that are there when the loop looks are read in that turn."""
    ends = [scene.connect() for _ in range(8)]
    for number, end in enumerate(ends):
        end.sendall(said(f"p{number}"))
    scene.look()
    assert sorted(scene.lobby.came) == sorted(f"p{number}" for number in range(len(ends)))
    assert [heard(end) for end in ends] == [["Welcome"]] * len(ends)


@pytest.mark.parametrize(("most", "answered"), [(256, [3, 6, 8]), (3, [6, 8, 8])], ids=["few wait", "too many"])
def test_a_crowd_is_answered_in_some_turns_and_all_are_heard_meanwhile(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, most: int, answered: list[int]
) -> None:
    """So the instants are right however long the answers take, but the loop does not fall far behind."""
    monkeypatch.setattr(event_loop_module, "AT_ONCE", 3)
    monkeypatch.setattr(event_loop_module, "MOST_WAITING", most)
    taken: list[str] = []
    agenda = scene.lobby.patience.loop.agenda
    scene.lobby.on_seated = lambda link: agenda.add(link, (lambda: taken.append(link.name),))
    ends = [scene.connect() for _ in range(8)]
    for number, end in enumerate(ends[:7]):
        end.sendall(said(f"p{number}"))
    found: list[tuple[int, int]] = []
    for _ in answered:
        scene.look()
        scene.sockets.doRead()  # the next turn begins with this call, as whenever more arrives
        found.append((len(scene.lobby.came), len(taken)))
        if len(found) == 1:
            ends[7].sendall(said("late"))
    assert found == list(zip([7, 8, 8], answered, strict=True))
    assert taken == scene.lobby.came
    waiting = [getattr(call.func, "__self__", None) for call in scene.reactor.getDelayedCalls()]
    assert scene.sockets not in waiting


def test_what_came_together_is_answered_together(scene: Scene) -> None:
    """The agenda is held until the whole batch is read; then the answers are sent."""
    ends = [scene.connect() for _ in range(3)]
    taken: list[int] = []
    agenda = scene.lobby.patience.loop.agenda
    scene.lobby.on_seated = lambda link: agenda.add(link, (lambda: taken.append(len(scene.lobby.came)),))
    for end in ends:
        end.sendall(said())
    scene.look()
    assert taken == [3, 3, 3]


def test_of_one_match_nobody_is_read_until_the_last_one_is_answered(scene: Scene) -> None:
    """So no seat is judged before an earlier message has changed the match, and instants are in order."""
    ends = [scene.connect() for _ in range(3)]
    order = scene.answers()
    for number, end in enumerate(ends):
        end.sendall(said(f"p{number}"))
    scene.look()
    assert sorted(order[::2]) == ["p0 heard", "p1 heard", "p2 heard"]
    assert order[1::2] == [act.replace("heard", "answered") for act in order[::2]]


def test_who_has_left_by_what_came_before_is_read_no_more(scene: Scene) -> None:
    """Both had sent something, and the answer to the first one closes the other."""
    ends = [scene.connect() for _ in range(2)]
    first, second = scene.sockets.links.values()
    scene.lobby.on_seated = lambda _link: scene.lobby.patience.loop.agenda.add(scene.lobby, ())

    def _catch_up() -> None:
        (second if first.name else first).cut_off()

    scene.lobby.on_catching_up = _catch_up
    for end in ends:
        end.sendall(said())
    scene.look()
    assert (scene.lobby.came, {first.bytes_received, second.bytes_received}) == (["ada"], {0, len(said())})


def test_what_follows_in_the_same_bytes_is_judged_after_the_first_is_answered(scene: Scene) -> None:
    """So a message that was sent ahead is no foul if it was asked for in between."""
    end = scene.connect()
    order = scene.answers()
    scene.lobby.on_broken = order.append
    end.sendall(said() * 2)
    scene.look()
    assert order == ["ada heard", "ada answered", "out-of-turn"]


def test_an_end_is_told_after_what_came_before_is_answered(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds although the connection ended while its match waited for others."""
    monkeypatch.setattr(event_loop_module, "AT_ONCE", 0)
    end = scene.connect()
    (link,) = scene.sockets.links.values()
    order = scene.answers()
    monkeypatch.setattr(scene.lobby, "on_leave", lambda link: order.append(f"{link.name} left"))
    end.sendall(said())
    scene.look()
    link.transport.connectionLost(Failure(ConnectionDone()))
    assert order == ["ada heard", "ada answered", "ada left"]


def test_a_match_that_fails_to_catch_up_costs_one_connection(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """This is a fault of the referee; all other connections are read, then and later."""
    noted: list[Any] = []
    monkeypatch.setattr(log, "err", lambda: noted.append(sys.exc_info()[0]))
    ends = [scene.connect() for _ in range(3)]
    scene.answers()

    def _fail() -> None:
        scene.lobby.on_catching_up = lambda: None
        raise RuntimeError("broken")

    scene.lobby.on_catching_up = _fail
    for end in ends:
        end.sendall(said())
    for _ in range(3):
        scene.look()
    assert (noted, len(scene.lobby.came), len(scene.sockets.links)) == ([RuntimeError], 2, 2)


@pytest.mark.parametrize(("at_once", "came"), [(1, ["ada"]), (2, ["ada", "bob"])])
def test_what_comes_during_an_answer_is_taken_in_the_same_turn(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, at_once: int, came: list[str]
) -> None:
    """At most as many players are answered in a turn as are taken together."""
    monkeypatch.setattr(event_loop_module, "AT_ONCE", at_once)
    ada, bob = scene.connect(), scene.connect()
    scene.lobby.on_seated = lambda link: bob.sendall(said("bob")) if link.name == "ada" else None
    ada.sendall(said())
    scene.look()
    assert scene.lobby.came == came


@pytest.mark.parametrize("is_reset", [False, True])
@pytest.mark.parametrize("last_words", [b"", said()[:5], said()])
def test_an_end_is_noticed_once_and_nothing_before_it_is_lost(
    scene: Scene, *, is_reset: bool, last_words: bytes
) -> None:
    """The player closes or resets. Its last message counts, unless a reset has destroyed it."""
    end = scene.connect()
    descriptor = scene.sockets.fileno()
    end.sendall(last_words)
    if is_reset:
        scene.look()
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
    end.close()
    for _ in range(4):
        scene.look()
    assert scene.lobby.came == (["ada"] if last_words == said() else [])
    assert len(scene.lobby.lost) == 1
    assert scene.readers() == {"Port"}
    assert scene.sockets.fileno() == -1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_what_was_said_before_an_end_is_heard_at_once(scene: Scene) -> None:
    """Both were there when the loop looked, so no player is late because it left after its last message."""
    end = scene.connect()
    end.sendall(said())
    end.close()
    scene.look()
    assert scene.lobby.came == ["ada"]


def test_who_is_cut_off_is_read_no_more(scene: Scene) -> None:
    """This also holds in the middle of a batch, if the connection that pushes out another one is in the same batch."""
    ends = [scene.connect() for _ in range(2)]
    first, second = scene.sockets.links.values()
    scene.lobby.on_seated = lambda link: (second if link is first else first).cut_off()
    for end in ends:
        end.sendall(said())
    for _ in range(3):
        scene.look()
    assert scene.lobby.came == ["ada"]
    assert len(scene.sockets.links) == 1


def test_a_number_that_is_used_again_is_the_new_connections(scene: Scene) -> None:
    """The system gives a descriptor's number to the next connection."""
    for number in range(3):
        end = scene.connect()
        end.sendall(said(f"p{number}"))
        scene.look()
        end.close()
        for _ in range(3):
            scene.look()
    assert scene.lobby.came == ["p0", "p1", "p2"]
    assert scene.lobby.lost == ["p0", "p1", "p2"]


def test_when_the_loop_ends_every_connection_does(scene: Scene) -> None:
    """The owner is notified, as with connections that Twisted itself reads."""
    ends = [scene.connect() for _ in range(2)]
    scene.reactor.disconnectAll()
    assert len(scene.lobby.lost) == 2
    assert [end.recv(1) for end in ends] == [b"", b""]
    assert scene.sockets.fileno() == -1


def test_a_fault_costs_one_connection(scene: Scene) -> None:
    """The referee's fault is logged, and all other connections are read."""
    noted: list[str] = []

    def _note(event: log.EventDict) -> None:
        if event.get("failure") is not None:
            noted.append(event["failure"].getErrorMessage())

    def _seat(link: PlayerLink) -> None:
        if link.name == "p1":
            raise RuntimeError("broken")

    scene.lobby.on_seated = _seat
    ends = [scene.connect() for _ in range(3)]
    log.addObserver(_note)
    try:
        for number, end in enumerate(ends):
            end.sendall(said(f"p{number}"))
        for _ in range(3):
            scene.look()
    finally:
        log.removeObserver(_note)
    assert noted == ["broken"]
    assert sorted(scene.lobby.came) == ["p0", "p1", "p2"]
    assert len(scene.sockets.links) == 2


def test_a_transport_that_encrypts_is_left_to_twisted(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The socket does not show whether a message has arrived."""
    monkeypatch.setattr(PlayerLink, "has_socket", False)
    end = scene.connect()
    end.sendall(said())
    scene.look()
    assert scene.lobby.came == ["ada"]
    assert scene.readers() == {"Port", "Server"}
