"""One player's connection: socket bytes -> messages with their instants, messages -> bytes.

Whoever owns the link at the moment, the lobby and then a match runner, is told what came, and decides. What a match
tells its players, command by command, is made into messages here.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure

from protocol import Code, Connection, ConnectionState, Need, RemoteProtocolError, Role
from protocol.connection import Conversation
from protocol.limits import MAX_UNREAD_BYTES
from protocol.messages import End, Expelled, Message, Offer, Resumed, Reveal, Start, Told, Turn

from ...clock import Clock, Timer
from ...match.commands import (
    AskMove,
    AskNonce,
    EndSeat,
    ExpelSeat,
    OfferMatch,
    ResumeSeat,
    SeatCommand,
    StartSeat,
    TellSeat,
)
from ...match.machine import Match
from .addresses import origin_of

CLOSE_S = 1.0
"""How long a closed connection may take to read what was last said to it, before it is cut."""


class Owner(ABC):
    """Who is told what a link receives."""

    def catch_up(self) -> None:  # noqa: B027  # only of a match does anything wait
        """Take what it was told before and still waits: what comes now is judged by where that leads."""

    def link_opened(self, link: "PlayerLink") -> None:  # noqa: B027  # only a lobby is a first owner
        """Take note of a new connection; told to its first owner alone."""

    @abstractmethod
    def message_received(self, link: "PlayerLink", message: Message, first_byte: float, at: float) -> None:
        """Take a message; the instants are monotonic seconds."""

    @abstractmethod
    def protocol_broken(self, link: "PlayerLink", error: RemoteProtocolError) -> None:
        """Take note that the player broke the protocol; the link reads no more."""

    @abstractmethod
    def link_lost(self, link: "PlayerLink", detail: str) -> None:
        """Take note that the connection ended."""


class PlayerLink(Protocol):
    """The referee's end of one player's connection.

    Args:
        owner: who is told first; set `owner` to hand the link on, to None to hear nothing more.
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
        connection: what is said on it; None: that of protocol.
    """

    transport: Any

    def __init__(
        self, owner: Owner, clock: Clock, now: Callable[[], float], connection: Conversation | None = None
    ) -> None:
        self.owner: Owner | None = owner
        self.connection: Conversation = connection or Connection(Role.REFEREE)
        self.name = ""
        self.token: str | None = None
        self.bytes_received = 0
        self.is_connected = False
        self.origin = ""
        """Who answers for this connection: where it is from, or the private socket that it came by."""
        self.ended: Callable[[PlayerLink], None] = lambda _link: None
        """Told when the connection has ended, whoever owns it."""
        self._clock = clock
        self._now = now
        self._read_at: float | None = None
        """When the bytes were read that nothing has been told of yet, in monotonic seconds."""
        self._first_byte: float | None = None
        self.left: Callable[[PlayerLink], None] = lambda _link: None
        """Called when nothing more is to be read: by whoever reads the socket in place of Twisted."""
        self._cut: Timer | None = None
        self._gone: Deferred[None] = Deferred()
        self.held = b""
        """Said, and not yet handed to the transport."""
        self._socket: Any = None
        """The transport, if it may be written to at once; None: it has no socket of its own, or encrypts."""
        self._write_now: Callable[[bytes], object] | None = None
        """How that is done: returns how many bytes were taken, or why none was."""
        self._is_behind = False
        """Whether the loop still has something to write to it."""
        self._unread_bytes: int | None = None
        """Sent since the player stopped to read; None while it reads."""

    @property
    def has_socket(self) -> bool:
        """Whether the transport has a socket of its own that can be read, and encrypts nothing."""
        return hasattr(self._socket, "socket")

    @property
    def address(self) -> str:
        """Where the player is: the host, or nothing if a local socket tells none."""
        return str(getattr(self.transport.getPeer(), "host", ""))

    def connectionMade(self) -> None:
        """Begin; called by Twisted."""
        self.is_connected = True
        self.origin = origin_of(self.address) or os.fsdecode(getattr(self.transport.getHost(), "name", None) or "")
        set_no_delay = getattr(self.transport, "setTcpNoDelay", None)
        if set_no_delay is not None:
            set_no_delay(True)
        self.transport.registerProducer(self, True)
        has_socket = hasattr(type(self.transport), "writeSomeData")  # what wraps a transport passes its methods on
        if has_socket and not getattr(self.transport, "TLS", False):
            self._socket = self.transport
            self._write_now = self._socket.socket.send if self.has_socket else self._socket.writeSomeData
        if self.owner is not None:
            self.owner.link_opened(self)

    def catch_up(self) -> None:
        """Let the owner take what waits; called before more is read."""
        if self.owner is not None:
            self.owner.catch_up()

    def dataReceived(self, data: bytes) -> None:
        """Take bytes; called by Twisted."""
        self.catch_up()
        self.receive(data)
        self.deliver()

    def receive(self, data: bytes) -> None:
        """Take bytes that have just been read; `deliver` tells what they say."""
        self._read_at = self._now()
        self.bytes_received += len(data)
        if self._first_byte is None:
            self._first_byte = self._read_at
        self.connection.receive_data(data)

    def deliver(self) -> None:
        """Tell the owner all that the received bytes say.

        What follows in the same bytes is judged once the first of it is answered, for it may answer what that led to.
        """
        while self._deliver_next():
            self.catch_up()

    def _deliver_next(self) -> bool:
        """Tell the owner the next thing that the received bytes say; return whether there may be more."""
        at, self._read_at = self._read_at or self._now(), None
        try:
            event = self.connection.next_event()
        except RemoteProtocolError as error:
            self._broken(error)
            return False
        if event is Need.DATA:
            if not self.connection.is_mid_frame:
                self._first_byte = None
            elif self._first_byte is None:
                self._first_byte = at
            return False
        assert isinstance(event, Message)
        first_byte, self._first_byte = self._first_byte or at, None
        if self.owner is not None:
            self.owner.message_received(self, event, first_byte, at)
        return not self.connection.is_drained

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """End; called by Twisted, which has closed the socket."""
        self.is_connected = False
        self.catch_up()
        self.left(self)
        self._gone.callback(None)
        self.ended(self)
        if self._cut is not None and self._cut.active():
            self._cut.cancel()
        try:
            self.connection.receive_end()
        except RemoteProtocolError as error:
            self._broken(error)
            return
        if self.owner is not None:
            self.owner.link_lost(self, reason.getErrorMessage())

    def send(self, message: Message) -> None:
        """Send a message; nothing happens if the connection is gone.

        Raises:
            LocalProtocolError: it may not be sent now.
        """
        self.hold(message)
        self.flush()

    def hold(self, message: Message) -> None:
        """Send a message together with the next one, or when all that is held is flushed.

        Raises:
            LocalProtocolError: it may not be sent now.
        """
        self.held += self.connection.send(message)

    def flush(self) -> None:
        """Hand what is held to the socket now, as far as it takes it.

        The loop would do so after everything else that it has to do at the moment, while the player's clock runs.
        """
        data, self.held = self.held, b""
        if not (data and self.is_connected):
            return
        if self._write_now is not None and not self._is_behind:
            data = _not_taken(self._write_now, data)
        if data:
            self._leave_to_loop(data)

    def _leave_to_loop(self, data: bytes) -> None:
        """Leave to the loop what the socket does not take, or why it takes nothing, until it has taken everything."""
        self.transport.write(data)
        self._count_unread(len(data))
        if self._socket is not None:
            self._is_behind = True
            self._socket.doWrite()
            self._is_behind = bool(self._socket.dataBuffer)

    def _count_unread(self, sent_bytes: int) -> None:
        if self._unread_bytes is None:
            return
        before, self._unread_bytes = self._unread_bytes, self._unread_bytes + sent_bytes
        if before <= MAX_UNREAD_BYTES < self._unread_bytes:
            detail = f"more than {MAX_UNREAD_BYTES} bytes of what was sent are unread"
            self._broken(RemoteProtocolError(Code.NOT_READING, detail))

    def pauseProducing(self) -> None:
        """Begin to count what is sent; called by Twisted at every write while the player reads too slowly."""
        if self._unread_bytes is None:
            self._unread_bytes = 0

    def resumeProducing(self) -> None:
        """Count no more; called by Twisted when the player has caught up."""
        self._unread_bytes = None

    def stopProducing(self) -> None:
        """Do nothing; called by Twisted when the connection ends, which is told otherwise, too."""

    def say_goodbye(self, message: Message | None = None) -> None:
        """Send a last message if it still may be sent, close, and cut the connection if the player does not read."""
        self.owner = None
        if not self.is_connected:
            return
        if message is not None:
            is_closed = self.connection.state is ConnectionState.CLOSED
            self.held += self.connection.send_last(message) if is_closed else self.connection.send(message)
        self.flush()
        self.connection.close()
        self.left(self)
        self.transport.unregisterProducer()
        self.transport.loseConnection()
        if self._cut is None and self.is_connected:
            self._cut = self._clock.callLater(0, self._await_close)

    def expel(self, message: Message) -> None:
        """End the player's part.

        Args:
            message: says why, where the wire has a word for it.
        """
        self.say_goodbye(message)

    async def closed(self) -> None:
        """Wait until a connection that was told goodbye has ended: a process that ends before takes the words along."""
        if self.is_connected and self._cut is not None:
            await self._gone

    def _await_close(self) -> None:
        """Give the player its time to read, now that the loop is about to send: a standstill before is not its own."""
        self._cut = self._clock.callLater(CLOSE_S, self.cut_off)

    def cut_off(self) -> None:
        """End the connection at once, and tell nobody."""
        self.owner = None
        if self.is_connected:
            self.left(self)
            self.transport.abortConnection()

    def _broken(self, error: RemoteProtocolError) -> None:
        if self.owner is not None:
            self.owner.protocol_broken(self, error)


def _not_taken(write: Callable[[bytes], object], data: bytes) -> bytes:
    """Write to a socket at once; return what it did not take, all of it after an error."""
    try:
        taken = write(data)
    except OSError:
        return data
    return data[taken:] if isinstance(taken, int) else data


LinkKind = Callable[[Owner, Clock, Callable[[], float]], PlayerLink]
"""(owner, clock, monotonic seconds) -> a link: which wire is spoken."""


class LinkFactory(Factory):
    """Makes a link for every connection, all owned by the same lobby at first.

    Args:
        owner: the lobby.
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
        kind: makes the links.
    """

    def __init__(self, owner: Owner, clock: Clock, now: Callable[[], float], kind: LinkKind = PlayerLink) -> None:
        self._owner = owner
        self._clock = clock
        self._now = now
        self._kind = kind

    def buildProtocol(self, addr: object) -> PlayerLink:
        """Make a link; called by Twisted."""
        link = self._kind(self._owner, self._clock, self._now)
        link.factory = self
        return link


def message_of(command: SeatCommand, match: Match, tokens: Sequence[str], head: str) -> Message:
    """Return what a command says to its seat.

    Args:
        command: one that is sent to a seat.
        match: the match that gave it.
        tokens: by seat, what its player comes back with.
        head: hash of the last line of the match's record, the one that has the command.
    """
    name = match.setup.match
    message: Message
    match command:
        case AskMove(turn=turn, view=view, limit_ms=left_ms, bank_ms=bank_ms):
            message = Turn(match=name, turn=turn, view=view, left_ms=left_ms, bank_ms=bank_ms, head=head)
        case TellSeat(turn=turn, what=what, ack=ack):
            draws = None if command.draws is None else list(command.draws)
            message = Told(match=name, turn=turn, what=what, draws=draws, ack=ack)
        case OfferMatch():
            message = Offer(**_terms(command, match, tokens))
        case ResumeSeat():
            message = Resumed(**_terms(command, match, tokens), turn=command.turn, view=command.view)
        case AskNonce():
            message = Reveal(match=name, commitments=list(match.nonces.commitments))
        case StartSeat():
            message = Start(match=name, view=command.view, ack=command.ack)
        case ExpelSeat(foul=foul):
            message = Expelled(
                match=name,
                foul=str(foul.cause),
                rule=foul.rule,
                code=foul.code,
                detail=foul.detail,
                evidence=foul.evidence,
                head=head,
            )
        case EndSeat():
            message = _end(command, match, head)
        case _:
            raise AssertionError(f"{command} says nothing to a seat")
    return message


def _end(command: EndSeat, match: Match, head: str) -> End:
    return End(
        match=match.setup.match,
        winners=list(command.winners),
        ranking=[list(level) for level in command.ranking],
        scores=list(command.scores),
        void=command.void,
        seed=_revealed_seed(match, command),
        nonces=list(match.nonces.opened),
        ack=command.ack,
        head=head,
    )


def _revealed_seed(match: Match, end: EndSeat) -> str | None:
    """Return the seed, unless another match with its deal is to be played: a void one is played again."""
    opens = match.setup.seed_opens
    is_kept = opens == "after-last-leg" or (opens == "at-end-unless-void" and end.void is not None)
    return None if is_kept else match.seed.hex()


def _terms(command: OfferMatch | ResumeSeat, match: Match, tokens: Sequence[str]) -> dict[str, Any]:
    setup = match.setup
    return {
        "match": setup.match,
        "game": setup.game,
        "options": setup.options,
        "seat": command.seat,
        "names": list(setup.names),
        "time": setup.time,
        "teams": [list(team) for team in match.teams],
        "lot": setup.lot,
        "acknowledge": setup.acknowledge,
        "commitment": setup.commitment,
        "nonces": setup.nonces,
        "resume": tokens[command.seat],
    }
