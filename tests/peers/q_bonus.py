"""The course's clients that break the protocol: `python -m tests.peers.q_bonus PORT < config`, like `xclients`.

Staff names say what a client garbles: `nonSetup` answers with a bare word, `invTTBadString` with cut JSON; a second
JSON value on stdin names one more client, that signs up and never answers, or connects and says nothing. Every value
comes behind spaces and in trickles, as the course's own clients send them.
"""

import sys
from typing import Any

from twisted.internet import reactor

from referee.app.running import run_reactor
from referee.dialects.cs4500.clients import Actor
from referee.dialects.cs4500.configs import ClientConfig, parse_actor, read_values
from referee.dialects.cs4500.forms import convert
from referee.dialects.cs4500.player_end import Call, PlayerEnd, launch

from .q_actors import STAFF_METHODS, STAFF_NAME

SPACES = 5000
CHUNKS = 10
"""Number of pieces in which a value is sent."""
CHUNK_S = 0.005
_reactor: Any = reactor


class Trickler(PlayerEnd):
    """A connection that sends a few bytes at a time."""

    def say(self, data: bytes) -> None:
        """Send spaces and the value, piece by piece."""
        spaced = b" " * SPACES + data
        size = -(-len(spaced) // CHUNKS)
        for number, start in enumerate(range(0, len(spaced), size)):
            _reactor.callLater(number * CHUNK_S, self._send, spaced[start : start + size])

    def _send(self, piece: bytes) -> None:
        if self.connected:
            self.transport.write(piece)


class Garbler:
    """A player that garbles the results of one method, and then sends nothing more.

    Args:
        spec: its entry in the configuration.
    """

    def __init__(self, spec: list[Any]) -> None:
        self._actor = Actor(parse_actor(spec))
        found = STAFF_NAME.match(str(spec[0]))
        assert found is not None
        self._method = STAFF_METHODS[found["method"]]
        self._garbage = b"void\n" if found["how"] == "non" else b'[{"oord'

    def handle_call(self, call: Call, end: PlayerEnd) -> None:
        """Answer a call, with garbage if it is the chosen one; a pass or an exchange has nothing to garble."""
        if call.method == self._method and (call.method != "take-turn" or self._places(call)):
            end.transport.write(self._garbage)
        else:
            self._actor.handle_call(call, end)

    def _places(self, call: Call) -> bool:
        return isinstance(self._actor.choose(call.view), list)

    def handle_disconnect(self) -> None:
        """Do nothing."""


class Silent:
    """A player that never answers."""

    def handle_call(self, call: Call, end: PlayerEnd) -> None:
        """Say nothing."""

    def handle_disconnect(self) -> None:
        """Do nothing."""


def end_of(spec: list[Any]) -> PlayerEnd:
    """Return the connection of one player of the configuration."""
    is_garbling = STAFF_NAME.match(str(spec[0])) is not None
    return Trickler(spec[0], Garbler(spec) if is_garbling else Actor(parse_actor(spec)))


def main(port: int) -> None:
    """Play until all connections have ended."""
    plain, *special = read_values(sys.stdin.buffer.read())
    config = convert(plain, ClientConfig)
    ends = [end_of(spec) for spec in config.players]
    ends += [Trickler(name if str(name).startswith("sendname") else None, Silent()) for name in special]
    run_reactor(lambda running: launch(running, config.host, port, ends, config.wait))


if __name__ == "__main__":
    main(int(sys.argv[1]))
