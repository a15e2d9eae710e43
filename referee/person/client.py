"""The wire of a person's seat: the protocol's player, for a loop of events."""

import os
from collections.abc import Callable
from typing import Any

from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from protocol.connection import Connection, Role
from protocol.errors import ProtocolError
from protocol.fairness import nonce_commitment
from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Ack, Hello, Message, Move, Nonce, Offer, Ready, Reveal

from ..launch import Invitation


class PersonClient(Protocol):
    """One connection of a person's seat; called by Twisted."""

    transport: Any

    def __init__(
        self, name: str, invitation: Invitation, hear: Callable[[Message], None], gone: Callable[[], None]
    ) -> None:
        self._name = name
        self._invitation = invitation
        self._hear = hear
        self._gone = gone
        self._connection = Connection(Role.PLAYER)
        self._nonce = os.urandom(16).hex()

    def connectionMade(self) -> None:
        """Greet."""
        self.send(Hello(version=PROTOCOL_VERSION, name=self._name, token=self._invitation.token))

    def dataReceived(self, data: bytes) -> None:
        """Take what the referee says."""
        try:
            self._connection.receive_data(data)
            while isinstance(message := self._connection.next_event(), Message):
                self._answer(message)
                self._hear(message)
        except ProtocolError:
            self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Tell that it is over."""
        self._gone()

    def move(self, match: str, turn: int, move: Any) -> None:
        """Answer a turn."""
        self.send(Move(match=match, turn=turn, move=move))

    def send(self, message: Message) -> None:
        """Send a message."""
        self.transport.write(self._connection.send(message))

    def _answer(self, message: Message) -> None:
        """Answer what needs nobody's thought."""
        if isinstance(message, Offer):
            commitment = nonce_commitment(message.match, message.seat, self._nonce)
            self.send(Ready(match=message.match, commitment=commitment))
        elif isinstance(message, Reveal):
            self.send(Nonce(match=message.match, nonce=self._nonce))
        ack = getattr(message, "ack", None)
        if ack is not None:
            self.send(Ack(match=getattr(message, "match", ""), ack=ack))
