"""A blocking client for authors: `run(choose)` connects, plays every match it is offered, and returns.

Knows sockets and the environment that a launched program finds. Refuses to know any game: `choose` gets the view as
plain data and returns the move as plain data.
"""

import os
import socket
import time
from collections.abc import Callable
from typing import Any

from .connection import Connection, Need, Role
from .errors import ProtocolError
from .limits import PROTOCOL_VERSION
from .messages import Ack, End, Expelled, Hello, Message, Move, Offer, Ready, Refused, Told, Turn

Choose = Callable[[Any], Any]
"""view -> move, both plain: dicts, lists, strings, numbers."""

_READ_BYTES = 65_536
_RETRY_S = 0.05


class ClientError(Exception):
    """The client can't go on; the text says why and what to do."""


class Client:
    """One player's side of one connection, blocking.

    Args:
        sock: a connected socket; closed by close().
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.connection = Connection(Role.PLAYER)

    def receive(self) -> Message | None:
        """Wait for the referee's next message.

        Returns:
            The message, or None once the referee has closed the connection.

        Raises:
            RemoteProtocolError: the referee broke the protocol.
        """
        while (event := self.connection.next_event()) is Need.DATA:
            try:
                data = self._sock.recv(_READ_BYTES)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self.connection.receive_data(data)
        assert isinstance(event, Message)
        return event

    def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            LocalProtocolError: it may not be sent now.
            OSError: the connection is gone.
        """
        self._sock.sendall(self.connection.send(message))

    def close(self) -> None:
        """Close the connection."""
        self._sock.close()


def connect(address: str, *, wait_s: float = 10.0) -> Client:
    """Connect to a referee, waiting for it to listen.

    Args:
        address: `tcp:HOST:PORT` or `unix:PATH`.
        wait_s: how long to try again while nobody listens, in seconds.

    Raises:
        ClientError: the address is not of that form, or nobody listens there.
    """
    kind, _, rest = address.partition(":")
    host, _, port = rest.rpartition(":")
    if not (kind == "unix" and rest) and not (kind == "tcp" and host and port.isdecimal() and int(port) < 1 << 16):
        raise ClientError(f"the address must be tcp:HOST:PORT or unix:PATH, not {address!r}")
    give_up = time.monotonic() + wait_s
    while True:
        try:
            return Client(_connected(kind, rest, host, port))
        except OSError as error:
            if time.monotonic() >= give_up:
                raise ClientError(f"no referee at {address}: {error}; is it running?") from None
            time.sleep(_RETRY_S)


def _connected(kind: str, path: str, host: str, port: str) -> socket.socket:
    if kind == "unix":
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(path)
        return sock
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def run(  # each has a default
    choose: Choose | None = None,
    *,
    make: Callable[[Offer], Choose] | None = None,
    on_told: Callable[[Told], None] | None = None,
    address: str | None = None,
    name: str | None = None,
    token: str | None = None,
) -> list[End | Expelled]:
    """Connect, play every match that is offered, and return when the referee closes.

    Args:
        choose: view -> move, for every turn of every match.
        make: in place of choose: called with each offer, returns the choose of that match.
        on_told: called with every `told`.
        address: where the referee listens; `REFEREE_ADDRESS` of the environment if None.
        name: 1 to 20 letters or digits; `REFEREE_NAME` of the environment, else `player`, if None.
        token: what the seat is reserved with; `REFEREE_TOKEN` of the environment if None.

    Returns:
        How each match ended for this player.

    Raises:
        ClientError: no address, nobody listens, or the referee refuses this player.
        RemoteProtocolError: the referee broke the protocol.
    """
    if (choose is None) == (make is None):
        raise TypeError("run() takes either choose or make")
    address = address or os.environ.get("REFEREE_ADDRESS")
    if not address:
        raise ClientError("no address: set REFEREE_ADDRESS to tcp:HOST:PORT, or pass address=")
    name = name or os.environ.get("REFEREE_NAME") or "player"
    client = connect(address)
    try:
        client.send(Hello(version=PROTOCOL_VERSION, name=name, token=token or os.environ.get("REFEREE_TOKEN")))
        return _play(client, choose, make, on_told)
    finally:
        client.close()


def _play(
    client: Client,
    choose: Choose | None,
    make: Callable[[Offer], Choose] | None,
    on_told: Callable[[Told], None] | None,
) -> list[End | Expelled]:
    ends: dict[str, End | Expelled] = {}  # by match: a match can be void after its end was told
    while (message := client.receive()) is not None:
        match message:
            case Refused():
                raise ClientError(f"the referee refuses this player: {message.reason} ({message.code})")
            case Offer():
                if make is not None:
                    choose = make(message)
                client.send(Ready(match=message.match, nonce=os.urandom(16).hex()))
            case Turn():
                assert choose is not None, "the connection lets no turn come before an offer"
                client.send(Move(match=message.match, turn=message.turn, move=choose(message.view)))
            case Told() if on_told is not None:
                on_told(message)
            case End() | Expelled():
                ends[message.match] = message
        ack = getattr(message, "ack", None)
        if ack is not None:
            client.send(Ack(match=getattr(message, "match", ""), ack=ack))
    return list(ends.values())


__all__ = ["Choose", "Client", "ClientError", "ProtocolError", "connect", "run"]
