"""A short referee on a real socket: it sends the messages of a script, right or wrong.

It waits where the protocol wants an answer, but does not judge it: a test looks at `heard`.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from protocol import Connection, Need, Role
from protocol.deal import nonce_commitment
from protocol.messages import Message, Nonce, Offer, Ready, Reveal, Turn

from .situations import message_for, typed
from .tables import END, EXPELLED, NONCES, OFFER, RESUMED, REVEAL, Plain

THEIRS = NONCES[1]

Line = Callable[[str], Message]
"""Function from the player's last nonce to the referee's next message."""
Script = Sequence[Line]
"""Messages on one connection after `welcome`; then the connection is closed."""


def say(plain: Plain, **changes: Any) -> Line:
    """Return a line of a script that needs no nonce."""
    message = typed({**plain, **changes})
    return lambda _nonce: message


def end(*, nonces: Callable[[str], list[str | None]] = lambda own: [own, THEIRS], **changes: Any) -> Line:
    """Return a line of a script that ends the match, by default correctly."""
    return lambda own: typed({**END, "nonces": nonces(own), **changes})


def expelled(**changes: Any) -> Line:
    """Return a line of a script that expels the player."""
    return say(EXPELLED, **changes)


OFFERED = say(OFFER)
REVEALED = say(REVEAL, commitments=[])
"""Sends the player's commitment, and that of THEIRS."""
TAKEN_BACK = say(RESUMED)


class ScriptedReferee(threading.Thread):
    """A referee that serves one connection after another; during the last one it stops listening.

    Args:
        scripts: what it says on each connection.
        listener: a listening socket; None: one of TCP of its own.
        is_patient: whether it waits for a `move` or an `ack` before it goes on.
        reveals: whether it has the nonce opened after each offer that uses nonces.
        torn: bytes that it sends behind each script but the last one, before it closes.
    """

    def __init__(
        self,
        *scripts: Script,
        listener: socket.socket | None = None,
        is_patient: bool = True,
        reveals: bool = True,
        torn: bytes = b"",
    ) -> None:
        super().__init__(daemon=True)
        self.heard: list[list[Message]] = []
        """By connection."""
        self._scripts = scripts
        self._is_patient = is_patient
        self._reveals = reveals
        self._torn = torn
        self._listener = listener or socket.create_server(("127.0.0.1", 0))
        name = self._listener.getsockname()
        self.address = f"unix:{name}" if isinstance(name, str) else f"tcp:127.0.0.1:{name[1]}"

    def run(self) -> None:
        """Serve the connections to the end of their scripts."""
        with self._listener:
            for number, script in enumerate(self._scripts, 1):
                sock, _ = self._listener.accept()
                is_last = number == len(self._scripts)
                if is_last:
                    self._listener.close()
                with sock:
                    self._serve(sock, script)
                    sock.sendall(b"" if is_last else self._torn)

    def _serve(self, sock: socket.socket, script: Script) -> None:
        connection = Connection(Role.REFEREE)
        self.heard.append([])
        self._wait(sock, connection)
        sock.sendall(connection.send(message_for("welcome")))
        for line in script:
            nonces = [message.nonce for heard in self.heard for message in heard if isinstance(message, Nonce)]
            message = line(nonces[-1] if nonces else "")
            self._say(sock, connection, message)
            if isinstance(message, Offer):
                self._offered = message
                if self._reveals and message.nonces:
                    self._say(sock, connection, Reveal(match=message.match, commitments=[]))

    def _say(self, sock: socket.socket, connection: Connection, message: Message) -> None:
        if isinstance(message, Reveal) and not message.commitments:
            message = replace(message, commitments=self._commitments(message.match))
        sock.sendall(connection.send(message))
        demands = isinstance(message, Turn) or getattr(message, "ack", None) is not None
        if isinstance(message, Offer | Reveal) or (demands and self._is_patient):
            self._wait(sock, connection)

    def _commitments(self, match: str) -> list[str | None]:
        """Return the player's last commitment, and that of THEIRS, by seat."""
        own = [message.commitment for heard in self.heard for message in heard if isinstance(message, Ready)][-1]
        seat = self._offered.seat
        return [own if each == seat else nonce_commitment(match, each, THEIRS) for each in range(2)]

    def _wait(self, sock: socket.socket, connection: Connection) -> None:
        while (event := connection.next_event()) is Need.DATA:
            data = sock.recv(65_536)
            if not data:
                return
            connection.receive_data(data)
        assert isinstance(event, Message)
        self.heard[-1].append(event)


class Serve:
    """Starts referees; at the end of the test each has sent all its lines."""

    def __init__(self) -> None:
        self._started: list[ScriptedReferee] = []

    def __call__(self, *scripts: Script, **settings: Any) -> ScriptedReferee:
        """Return a started referee; the parameters are those of ScriptedReferee."""
        referee = ScriptedReferee(*scripts, **settings)
        referee.start()
        self._started.append(referee)
        return referee

    def finish(self) -> None:
        """Wait for all of them to end."""
        for referee in self._started:
            referee.join(timeout=30)
            assert not referee.is_alive()
