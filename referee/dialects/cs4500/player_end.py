"""The player's end of a connection to a course's referee: receives calls and sends results.

The referee is not trusted. A malformed call, or a call before the previous one is answered, ends the connection.
"""

import json
from collections.abc import Iterable
from typing import Any, Literal
from typing import Protocol as Interface

from msgspec import Struct
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.error import ConnectError, DNSLookupError
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

from protocol import RemoteProtocolError
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES

from ...errors import RefereeError
from .conversation import VOID
from .forms import MalformedValue, convert, parse_view, tile_names
from .json_stream import JsonReader

PATIENCE_S = 10.0
"""Time for which a client tries again while nobody listens, in seconds; the same as in protocol.client."""
RETRY_S = 0.1
_LEAST_BYTES = 5
"""Shortest line. Gson's JsonStreamParser, on which referees of the course are built, waits for a prefix of this many
bytes before it returns the first value."""


class Call(Struct, frozen=True, kw_only=True):
    """One call of the referee."""

    method: Literal["setup", "take-turn", "new-tiles", "win"]
    view: dict[str, Any] | None = None
    """The player's plain view, in `setup` and `take-turn`. The player sits on seat 0."""
    tiles: tuple[str, ...] = ()
    """The hand in `setup`, or the new tiles in `new-tiles`."""
    has_won: bool = False


def parse_call(value: Any) -> Call:
    """Parse a call.

    Raises:
        MalformedValue: the value has another method, number of arguments, or form of an argument.
    """
    match value:
        case ["setup", [public, tiles]]:
            return Call(method="setup", view=parse_view(public), tiles=tuple(tile_names(tiles)))
        case ["take-turn", [public]]:
            return Call(method="take-turn", view=parse_view(public))
        case ["new-tiles", [tiles]]:
            return Call(method="new-tiles", tiles=tuple(tile_names(tiles)))
        case ["win", [has_won]]:
            return Call(method="win", has_won=convert(has_won, bool))
    raise MalformedValue("not a call of setup, take-turn, new-tiles or win with its arguments")


class CoursePlayer(Interface):
    """The player that answers the calls."""

    def handle_call(self, call: Call, end: "PlayerEnd") -> None:
        """Take a call, and answer it with `end.reply`, at once or later."""

    def handle_disconnect(self) -> None:
        """Take the end of the connection."""


class PlayerEnd(Protocol):
    """One player's connection.

    Args:
        name: name to sign up with; None: send nothing.
        player: the player that answers the calls.
    """

    transport: Any

    def __init__(self, name: str | None, player: CoursePlayer) -> None:
        self.done: Deferred[str] = Deferred()
        """Fires when the connection has ended, with the reason, in words."""
        self.has_ended = False
        """True once `win` was answered."""
        self._name = name
        self._player = player
        self._reader = JsonReader(MAX_FRAME_FROM_REFEREE_BYTES)
        self._open: Call | None = None
        self._why = ""

    def connectionMade(self) -> None:
        """Sign up; called by Twisted."""
        set_no_delay = getattr(self.transport, "setTcpNoDelay", None)
        if set_no_delay is not None:
            set_no_delay(True)
        # # `leave` may have been called while the connection was being made.
        if self._why:
            self.transport.loseConnection()
        elif self._name is not None:
            self.transport.write(_encode_line(self._name))

    def dataReceived(self, data: bytes) -> None:
        """Take bytes; called by Twisted."""
        self._reader.receive_data(data)
        try:
            while not self._why and (value := self._reader.next_value()) is not None:
                self._take(parse_call(value.value))
        except (RemoteProtocolError, MalformedValue) as error:
            self.leave(f"the referee sent something that is not a call: {error}")

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Take the end of the connection; called by Twisted."""
        self._player.handle_disconnect()
        self.done.callback(self._why or reason.getErrorMessage())

    def reply(self, result: Any) -> None:
        """Answer the open call.

        Args:
            result: the plain result; None for a method that returns nothing.
        """
        call, self._open = self._open, None
        assert call is not None, "there is no open call"
        self.transport.write(_encode_line(VOID if result is None else result))
        self.has_ended = call.method == "win"

    def leave(self, why: str) -> None:
        """End the connection, now or as soon as there is one.

        Args:
            why: the reason, in one sentence.
        """
        self._why = self._why or why
        if self.connected:
            self.transport.loseConnection()

    def _take(self, call: Call) -> None:
        # Calls come strictly one after the other. A referee that does not wait could not know which call an answer is
        # for.
        if self._open is not None:
            self.leave(f"the referee called {call.method} before {self._open.method} was answered")
            return
        self._open = call
        self._player.handle_call(call, self)


def _encode_line(value: Any) -> bytes:
    """Encode a value as a line, padded with blanks to the shortest line that every referee reads at once."""
    return json.dumps(value, separators=(",", ":")).encode().ljust(_LEAST_BYTES - 1) + b"\n"


async def connect(reactor: Any, host: str, port: int, end: PlayerEnd) -> None:
    """Connect a player's end to a referee; try again while nobody listens.

    Raises:
        RefereeError: nobody listened for PATIENCE_S.
    """
    factory: Any = Factory.forProtocol(lambda: end)
    give_up = reactor.seconds() + PATIENCE_S
    while True:
        try:
            await HostnameEndpoint(reactor, host, port).connect(factory)
            return
        except DNSLookupError as error:
            raise RefereeError(f"there is no host {host}: {error}") from None
        except ConnectError as error:
            if reactor.seconds() >= give_up:
                raise RefereeError(f"no referee at {host}:{port}: {error}; is it running?") from None
            await deferLater(reactor, RETRY_S)


async def launch(reactor: Any, host: str, port: int, ends: Iterable[PlayerEnd], wait_s: float) -> list[str]:
    """Connect players one after the other, and wait until all connections have ended.

    Args:
        reactor: Twisted's reactor.
        host: host of the referee.
        port: port of the referee.
        ends: the players. They are seated in the order in which they sign up.
        wait_s: pause before each, in seconds, so that the order is certain.

    Returns:
        Why each connection ended.

    Raises:
        RefereeError: there is no referee.
    """
    launched = []
    for end in ends:
        await deferLater(reactor, wait_s)
        await connect(reactor, host, port, end)
        launched.append(end.done)
    return [await done for done in launched]
