"""One side of one conversation, without any I/O: bytes in, messages out, and the table of legal transitions.

>>> from protocol.messages import Hello
>>> player, referee = Connection(Role.PLAYER), Connection(Role.REFEREE)
>>> referee.receive_data(player.send(Hello(version=1, name="ada")))
>>> referee.next_event()
Hello(version=1, name='ada', token=None)
>>> player.state, referee.state
(<ConnectionState.GREETED: 'greeted'>, <ConnectionState.GREETED: 'greeted'>)
"""

from abc import ABC, abstractmethod
from enum import Enum, StrEnum

from .decoding import decode
from .errors import Code, LocalProtocolError, RemoteProtocolError
from .frames import FrameReader, StreamReader, encode_frame
from .limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES, MAX_UNASKED_BYTES
from .messages import FROM_PLAYER, FROM_REFEREE, Expelled, Message, Refused, Terms, encode, type_of

# Why there is no I/O here. The caller owns the socket: it hands over the bytes that came, and sends the bytes that
# `send` returns. So the same class serves Twisted, a blocking client and a test that cuts the stream at every byte, and
# none of them needs its own version of the rules. (h11 does the same for HTTP.)
#
# Why one table serves both parties. Each party keeps a state, and changes it whenever it sends or reads a message. A
# message that the referee may send in a state is a message that the player may read in it, and the other way round. So
# one table serves both, and the two sides can't disagree about the rules. They can be in different states for a moment:
# while a message is on its way, its sender is one state ahead. That does no harm, because each state has one party that
# speaks next. The exceptions are the referee's `told`, `end`, `expelled` and `paused`, which may cross a player's
# answer. So the table lets them come while an answer is due, and an answer that crossed the end of its match is dropped
# (`_is_late`).
#
# A message that is not in the table is a mistake of the other party if it is read (RemoteProtocolError). If it is to be
# sent, it is a bug on this side (LocalProtocolError). An error never leaves the conversation between two states: a bad
# message closes it, and a message that may not be sent changes nothing.


class Role(StrEnum):
    """The two ends of a connection."""

    PLAYER = "player"
    REFEREE = "referee"


class ConnectionState(StrEnum):
    """State of a conversation, by the step that comes next."""

    NEW = "new"
    """The player says hello."""
    GREETED = "greeted"
    """The referee welcomes or refuses."""
    IDLE = "idle"
    """Between matches."""
    OFFERED = "offered"
    """The player says ready."""
    TO_REVEAL = "to-reveal"
    """The player opens its commitment."""
    SEATED = "seated"
    """The referee speaks next, in a match."""
    ASKED = "asked"
    """The player moves."""
    TO_CONFIRM = "to-confirm"
    """The player acknowledges a start or a told."""
    TO_CONFIRM_END = "to-confirm-end"
    """The player acknowledges the end."""
    CLOSED = "closed"
    """Nothing more is sent; bytes that still arrive are dropped."""

    __hash__ = str.__hash__
    """The hash of str, which is written in C. That of Enum is a slower Python function, and every message needs it."""


_DUE = {
    ConnectionState.NEW: "`hello`",
    ConnectionState.OFFERED: "`ready`",
    ConnectionState.TO_REVEAL: "`nonce`",
    ConnectionState.ASKED: "`move`",
    ConnectionState.TO_CONFIRM: "`ack`",
    ConnectionState.TO_CONFIRM_END: "`ack`",
}
"""State in which the player speaks next -> the message that is due, as errors name it."""


class Need(Enum):
    """Returned by next_event when there is no message yet."""

    DATA = "data"


# State -> message type -> next state. "+" after a type means that the message carries an `ack` number. This is the
# whole protocol: a message without an entry is out of turn. The table in SPEC.md is made from this one. `end` and
# `expelled` may come when idle, too: a match can become void after its end was sent, and a seat can be expelled for a
# late `ack` that is on its way.
_State = ConnectionState
_PARTINGS = {"paused": _State.CLOSED, "expelled": _State.CLOSED}
_TABLE: dict[ConnectionState, dict[str, ConnectionState]] = {
    _State.NEW: {"hello": _State.GREETED, "refused": _State.CLOSED},
    _State.GREETED: {"welcome": _State.IDLE, "refused": _State.CLOSED},
    _State.IDLE: {
        "refused": _State.CLOSED,
        "offer": _State.OFFERED,
        "resumed": _State.SEATED,
        "end": _State.IDLE,
        "expelled": _State.CLOSED,
    },
    _State.OFFERED: {"ready": _State.SEATED, "end": _State.IDLE, **_PARTINGS},
    _State.TO_REVEAL: {"nonce": _State.SEATED, "end": _State.IDLE, **_PARTINGS},
    _State.SEATED: {
        "reveal": _State.TO_REVEAL,
        "start": _State.SEATED,
        "start+": _State.TO_CONFIRM,
        "turn": _State.ASKED,
        "told": _State.SEATED,
        "told+": _State.TO_CONFIRM,
        "end": _State.IDLE,
        "end+": _State.TO_CONFIRM_END,
        **_PARTINGS,
    },
    _State.ASKED: {"move": _State.SEATED, "told": _State.ASKED, "end": _State.IDLE, **_PARTINGS},
    _State.TO_CONFIRM: {"ack": _State.SEATED, "told": _State.TO_CONFIRM, "end": _State.IDLE, **_PARTINGS},
    _State.TO_CONFIRM_END: {"ack": _State.IDLE, "end": _State.IDLE, **_PARTINGS},
}
TRANSITIONS = {(state, trigger): after for state, row in _TABLE.items() for trigger, after in row.items()}
"""(state, message type) -> next state."""


class Conversation(ABC):
    """One side of one conversation, independent of how its messages look as bytes.

    Args:
        role: the side that this object speaks for.
        reader: cuts the incoming bytes into messages.
    """

    def __init__(self, role: Role, reader: StreamReader) -> None:
        self._reader = reader
        self._match: str | None = None
        self._past_match: str | None = None
        self.last_body = b""
        """The bytes of the message that was read last."""
        self.role = role
        self.state = ConnectionState.NEW
        self._ours = frozenset((FROM_PLAYER if role is Role.PLAYER else FROM_REFEREE).values())

    @property
    def pending(self) -> bytes:
        """Bytes of an incomplete message: evidence if an answer comes too slowly or breaks off."""
        return self._reader.pending

    @property
    def is_mid_frame(self) -> bool:
        """Whether a message was begun and is not complete."""
        return self._reader.pending_bytes > 0

    @property
    def is_drained(self) -> bool:
        """Whether all that was received has been read."""
        return self._reader.is_empty

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the peer; next_event returns the messages in them."""
        if self.state is not ConnectionState.CLOSED:
            self._reader.receive_data(data)

    def receive_end(self) -> None:
        """Note that the peer sends no more bytes.

        Raises:
            RemoteProtocolError: TRUNCATED if a message was begun and not finished.
        """
        pending = self.pending
        if self.state is not ConnectionState.CLOSED and pending:
            raise RemoteProtocolError(Code.TRUNCATED, "the connection ended in the middle of a frame", pending)

    def next_event(self) -> Message | Need:
        """Take the next complete message out of the received bytes; Need.DATA while there is none.

        Raises:
            RemoteProtocolError: the peer broke the protocol; the conversation is then closed.

        >>> Connection(Role.PLAYER).next_event()
        <Need.DATA: 'data'>
        """
        while self.state is not ConnectionState.CLOSED:
            try:
                message = self._read()
                if message is None:
                    return Need.DATA
                if self._past_match is not None and self._is_late(message):
                    continue  # the player sent it before it could know of the end
                self._take(message)
            except RemoteProtocolError:
                self.close()
                raise
            return message
        return Need.DATA

    def send(self, message: Message) -> bytes:
        """Turn a message into bytes for the peer.

        Raises:
            LocalProtocolError: this side may not send the message now, or it can't be encoded; nothing has changed.

        >>> from protocol.messages import Ack
        >>> Connection(Role.PLAYER).send(Ack(match="q-1", ack=1))
        Traceback (most recent call last):
        protocol.errors.LocalProtocolError: 'ack' may not be sent in state new
        """
        kind = type(message)
        trigger = _TRIGGERS[kind, getattr(message, "ack", None) is not None]
        state = TRANSITIONS.get((self.state, trigger))
        if kind not in self._ours:
            raise LocalProtocolError(f"a {self.role} never sends {type_of(message)!r}")
        if state is None:
            raise LocalProtocolError(f"{trigger!r} may not be sent in state {self.state}")
        if getattr(message, "match", self._match) != self._match and not self._is_current(message):
            raise LocalProtocolError(f"{type_of(message)!r} names a match other than {self._match!r}")
        data = self._encode(message)
        if kind in _TERMS or state is ConnectionState.IDLE:
            self._change_match(message)
        self.state = state
        return data

    def send_last(self, message: Message) -> bytes:
        """Turn a refusal or an expulsion into bytes, although the peer's breach has closed the conversation.

        Raises:
            LocalProtocolError: it is another message; after a breach only these two may be sent.

        >>> from protocol.messages import Refused
        >>> referee = Connection(Role.REFEREE)
        >>> len(referee.send_last(Refused(code="silent", reason="no hello came in time"))) > 4
        True
        >>> referee.state
        <ConnectionState.CLOSED: 'closed'>
        """
        if not isinstance(message, Refused | Expelled):
            raise LocalProtocolError(f"{type_of(message)!r} may not be sent after a breach")
        self.close()
        return self._encode(message)

    def close(self) -> None:
        """End the conversation in any state: nothing more is sent, and bytes that still come are dropped."""
        self.state = ConnectionState.CLOSED

    @abstractmethod
    def _read(self) -> Message | None:
        """Return the next message, even if it may not come now; None while there is none."""

    @abstractmethod
    def _encode(self, message: Message) -> bytes:
        """Return the bytes of a message that may be sent."""

    def _is_late(self, message: Message) -> bool:
        """Return whether a player sent an answer before it could see the end of its match: nobody's fault."""
        if self.role is Role.PLAYER:
            return False
        match = getattr(message, "match", None)
        return match is not None and match == self._past_match and match != self._match

    def _take(self, message: Message) -> None:
        kind, evidence = type(message), self.last_body
        trigger = _TRIGGERS[kind, getattr(message, "ack", None) is not None]
        state = TRANSITIONS.get((self.state, trigger))
        if state is None:
            due = _DUE.get(self.state, "a message of the referee")
            detail = f"`{trigger}` came where {due} was due"
            raise RemoteProtocolError(Code.OUT_OF_TURN, detail, evidence)
        if getattr(message, "match", self._match) != self._match and not self._is_current(message):
            detail = f"{type_of(message)!r} names a match other than {self._match!r}"
            raise RemoteProtocolError(Code.WRONG_MATCH, detail, evidence)
        if kind in _TERMS or state is ConnectionState.IDLE:
            self._change_match(message)
        self.state = state

    def _is_current(self, message: Message) -> bool:
        """Return whether a message may name another match than the present one: a new match, or the previous one."""
        is_past = self.state is ConnectionState.IDLE and getattr(message, "match", None) == self._past_match
        return is_past or isinstance(message, Terms)

    def _change_match(self, message: Message) -> None:
        """Begin the match whose terms a message holds, or leave the match that was played."""
        if isinstance(message, Terms):
            self._match = message.match
        elif self._match is not None:
            self._past_match, self._match = self._match, None


class Connection(Conversation):
    """One side of one conversation in frames of msgpack.

    Args:
        role: the side that this object speaks for.

    >>> connection = Connection(Role.REFEREE)
    >>> connection.receive_data((5).to_bytes(4, "big") + b"hello")  # a frame, but not a map of msgpack
    >>> connection.next_event()
    Traceback (most recent call last):
    protocol.errors.RemoteProtocolError: not-msgpack: ...
    >>> connection.state
    <ConnectionState.CLOSED: 'closed'>
    """

    def __init__(self, role: Role) -> None:
        limits = (MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES)
        self._limit_bytes, read_limit = limits if role is Role.PLAYER else limits[::-1]
        self._theirs = FROM_REFEREE if role is Role.PLAYER else FROM_PLAYER
        self._frames = FrameReader(read_limit)
        super().__init__(role, self._frames)

    def _read(self) -> Message | None:
        if self.state in _UNASKED:
            self._check_flood()
        body = self._frames.next_frame()
        if body is None:
            return None
        self.last_body = body
        return decode(body, self._theirs)

    def _encode(self, message: Message) -> bytes:
        try:
            return encode_frame(encode(message), self._limit_bytes)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise LocalProtocolError(f"{type_of(message)!r} holds a value that msgpack can't encode: {error}") from None

    def _check_flood(self) -> None:
        """Refuse a long frame that was not asked for, as soon as its prefix is there."""
        length = self._frames.announced_bytes or 0
        if MAX_UNASKED_BYTES < length <= MAX_FRAME_FROM_PLAYER_BYTES and self.role is Role.REFEREE:
            detail = f"a frame announces {length} bytes, and nothing was asked; the limit is {MAX_UNASKED_BYTES} then"
            raise RemoteProtocolError(Code.FLOOD, detail, self.pending)


_TERMS = frozenset(kind for kind in FROM_REFEREE.values() if issubclass(kind, Terms))
"""Messages that begin a match."""
_UNASKED = frozenset((ConnectionState.GREETED, ConnectionState.IDLE, ConnectionState.SEATED))
"""States in which no answer is due; between matches, a last short answer may still be on its way."""


_TRIGGERS: dict[tuple[type[Message], bool], str] = {
    **{(kind, "ack" in kind.__struct_fields__): name for name, kind in FROM_PLAYER.items()},
    **{(kind, False): name for name, kind in FROM_REFEREE.items()},
    **{(kind, True): f"{name}+" for name, kind in FROM_REFEREE.items() if "ack" in kind.__struct_fields__},
}
"""(class of a message, whether it carries an `ack` number) -> its trigger in the table of transitions."""
