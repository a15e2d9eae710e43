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
    """A transport that keeps the written bytes, and notifies its link when it is closed."""

    def __init__(self) -> None:
        self.link: PlayerLink | None = None
        self.host = "127.0.0.1"
        self.is_closed = self.is_cut = False
        self.is_slow = False
        """Whether closing takes until the loop has sent the written bytes, or until the connection is cut."""
        self.is_read = True
        """Whether the link still reads."""
        self.written = b""
        self.room: int | None = None
        """Number of bytes that the socket takes before the player reads; None: all."""
        self.dataBuffer = b""
        """Bytes that the loop is to send."""
        self.is_flushed = True
        """Whether all writes were immediate."""

    def writeSomeData(self, data: bytes) -> int:
        """Keep bytes for the player's end, as many as there is room for."""
        assert not self.is_closed, "a socket that is closed takes nothing"
        taken = len(data) if self.room is None else min(len(data), self.room)
        self.room = None if self.room is None else self.room - taken
        self.written += data[:taken]
        return taken

    def write(self, data: bytes) -> None:
        """Keep bytes that the loop is to send, and send as many as there is room for."""
        self.dataBuffer += data
        self.is_flushed = False
        self.doWrite()

    def doWrite(self) -> None:
        """Send the waiting bytes as far as there is room; called by the loop."""
        self.dataBuffer = self.dataBuffer[self.writeSomeData(self.dataBuffer) :]

    def pauseProducing(self) -> None:
        """Read no more."""
        self.is_read = False

    def loseConnection(self) -> None:
        """Close the connection: in memory, at once, unless the player reads too slowly."""
        if not self.is_slow:
            self.drop()

    def abortConnection(self) -> None:
        """Cut the connection: in memory, at once."""
        self.is_cut = True
        self.drop()

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: FBT001  # Twisted's own
        """Store the producer to notify when the player does not read; a test calls it."""

    def unregisterProducer(self) -> None:
        """Forget it."""

    def getPeer(self) -> Any:
        """Return where the player is."""
        return IPv4Address("TCP", self.host, 4711)

    def drop(self) -> None:
        """End the connection, as either side can do."""
        self.is_closed = True
        link, self.link = self.link, None
        if link is not None:
            link.connectionLost(Failure(ConnectionDone("closed cleanly")))


class Peer:
    """A player at the other end of a wire; it sends only what the test wants.

    Args:
        lobby: lobby that the connection is made to.
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
        """Whether the connection is still open."""
        return self.wire.link is not None

    def say(self, message: Message) -> None:
        """Send a message that is allowed now."""
        self.raw(self.connection.send(message))

    def raw(self, data: bytes) -> None:
        """Send any bytes."""
        if self.wire.link is not None:
            self.wire.link.dataReceived(data)

    def hello(self, name: str, token: str | None = None) -> list[Message]:
        """Say hello, and return the referee's answer."""
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
