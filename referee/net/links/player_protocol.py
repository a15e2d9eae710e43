"""One player's connection: bytes become messages with their instants, commands become messages and bytes."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
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
from .addresses import find_origin

# THEORY
#
# A connection has one owner at a time, which decides what a message means: first the lobby, then the runner of a match,
# then a lobby again or nobody. The link itself knows no rules. What may be sent when is the business of
# protocol.connection, which the player's side shares. Seen from the server, a connection goes this way. The names are
# those of ConnectionState; the player sends what has a >, the referee what has a <. A + means that the message asks for
# an `ack`.
#
#      > hello           < welcome
#   NEW -----> GREETED -------------> IDLE <---------------------------------------------.
#                |                    |  |                                               |
#                | < refused  < offer |  | < resumed: the player is back on a            |
#                v                    v  |            new connection                     |
#             CLOSED            OFFERED  |                                               |
#                             > ready |  |                                               |
#                                     v  v                     < end                     |
#                  .---------------> SEATED ---------------------------------------------+
#                  |                    |                                                |
#                  |                    |-- < reveal ------> TO_REVEAL ---- > nonce --.  |
#                  |                    |-- < turn --------> ASKED -------- > move ---|  |
#                  |                    |-- < start+, told+ > TO_CONFIRM -- > ack ----|  |
#                  |                    |                                             |  |
#                  '--------------------|---------------------------------------------'  |
#                                       '-- < end+ --------> TO_CONFIRM_END - > ack -----'
#
#   In a match, from every state:  < expelled or < paused  leads to CLOSED
#                                  < end                   leads to IDLE, if the match is void or won by default
#                                  anything out of turn    leads to CLOSED; the owner's on_breach decides
#                                  the connection ends     the owner's on_loss decides
#
# The lobby owns the link up to IDLE, the runner from < offer or < resumed on. After CLOSED the referee may still send
# one last message (why it refused or expelled). The player has CLOSE_S to read it, then the connection is cut: a
# program that never reads could otherwise hold a socket for ever.

CLOSE_S = 1.0
"""Seconds that a player has to read the last message, before the connection is cut."""


class Owner(ABC):
    """Decides what follows from the messages of a link."""

    def catch_up(self) -> None:  # noqa: B027  # only a match lets anything wait
        """Take all events that still wait: new bytes are judged by the state of the match after these events."""

    def on_open(self, link: "PlayerLink") -> None:  # noqa: B027  # only a lobby is a first owner
        """Take a new connection; called for its first owner alone."""

    @abstractmethod
    def on_message(self, link: "PlayerLink", message: Message, first_byte: float, at: float) -> None:
        """Take a message.

        Args:
            link: link of the player.
            message: message that the player sent.
            first_byte: when its first byte was read, in monotonic seconds.
            at: when it was complete.
        """

    @abstractmethod
    def on_breach(self, link: "PlayerLink", error: RemoteProtocolError) -> None:
        """Take a breach of the protocol; the link reads no more."""

    @abstractmethod
    def on_loss(self, link: "PlayerLink", detail: str) -> None:
        """Take the end of the connection, and why it ended."""


class PlayerLink(Protocol):
    """The referee's end of one player's connection.

    Args:
        owner: the first owner; set `owner` to hand the link on, or to None to ignore all that still comes.
        clock: the reactor, or a test's clock.
        now: returns monotonic seconds.
        connection: the protocol's state machine; None: that of the referee's own protocol.
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
        """Origin of this connection: the network or the private socket that it came from."""
        self.on_end: Callable[[PlayerLink], None] = lambda _link: None
        """Called when the connection has ended, whoever owns it."""
        self.leave_reader: Callable[[PlayerLink], None] = lambda _link: None
        """Called when nothing more is to be read; set by the object that reads the socket in place of Twisted."""
        self._clock = clock
        self._now = now
        self._read_at: float | None = None
        """When the bytes that are not delivered yet were read, in monotonic seconds."""
        self._first_byte: float | None = None
        """When the first byte of the next message was read; None if no byte of it has come."""
        self._cut: Timer | None = None
        self._gone: Deferred[None] = Deferred()
        self.held = b""
        """Bytes to send that were not handed to the transport yet."""
        self._socket: Any = None
        """The transport, if it may be written to at once; None: it has no socket of its own, or encrypts."""
        self._write_now: Callable[[bytes], object] | None = None
        """Writes to the socket at once; returns how many bytes it took, or why it took none."""
        self._is_behind = False
        """True while the loop still has something to write to the socket."""
        self.unread_bytes: int | None = None
        """Bytes sent since the player stopped reading; None while it reads."""

    @property
    def has_socket(self) -> bool:
        """Whether the transport has a socket of its own that can be read, and encrypts nothing."""
        return hasattr(self._socket, "socket")

    @property
    def address(self) -> str:
        """The player's network address; empty for a local socket."""
        return str(getattr(self.transport.getPeer(), "host", ""))

    # --- from the socket

    def connectionMade(self) -> None:
        """Begin; called by Twisted."""
        self.is_connected = True
        self.origin = find_origin(self.address) or os.fsdecode(getattr(self.transport.getHost(), "name", None) or "")
        set_no_delay = getattr(self.transport, "setTcpNoDelay", None)
        if set_no_delay is not None:
            set_no_delay(True)
        self.transport.registerProducer(self, True)
        # TLS wraps a transport and passes on its methods, so the class is asked, not the object.
        has_socket = hasattr(type(self.transport), "writeSomeData")
        if has_socket and not getattr(self.transport, "TLS", False):
            self._socket = self.transport
            self._write_now = self._socket.socket.send if self.has_socket else self._socket.writeSomeData
        if self.owner is not None:
            self.owner.on_open(self)

    def catch_up(self) -> None:
        """Have the owner take all events that wait; called before more is read."""
        if self.owner is not None:
            self.owner.catch_up()

    def dataReceived(self, data: bytes) -> None:
        """Take bytes; called by Twisted."""
        self.catch_up()
        self.receive(data)
        self.deliver()

    def receive(self, data: bytes) -> None:
        """Take bytes that have just been read; `deliver` makes messages of them."""
        self._read_at = self._now()
        self.bytes_received += len(data)
        if self._first_byte is None:
            self._first_byte = self._read_at
        self.connection.receive_data(data)

    def deliver(self) -> None:
        """Hand all messages in the received bytes to the owner.

        A second message in the same bytes waits until the first one is answered, since it may be a reply to that
        answer.
        """
        while True:
            at, self._read_at = self._read_at or self._now(), None
            try:
                message = self.connection.next_event()
            except RemoteProtocolError as error:
                self._report_breach(error)
                return
            if message is Need.DATA:
                if not self.connection.is_mid_frame:
                    self._first_byte = None
                elif self._first_byte is None:
                    self._first_byte = at
                return
            assert isinstance(message, Message)
            first_byte, self._first_byte = self._first_byte or at, None
            if self.owner is not None:
                self.owner.on_message(self, message, first_byte, at)
            if self.connection.is_drained:
                return
            self.catch_up()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """End; called by Twisted, which has closed the socket."""
        self.is_connected = False
        self.catch_up()
        self.leave_reader(self)
        self._gone.callback(None)
        self.on_end(self)
        if self._cut is not None and self._cut.active():
            self._cut.cancel()
        try:
            self.connection.receive_end()
        except RemoteProtocolError as error:
            self._report_breach(error)
            return
        if self.owner is not None:
            self.owner.on_loss(
                self, "its connection was closed" if reason.check(ConnectionDone) else "its connection broke"
            )

    def _report_breach(self, error: RemoteProtocolError) -> None:
        if self.owner is not None:
            self.owner.on_breach(self, error)

    # --- to the socket

    def send(self, message: Message) -> None:
        """Send a message; do nothing if the connection is gone.

        Raises:
            LocalProtocolError: it may not be sent now.
        """
        self.hold(message)
        self.flush()

    def hold(self, message: Message) -> None:
        """Send a message together with the next one, or with the next flush.

        Raises:
            LocalProtocolError: it may not be sent now.
        """
        self.held += self.connection.send(message)

    def flush(self) -> None:
        """Write what is held to the socket now, as far as the socket takes it.

        The reactor would write it after everything else that it has to do, while the player's clock runs already.
        """
        data, self.held = self.held, b""
        if not (data and self.is_connected):
            return
        if self._write_now is not None and not self._is_behind:
            try:
                written = self._write_now(data)
            except OSError:
                written = None  # the loop meets the same error, and ends the connection
            data = data[written:] if isinstance(written, int) else data
        if data:
            self._leave_to_loop(data)

    def _leave_to_loop(self, data: bytes) -> None:
        """Have the loop write the bytes that the socket does not take, and all later ones until it catches up."""
        self.transport.write(data)
        self._count_unread(len(data))
        if self._socket is not None:
            self._is_behind = True
            self._socket.doWrite()
            self._is_behind = bool(self._socket.dataBuffer)

    def _count_unread(self, sent_bytes: int) -> None:
        """Report a player that does not read, before the bytes that wait for it fill the memory."""
        if self.unread_bytes is None:
            return
        before, self.unread_bytes = self.unread_bytes, self.unread_bytes + sent_bytes
        if before <= MAX_UNREAD_BYTES < self.unread_bytes:
            detail = f"more than {MAX_UNREAD_BYTES} bytes of what was sent are unread"
            self._report_breach(RemoteProtocolError(Code.NOT_READING, detail))

    def pauseProducing(self) -> None:
        """Begin to count unread bytes; called by Twisted at every write while the player reads too slowly."""
        if self.unread_bytes is None:
            self.unread_bytes = 0

    def resumeProducing(self) -> None:
        """Stop counting; called by Twisted when the player has caught up."""
        self.unread_bytes = None

    def stopProducing(self) -> None:
        """Do nothing; called by Twisted when the connection ends, which connectionLost reports."""

    # --- the end

    def say_goodbye(self, message: Message | None = None) -> None:
        """Send a last message if it may still be sent, close, and cut the connection if the player does not read."""
        self.owner = None
        if not self.is_connected:
            return
        if message is not None:
            is_closed = self.connection.state is ConnectionState.CLOSED
            self.held += self.connection.send_last(message) if is_closed else self.connection.send(message)
        self.flush()
        self.connection.close()
        self.leave_reader(self)
        self.transport.unregisterProducer()
        self.transport.loseConnection()
        if self._cut is None and self.is_connected:
            # CLOSE_S begins in the loop's next turn: a stall before that is not the player's own.
            self._cut = self._clock.callLater(0, self._cut_later)

    def expel(self, message: Message) -> None:
        """Close the connection of an expelled player.

        Args:
            message: has the reason; a protocol without such a message does not send it.
        """
        self.say_goodbye(message)

    async def wait_closed(self) -> None:
        """Wait until the connection has ended after `say_goodbye`; a process that exits earlier loses the message."""
        if self.is_connected and self._cut is not None:
            await self._gone

    def _cut_later(self) -> None:
        self._cut = self._clock.callLater(CLOSE_S, self.cut_off)

    def cut_off(self) -> None:
        """End the connection at once, without a message and without a report."""
        self.owner = None
        if self.is_connected:
            self.leave_reader(self)
            self.transport.abortConnection()


LinkKind = Callable[[Owner, Clock, Callable[[], float]], PlayerLink]
"""Makes a link from an owner, a clock and a function that returns monotonic seconds; decides which protocol it
speaks."""


class LinkFactory(Factory):
    """Makes a link for every connection; its first owner is the same lobby.

    Args:
        owner: the lobby.
        clock: the reactor, or a test's clock.
        now: returns monotonic seconds.
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


def make_message(command: SeatCommand, match: Match, tokens: Sequence[str], head: str) -> Message:
    """Return the message that carries out a command.

    Args:
        command: a command for a seat, except ExtendLimit, which is not sent.
        match: the match that gave it.
        tokens: resume token of each seat.
        head: hash of the record's line that has the command.
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
            message = Offer(**_make_terms(command, match, tokens))
        case ResumeSeat():
            message = Resumed(**_make_terms(command, match, tokens), turn=command.turn, view=command.view)
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
            message = _make_end(command, match, head)
        case _:
            raise AssertionError(f"{command} is not sent to a seat")
    return message


def _make_end(command: EndSeat, match: Match, head: str) -> End:
    return End(
        match=match.setup.match,
        winners=list(command.winners),
        ranking=[list(level) for level in command.ranking],
        scores=list(command.scores),
        void=command.void,
        seed=_seed_to_reveal(match, command),
        nonces=list(match.nonces.opened),
        ack=command.ack,
        head=head,
    )


def _seed_to_reveal(match: Match, end: EndSeat) -> str | None:
    """Return the seed; None if another match with the same deal may follow, as a void match is played again."""
    opens = match.setup.seed_opens
    is_secret = opens == "after-last-leg" or (opens == "at-end-unless-void" and end.void is not None)
    return None if is_secret else match.seed.hex()


def _make_terms(command: OfferMatch | ResumeSeat, match: Match, tokens: Sequence[str]) -> dict[str, Any]:
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
