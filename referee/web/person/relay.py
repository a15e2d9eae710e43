"""A person's seat whose page another process has: what it shows goes there, and what is done on it comes back.

Both are lines of JSON, over a socket that was handed down.
"""

import socket
from contextlib import suppress
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as TookTooLong
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure

from .seat import Act, PersonSeat
from .view import PACE_S

MAX_LINE_BYTES = 16 << 20
"""Most bytes of one state: a drawing of the largest board is far below that."""
_LINGER_S = 2.0
"""So long the end may take to be heard."""


class SeatRelay(LineOnlyReceiver):
    """One end of the socket; called by Twisted.

    Args:
        seat: the person's.
        clock: the reactor, or a test's clock.
    """

    delimiter = b"\n"
    transport: Any

    def __init__(self, seat: PersonSeat, clock: Any) -> None:
        self._seat = seat
        self._clock = clock
        self._due: Any = None
        self._gone: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        """Tell what is to be seen, and whatever changes."""
        self._seat.changed = self._tell_soon
        self._tell()

    def lineReceived(self, line: bytes) -> None:
        """Do what somebody has done on the page."""
        self._seat.do(msgspec.json.decode(line, type=Act))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Tell nothing any more: the match goes on without the person, until its time is over."""
        self._seat.changed = lambda: None
        self._cancel()
        self._gone.callback(None)

    async def close(self) -> None:
        """Tell the end, and wait until it is heard."""
        self._seat.close()
        self._cancel()
        self._tell()
        self.transport.loseConnection()
        with suppress(TookTooLong):
            await self._gone.addTimeout(_LINGER_S, self._clock)

    def _tell_soon(self) -> None:
        if self._due is None:
            self._due = self._clock.callLater(PACE_S, self._tell)

    def _tell(self) -> None:
        self._due = None
        self.transport.write(msgspec.json.encode(self._seat.state()) + self.delimiter)

    def _cancel(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


def speak(protocol: Protocol, own: socket.socket, reactor: Any) -> None:
    """Have a protocol speak over a socket that is connected; closes this one, as the reactor takes one of its own."""
    own.setblocking(False)
    with own:
        reactor.adoptStreamConnection(own.fileno(), socket.AF_UNIX, Factory.forProtocol(lambda: protocol))
