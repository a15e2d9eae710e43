"""What a link sends through a slow socket, and how it ends: the last message is sent before the connection is cut."""

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred
from twisted.internet.main import CONNECTION_LOST
from twisted.internet.task import Clock

from protocol import Role
from protocol.connection import Conversation
from protocol.frames import StreamReader
from protocol.messages import Message, Refused
from referee.net.links.lobby import Lobby
from referee.net.links.player_protocol import CLOSE_S, PlayerLink

from ..wires import Peer, fired

STANDSTILL_S = 3 * CLOSE_S


class Open(Lobby):
    """A lobby that accepts all connections, and seats nobody."""

    def find_refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Accept everybody."""

    def seat(self, link: PlayerLink) -> None:
        """Refuse the player, because there is no table."""

    def on_leave(self, link: PlayerLink) -> None:
        """Do nothing: no player is remembered."""


def closing_peer(clock: Clock) -> Peer:
    """Return a peer that was sent goodbye, and whose connection is still open."""
    peer = Peer(Open(clock), clock)
    peer.wire.is_slow = True
    peer.link.say_goodbye()
    return peer


class Socket(FileDescriptor):
    """Twisted's own buffers, with a socket that takes as many bytes as it has room for."""

    def __init__(self) -> None:
        super().__init__(cast("Any", SimpleNamespace(addWriter=self._wants, removeWriter=self._wants_no_more)))
        self.connected = 1
        self.room = 0
        self.is_broken = False
        self.taken = b""
        self.is_with_loop = False
        """Whether the loop was asked to write."""

    def getPeer(self) -> Any:
        """Return where the player is."""
        return SimpleNamespace(host="127.0.0.1")

    def getHost(self) -> Any:
        """Return where the referee is."""
        return SimpleNamespace(name="")

    def _wants(self, _descriptor: object) -> None:
        self.is_with_loop = True

    def _wants_no_more(self, _descriptor: object) -> None:
        self.is_with_loop = False

    def write_now(self) -> object:
        """Write the buffered bytes, as the loop does."""
        return cast("Any", self).doWrite()

    def writeSomeData(self, data: Any) -> Any:
        """Take bytes."""
        if self.is_broken:
            return CONNECTION_LOST
        count = min(self.room, len(data))
        self.taken += bytes(data[:count])
        self.room -= count
        return count


class Echoing(Conversation):
    """A conversation without rules; a refusal is sent as its reason."""

    def _read(self) -> Message | None:
        return None

    def _encode(self, message: Message) -> bytes:
        assert isinstance(message, Refused)
        return message.reason.encode()

    def send(self, message: Message) -> bytes:
        """Allow every message at any time."""
        return self._encode(message)


def linked() -> tuple[PlayerLink, Socket]:
    """Return a link without rules, and its socket."""
    link, socket = PlayerLink(Open(Clock()), Clock(), float, Echoing(Role.REFEREE, StreamReader(1))), Socket()
    link.transport = socket
    link.connectionMade()
    return link, socket


SAID = st.tuples(st.integers(0, 300_000), st.booleans(), st.integers(0, 200_000), st.integers(0, 3))
"""Number of bytes to send, whether they are held, the socket's room at that time, and later writes of the loop."""


@given(st.lists(SAID, max_size=8))
def test_all_that_is_said_arrives_in_its_order(saying: list[tuple[int, bool, int, int]]) -> None:
    """Each byte is sent once and in order, whether the link or the loop writes it."""
    link, socket = linked()
    said = b""
    for number, (count, is_held, room, turns) in enumerate(saying):
        socket.room = room
        text = chr(ord("a") + number) * count
        said += text.encode()
        (link.hold if is_held else link.send)(Refused(code="", reason=text))
        for _ in range(turns * socket.is_with_loop):
            socket.write_now()
        assert said.startswith(socket.taken)
    socket.room = len(said)
    link.flush()
    while socket.is_with_loop:
        socket.write_now()
    assert socket.taken == said


def test_what_a_socket_takes_never_waits_for_the_loop() -> None:
    """The loop writes nothing while the socket has room, nor after it has emptied the buffer."""
    link, socket = linked()
    for room, text, is_with_loop in ((9, "abc", False), (2, "abc", True), (9, "def", False), (9, "ghi", False)):
        socket.room = room
        link.send(Refused(code="", reason=text))
        assert socket.is_with_loop is is_with_loop
    assert socket.taken == b"abcabcdefghi"


def test_an_error_is_left_for_the_loop_to_come_upon() -> None:
    """The sender is told nothing; the loss of the connection is reported as usual."""
    link, socket = linked()
    socket.is_broken = True
    link.send(Refused(code="", reason="abc"))
    assert socket.is_with_loop
    assert socket.write_now() is CONNECTION_LOST


def test_a_standstill_cuts_nobody() -> None:
    """A player's time to read begins when the loop could send; until then there was nothing to read."""
    clock = Clock()
    peer = closing_peer(clock)
    clock.advance(STANDSTILL_S)
    assert not peer.wire.is_cut


def test_who_does_not_read_is_cut() -> None:
    clock = Clock()
    peer = closing_peer(clock)
    clock.advance(0)
    clock.advance(CLOSE_S * 0.99)
    assert not peer.wire.is_cut
    clock.advance(CLOSE_S * 0.02)
    assert peer.wire.is_cut


def test_who_closes_in_time_leaves_no_timer() -> None:
    """There is no timer left, whether the connection ended before its time to close began or after."""
    for seconds in (0.0, CLOSE_S / 2):
        clock = Clock()
        peer = closing_peer(clock)
        clock.advance(seconds)
        peer.wire.drop()
        clock.advance(STANDSTILL_S)
        assert not peer.wire.is_cut


def test_who_was_told_goodbye_is_waited_for_until_it_is_gone() -> None:
    """A peer reads and closes, or is cut. Without a goodbye, nobody waits for it."""
    for leaves in (True, False):
        clock = Clock()
        peer = closing_peer(clock)
        gone = fired(Deferred.fromCoroutine(peer.link.wait_closed()))
        clock.advance(0)
        assert gone == []
        if leaves:
            peer.wire.drop()
        else:
            clock.advance(CLOSE_S)
        assert gone == [None]
    staying = Peer(Open(clock), clock)
    assert fired(Deferred.fromCoroutine(staying.link.wait_closed())) == [None]
