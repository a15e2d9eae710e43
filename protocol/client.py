"""A blocking client for authors: `run(choose)` connects, plays every match it is offered, and returns.

Knows sockets and the environment that a launched program finds, and says of every match whether the referee kept its
commitment. Refuses to know any game: `choose` gets the view as plain data and returns the move as plain data.
"""

import os
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .connection import Connection, Need, Role
from .errors import ProtocolError
from .fairness import Finding, Verdict, Witness
from .limits import PROTOCOL_VERSION
from .messages import Ack, End, Expelled, Hello, Message, Move, Offer, Ready, Refused, Told, Turn

Choose = Callable[[Any], Any]
"""view -> move, both plain: dicts, lists, strings, numbers."""

_READ_BYTES = 65_536
_RETRY_S = 0.05


class ClientError(Exception):
    """The client can't go on; the text says why and what to do."""


class Ended(Struct, frozen=True, kw_only=True):
    """How one match ended for this player."""

    match: str
    message: End | Expelled | None
    """The referee's last word; None if none came before the connection ended or `choose` raised."""
    verdict: Verdict | None
    """Whether the referee kept its commitment; None if it never revealed its seed to this player."""
    head: str | None
    """The last head of the match's record that was told: SHA-256 of a line, in hex; None if none was told."""

    @property
    def line(self) -> str:
        """All of that in one line, whatever the referee has put into its strings."""
        parts = []
        if isinstance(self.message, Expelled):
            parts.append(f"expelled for {self.message.foul}")
        elif self.message is None:
            parts.append("no end was told")
        elif self.message.void is not None:
            parts.append("void")
        parts += [*_judged(self.verdict), f"last head {self.head}" if self.head else "no head was told"]
        line = f"match {self.match}: {'; '.join(parts)}"
        return line if line.isprintable() else ascii(line)[1:-1]


def _judged(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return ["the seed was not revealed"]
    if not verdict.is_kept:
        return [f"THE REFEREE BROKE ITS COMMITMENT: {verdict.text}"]
    note = [] if verdict.finding is Finding.KEPT else [verdict.text]
    return ["the referee kept its commitment", *note]


def say_on_stderr(line: str) -> None:
    """Print a line on stderr."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class Client:
    """One player's side of one connection, blocking.

    Args:
        sock: a connected socket; closed by close().
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.connection = Connection(Role.PLAYER)
        self.witness = Witness()

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
        self.witness.see(event)
        return event

    def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            LocalProtocolError: it may not be sent now.
            OSError: the connection is gone.
        """
        self._sock.sendall(self.connection.send(message))
        self.witness.see(message)

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


def run(
    choose: Choose | None = None,
    *,
    make: Callable[[Offer], Choose] | None = None,
    on_told: Callable[[Told], None] | None = None,
    address: str | None = None,
    name: str | None = None,
    token: str | None = None,
    say: Callable[[str], None] | None = say_on_stderr,
) -> list[Ended]:
    """Connect, play every match that is offered, and return when the referee closes.

    Args:
        choose: view -> move, for every turn of every match.
        make: in place of choose: called with each offer, returns the choose of that match.
        on_told: called with every `told`.
        address: where the referee listens; `REFEREE_ADDRESS` of the environment if None.
        name: 1 to 20 letters or digits; `REFEREE_NAME` of the environment, else `player`, if None.
        token: what the seat is reserved with; `REFEREE_TOKEN` of the environment if None.
        say: called with one line at the end of each match: whether the referee kept its commitment, and the last head
            of the record. None: nothing is said.

    Returns:
        How each match ended for this player, in order. Look for breaches with `ended.verdict`.

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
        return _Session(client, choose, make, on_told, say).play()
    finally:
        client.close()


class _Session:
    """All matches of one connection; the parameters are those of run()."""

    def __init__(
        self,
        client: Client,
        choose: Choose | None,
        make: Callable[[Offer], Choose] | None,
        on_told: Callable[[Told], None] | None,
        say: Callable[[str], None] | None,
    ) -> None:
        self._client = client
        self._choose = choose
        self._make = make
        self._on_told = on_told
        self._say = say
        self._open_match: str | None = None
        self._ends: dict[str, Ended] = {}  # by match: a match can be void after its end was told

    def play(self) -> list[Ended]:
        """Answer until the referee closes the connection."""
        try:
            while (message := self._client.receive()) is not None:
                self._answer(message)
        finally:  # a match that no word of the referee's ended, whoever is to blame for that
            if self._open_match is not None:
                self._conclude(self._open_match, None)
        return list(self._ends.values())

    def _answer(self, message: Message) -> None:
        match message:
            case Refused():
                raise ClientError(f"the referee refuses this player: {message.reason} ({message.code})")
            case Offer():
                self._open_match = message.match
                if self._make is not None:
                    self._choose = self._make(message)
                self._client.send(Ready(match=message.match, nonce=os.urandom(16).hex()))
            case Turn():
                assert self._choose is not None, "the connection lets no turn come before an offer"
                move = self._choose(message.view)
                self._client.send(Move(match=message.match, turn=message.turn, move=move))
            case Told() if self._on_told is not None:
                self._on_told(message)
            case End() | Expelled():
                self._conclude(message.match, message)
        ack = getattr(message, "ack", None)
        if ack is not None:
            self._client.send(Ack(match=getattr(message, "match", ""), ack=ack))

    def _conclude(self, match: str, last: End | Expelled | None) -> None:
        self._open_match = None
        witness = self._client.witness
        ended = self._ends[match] = Ended(match=match, message=last, verdict=witness.verdict, head=witness.head)
        if self._say is not None:
            self._say(ended.line)


__all__ = ["Choose", "Client", "ClientError", "Ended", "ProtocolError", "connect", "run", "say_on_stderr"]
