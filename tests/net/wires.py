"""In-memory links: a PlayerLink on a transport without a network, and the player's end of it."""

from typing import Any, cast

from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from protocol import Connection, Need, Role
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Hello, Message
from referee.net.links.lobby import Lobby
from referee.net.links.player_protocol import LinkKind, PlayerLink


class Wire:
    """A transport that keeps what is written and tells its link when it is closed."""

    def __init__(self) -> None:
        self.link: PlayerLink | None = None
        self.host = "127.0.0.1"
        self.is_closed = self.is_cut = False
        self.is_slow = False
        """Whether to close takes until the loop has sent what was written, or until it is cut."""
        self.is_read = True
        """Whether the link still reads what the player says."""
        self.written = b""
        self.room: int | None = None
        """How many bytes the socket still takes before the player reads; None: all."""
        self.dataBuffer = b""
        """What the loop is to send."""
        self.is_flushed = True
        """Whether everything that was written did not wait for the loop."""

    def writeSomeData(self, data: bytes) -> int:
        """Keep bytes for the player's end, as many as there is room for."""
        assert not self.is_closed, "a socket that is closed takes nothing"
        taken = len(data) if self.room is None else min(len(data), self.room)
        self.room = None if self.room is None else self.room - taken
        self.written += data[:taken]
        return taken

    def write(self, data: bytes) -> None:
        """Keep bytes that the loop is to send, and does, as far as there is room."""
        self.dataBuffer += data
        self.is_flushed = False
        self.doWrite()

    def doWrite(self) -> None:
        """Send what is kept, as far as there is room; called by the loop, or by whom it is too slow for."""
        self.dataBuffer = self.dataBuffer[self.writeSomeData(self.dataBuffer) :]

    def pauseProducing(self) -> None:
        """Read no more."""
        self.is_read = False

    def loseConnection(self) -> None:
        """Close: in memory, at once, unless somebody reads too slowly."""
        if not self.is_slow:
            self.drop()

    def abortConnection(self) -> None:
        """Cut: in memory, at once."""
        self.is_cut = True
        self.drop()

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: FBT001  # Twisted's own
        """Know who is to be told when nobody reads: a test does that."""

    def unregisterProducer(self) -> None:
        """Forget it."""

    def getPeer(self) -> Any:
        """Return where the player is."""
        return IPv4Address("TCP", self.host, 4711)

    def drop(self) -> None:
        """End the connection, whichever side does."""
        self.is_closed = True
        link, self.link = self.link, None
        if link is not None:
            link.connectionLost(Failure(ConnectionDone("closed cleanly")))


class Peer:
    """A player at the other end of a wire; speaks only when told to.

    Args:
        lobby: who is told of the connection.
        clock: the test's clock.
        host: where it is.
    """

    kind: LinkKind = PlayerLink

    def __init__(self, lobby: Lobby, clock: Clock, host: str = "127.0.0.1") -> None:
        self.wire = Wire()
        self.wire.host = host
        self.connection = Connection(Role.PLAYER)
        self.link = self.kind(lobby, clock, clock.seconds)
        self.wire.link = self.link
        self.link.transport = cast("Any", self.wire)
        self.link.connectionMade()

    @property
    def is_open(self) -> bool:
        """Whether the connection still is."""
        return self.wire.link is not None

    def say(self, message: Message) -> None:
        """Send a message that is allowed now."""
        self.raw(self.connection.send(message))

    def raw(self, data: bytes) -> None:
        """Send any bytes."""
        if self.wire.link is not None:
            self.wire.link.dataReceived(data)

    def hello(self, name: str, token: str | None = None) -> list[Message]:
        """Say hello, and return what the referee answered."""
        self.say(Hello(version=PROTOCOL_VERSION, name=name, token=token))
        return self.heard()

    def heard(self) -> list[Message]:
        """Return the messages that came since the last call."""
        data, self.wire.written = self.wire.written, b""
        self.connection.receive_data(data)
        messages: list[Message] = []
        while (event := self.connection.next_event()) is not Need.DATA:
            assert isinstance(event, Message)
            messages.append(event)
        return messages


def kinds(messages: list[Message]) -> list[str]:
    """Return the names of messages."""
    return [type(message).__name__ for message in messages]


def fired(deferred: Any) -> list[Any]:
    """Return a list that holds the deferred's value once it has fired."""
    values: list[Any] = []
    deferred.addCallback(values.append)
    return values
