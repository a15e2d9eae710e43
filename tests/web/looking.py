"""A visitor of a contest, without a network."""

from typing import Any

from twisted.internet.defer import Deferred


class Visitor:
    """A request whose connection takes all bytes, until it is made to wait."""

    def __init__(self, host: str = "10.0.0.1") -> None:
        self.read = b""
        self.host = host
        self.transport = self
        self.producer: Any = None
        self.finished: Deferred[None] = Deferred()

    def getClientAddress(self) -> "Visitor":
        """Return an address with a host."""
        return self

    def registerProducer(self, producer: Any, streaming: bool) -> None:  # noqa: FBT001  # Twisted's
        """Store the producer that is told to wait."""
        assert streaming
        self.producer = producer

    def notifyFinish(self) -> "Deferred[None]":
        """Return what fires when it is over."""
        return self.finished

    def write(self, data: bytes) -> None:
        """Take what is sent."""
        self.read += data

    def abortConnection(self) -> None:
        """End."""
        self.finished.errback(ConnectionError())

    def events(self) -> list[bytes]:
        """Return the events since the last call."""
        read, self.read = self.read, b""
        return read.split(b"\n\n")[:-1]
