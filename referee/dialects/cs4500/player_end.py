"""The player's end of a connection to a course's referee: calls in, results out.

The referee is not trusted: a call that is none, or comes before the last one is answered, ends the connection.
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
from .forms import MalformedValue, converted, tile_names, view_of
from .json_stream import JsonReader

PATIENCE_S = 10.0
"""How long a client tries again while nobody listens; as protocol.client does."""
RETRY_S = 0.1
_LEAST_BYTES = 5
"""From the first byte of a value to the end of its line. Gson's JsonStreamParser, on which referees of the course are
built, looks for a prefix of so many bytes before it gives out the first value: until they have come, it waits."""


class NobodyListens(RefereeError):
    """There is no referee where one was looked for; the text says where."""


class Call(Struct, frozen=True, kw_only=True):
    """One call of the referee's."""

    method: Literal["setup", "take-turn", "new-tiles", "win"]
    view: dict[str, Any] | None = None
    """What the player knows, plain, of `setup` and `take-turn`; the player sits on seat 0."""
    tiles: tuple[str, ...] = ()
    """The hand of `setup`, or what `new-tiles` hands out."""
    has_won: bool = False


def call_of(value: Any) -> Call:
    """Return the call that a JSON value is.

    Raises:
        MalformedValue: it is none: another method, arity, or form of an argument.
    """
    match value:
        case ["setup", [public, tiles]]:
            return Call(method="setup", view=view_of(public), tiles=tuple(tile_names(tiles)))
        case ["take-turn", [public]]:
            return Call(method="take-turn", view=view_of(public))
        case ["new-tiles", [tiles]]:
            return Call(method="new-tiles", tiles=tuple(tile_names(tiles)))
        case ["win", [has_won]]:
            return Call(method="win", has_won=converted(has_won, bool))
    raise MalformedValue("no call of setup, take-turn, new-tiles or win with its arguments")


class CoursePlayer(Interface):
    """Who is called."""

    def called(self, call: Call, end: "PlayerEnd") -> None:
        """Take a call; it is answered with end.reply, at once or later."""

    def lost(self) -> None:
        """Take note that the connection has ended."""


class PlayerEnd(Protocol):
    """One player's connection.

    Args:
        name: what to sign up with; None: say nothing.
        player: who is called.
    """

    transport: Any

    def __init__(self, name: str | None, player: CoursePlayer) -> None:
        self.done: Deferred[str] = Deferred()
        """Fires when the connection has ended, with the reason, in words."""
        self.has_ended = False
        """Whether the game came to its end: `win` was answered."""
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
        if self._why:
            self.transport.loseConnection()
        elif self._name is not None:
            self.transport.write(_encoded(self._name))

    def dataReceived(self, data: bytes) -> None:
        """Take bytes; called by Twisted."""
        self._reader.receive_data(data)
        try:
            while not self._why and (found := self._reader.next_value()) is not None:
                self._take(call_of(found.value))
        except (RemoteProtocolError, MalformedValue) as error:
            self.leave(f"the referee said what is no call: {error}")

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """End; called by Twisted."""
        self._player.lost()
        self.done.callback(self._why or reason.getErrorMessage())

    def reply(self, result: Any) -> None:
        """Answer the open call.

        Args:
            result: plain; None for a method that returns nothing.
        """
        call, self._open = self._open, None
        assert call is not None, "there is no open call"
        self.transport.write(_encoded(VOID if result is None else result))
        self.has_ended = call.method == "win"

    def leave(self, why: str) -> None:
        """End the connection, now or as soon as there is one.

        Args:
            why: in one sentence.
        """
        self._why = self._why or why
        if self.connected:
            self.transport.loseConnection()

    def _take(self, call: Call) -> None:
        if self._open is not None:
            self.leave(f"the referee called {call.method} before {self._open.method} was answered")
            return
        self._open = call
        self._player.called(call, self)


def _encoded(value: Any) -> bytes:
    """Return a value as a line; blanks make a short one long enough for every referee to see it."""
    return json.dumps(value, separators=(",", ":")).encode().ljust(_LEAST_BYTES - 1) + b"\n"


async def connect(reactor: Any, host: str, port: int, end: PlayerEnd) -> None:
    """Connect a player's end to a referee, and wait for one to listen.

    Raises:
        NobodyListens: none did, for PATIENCE_S.
    """
    factory: Any = Factory.forProtocol(lambda: end)
    give_up = reactor.seconds() + PATIENCE_S
    while True:
        try:
            await HostnameEndpoint(reactor, host, port).connect(factory)
            return
        except DNSLookupError as error:
            raise NobodyListens(f"there is no host {host}: {error}") from None
        except ConnectError as error:
            if reactor.seconds() >= give_up:
                raise NobodyListens(f"no referee at {host}:{port}: {error}; is it running?") from None
            await deferLater(reactor, RETRY_S)


async def launch(reactor: Any, host: str, port: int, ends: Iterable[PlayerEnd], wait_s: float) -> list[str]:
    """Connect players in order, each a while after the other; return why each connection ended, once all have.

    Args:
        reactor: Twisted's.
        host: of the referee.
        port: of the referee.
        ends: the players, in the order of their seats.
        wait_s: before each launch, in seconds: their order is the order of their seats.

    Raises:
        NobodyListens: there is no referee.
    """
    launched = []
    for end in ends:
        await deferLater(reactor, wait_s)
        await connect(reactor, host, port, end)
        launched.append(end.done)
    return [await done for done in launched]
