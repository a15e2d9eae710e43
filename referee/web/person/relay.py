"""A person's seat whose page is in another process. This module sends the state there, and receives the actions."""

# States and actions are lines of JSON on a socket that this process has inherited from the other one. The other end of
# the socket is in contest/seats.py.
#
# Each line is a complete state, so only the latest one matters. Changes within PACE_S of each other are sent as one
# line: between two moves of a person, programs may make many moves within a few milliseconds.

import socket
from contextlib import suppress
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as TookTooLong
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure

from .browser import PACE_S
from .seat import Act, PersonSeat

MAX_LINE_BYTES = 16 << 20
"""Most bytes of one state: a drawing of the largest board has far fewer."""
_LINGER_S = 2.0
"""Most seconds to wait until the other process has received the final state."""


class SeatRelay(LineOnlyReceiver):
    """The seat's end of the socket; called by Twisted.

    Args:
        seat: seat of the person.
        clock: the reactor, or a test's clock.
    """

    delimiter = b"\n"
    transport: Any

    def __init__(self, seat: PersonSeat, clock: Any) -> None:
        self.seat = seat
        self._clock = clock
        self._due: Any = None
        self._gone: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        """Send the state, and every later change."""
        self.seat.changed = self._send_soon
        self._send_state()

    def lineReceived(self, line: bytes) -> None:
        """Carry out an action on the page."""
        self.seat.do(msgspec.json.decode(line, type=Act))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Stop sending; the match continues, and the seat makes no moves until its time is used up."""
        self.seat.changed = lambda: None
        self._cancel()
        self._gone.callback(None)

    async def close(self) -> None:
        """Send the final state, and wait until the other process has received it."""
        self.seat.close()
        self._cancel()
        self._send_state()
        self.transport.loseConnection()
        with suppress(TookTooLong):
            await self._gone.addTimeout(_LINGER_S, self._clock)

    def _send_soon(self) -> None:
        if self._due is None:
            self._due = self._clock.callLater(PACE_S, self._send_state)

    def _send_state(self) -> None:
        self._due = None
        self.transport.write(msgspec.json.encode(self.seat.state()) + self.delimiter)

    def _cancel(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


def speak(protocol: Protocol, own: socket.socket, reactor: Any) -> None:
    """Run a protocol over a connected socket, and close the socket: the reactor has a duplicate of it."""
    own.setblocking(False)
    with own:
        reactor.adoptStreamConnection(own.fileno(), socket.AF_UNIX, Factory.forProtocol(lambda: protocol))
