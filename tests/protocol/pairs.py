"""Two connections joined without a network."""

from protocol.connection import Connection, Need, Role
from protocol.messages import Message


class ConnectionPair:
    """A player's and a referee's connection; what one side sends, the other receives at once.

    Args:
        chunk_bytes: how many bytes the other side gets at a time; 1 finds what relies on the cut.
    """

    def __init__(self, chunk_bytes: int = 65_536) -> None:
        self.player = Connection(Role.PLAYER)
        self.referee = Connection(Role.REFEREE)
        self._chunk_bytes = chunk_bytes

    def side(self, role: Role) -> Connection:
        """Return the connection that speaks for a role."""
        return self.player if role is Role.PLAYER else self.referee

    def send(self, sender: Role, *messages: Message) -> list[Message]:
        """Send messages from one side to the other.

        Returns:
            What the other side received.

        Raises:
            LocalProtocolError: the sender may not send one of them now.
            RemoteProtocolError: the receiver does not take it.
        """
        receiver = self.referee if sender is Role.PLAYER else self.player
        received: list[Message] = []
        for message in messages:
            received += deliver(receiver, self.side(sender).send(message), self._chunk_bytes)
        return received


def deliver(receiver: Connection, data: bytes, chunk_bytes: int = 65_536) -> list[Message]:
    """Pass bytes to a connection, a chunk at a time, and return the received messages.

    Raises:
        RemoteProtocolError: the bytes break the protocol.
    """
    received: list[Message] = []
    for start in range(0, len(data), chunk_bytes):
        receiver.receive_data(data[start : start + chunk_bytes])
        while (event := receiver.next_event()) is not Need.DATA:
            assert isinstance(event, Message)
            received.append(event)
    return received
