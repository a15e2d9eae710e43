"""One side of one conversation, without any I/O: bytes in, messages out, and the table of what may follow what.

Knows whose turn it is to speak. Refuses to know sockets, clocks, games and verdicts. Both roles use the same table:
what the referee may send is what the player expects, and the other way round.
"""

from abc import ABC, abstractmethod
from enum import Enum, StrEnum

from .decoding import decode
from .errors import Code, LocalProtocolError, RemoteProtocolError
from .frames import FrameReader, StreamReader, encode_frame
from .limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES, MAX_UNASKED_BYTES
from .messages import FROM_PLAYER, FROM_REFEREE, Expelled, Message, Refused, Terms, encode, type_of


class Role(StrEnum):
    """The two ends of a connection."""

    PLAYER = "player"
    REFEREE = "referee"


class ConnectionState(StrEnum):
    """What the conversation is waiting for."""

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
    """In a match; the referee speaks next."""
    ASKED = "asked"
    """The player moves."""
    TO_CONFIRM = "to-confirm"
    """The player acknowledges a start or a told."""
    TO_CONFIRM_END = "to-confirm-end"
    """The player acknowledges the end."""
    CLOSED = "closed"
    """Nothing more is said; what still arrives is dropped."""

    __hash__ = str.__hash__
    """In C: an enum's own is a Python function, and every message looks into the table."""


class Need(Enum):
    """What next_event answers when there is no message yet."""

    DATA = "data"


# State -> message type -> next state. "+" behind a type means: it carries an `ack` number. This is the whole protocol:
# what has no entry is out of turn. The table in SPEC.md is made from it. A match can be void after its end was told,
# and a seat be expelled for a late `ack` that is on its way: so `end` and `expelled` may come when idle, too.
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
    """One side of one conversation, whatever its messages look like as bytes.

    Args:
        role: the side that this object speaks for.
        reader: of the bytes that come.
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
        """Bytes of an incomplete message, as evidence for a dripping or a broken-off answer."""
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
        """Take bytes from the peer; next_event tells what they were."""
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
            RemoteProtocolError: the peer broke the protocol; the conversation is closed then.
        """
        while self.state is not ConnectionState.CLOSED:
            try:
                message = self._read()
                if message is None:
                    return Need.DATA
                if self._past_match is not None and self._is_late(message):
                    continue
                self._take(message)
            except RemoteProtocolError:
                self.close()
                raise
            return message
        return Need.DATA

    def send(self, message: Message) -> bytes:
        """Turn a message into bytes for the peer.

        Raises:
            LocalProtocolError: this side may not send that now, or it can't be put into bytes; nothing has changed.
        """
        trigger = _trigger(message)
        state = TRANSITIONS.get((self.state, trigger))
        if type(message) not in self._ours:
            raise LocalProtocolError(f"a {self.role} never sends {type_of(message)!r}")
        if state is None:
            raise LocalProtocolError(f"{trigger!r} may not be sent in state {self.state}")
        if getattr(message, "match", self._match) != self._match and not self._is_current(message):
            raise LocalProtocolError(f"{type_of(message)!r} names a match other than {self._match!r}")
        data = self._written(message)
        self._enter(state, message)
        return data

    def send_last(self, message: Message) -> bytes:
        """Turn a refusal or an expulsion into bytes, though the peer's breach has closed the conversation.

        Raises:
            LocalProtocolError: it is neither of the two, which are all that is owed then.
        """
        if not isinstance(message, Refused | Expelled):
            raise LocalProtocolError(f"{type_of(message)!r} may not be sent after a breach")
        self.close()
        return self._written(message)

    def close(self) -> None:
        """End the conversation, whatever it was waiting for: nothing more is sent, and what comes is dropped."""
        self.state = ConnectionState.CLOSED

    @abstractmethod
    def _read(self) -> Message | None:
        """Return the next message, whether it may come now or not; None while there is none."""

    @abstractmethod
    def _written(self, message: Message) -> bytes:
        """Return the bytes of a message that may be sent."""

    def _is_late(self, message: Message) -> bool:
        """Tell whether a player's answer crossed the end of its match on the wire: no fault of anybody's."""
        if self.role is Role.PLAYER:
            return False
        match = getattr(message, "match", None)
        return match is not None and match == self._past_match and match != self._match

    def _take(self, message: Message) -> None:
        trigger, evidence = _trigger(message), self.last_body
        state = TRANSITIONS.get((self.state, trigger))
        if state is None:
            detail = f"{trigger!r} came while the conversation was {self.state}"
            raise RemoteProtocolError(Code.OUT_OF_TURN, detail, evidence)
        if getattr(message, "match", self._match) != self._match and not self._is_current(message):
            detail = f"{type_of(message)!r} names a match other than {self._match!r}"
            raise RemoteProtocolError(Code.WRONG_MATCH, detail, evidence)
        self._enter(state, message)

    def _is_current(self, message: Message) -> bool:
        """Tell whether a message may name another match than the one being played: a new one, or the last one."""
        is_past = self.state is ConnectionState.IDLE and getattr(message, "match", None) == self._past_match
        return is_past or isinstance(message, Terms)

    def _enter(self, state: ConnectionState, message: Message) -> None:
        if isinstance(message, Terms):
            self._match = message.match
        elif state is ConnectionState.IDLE and self._match is not None:
            self._past_match, self._match = self._match, None
        self.state = state


class Connection(Conversation):
    """One side of one conversation in frames of msgpack.

    Args:
        role: the side that this object speaks for.
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

    def _written(self, message: Message) -> bytes:
        try:
            return encode_frame(encode(message), self._limit_bytes)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise LocalProtocolError(f"{type_of(message)!r} holds what msgpack can't carry: {error}") from None

    def _check_flood(self) -> None:
        """Refuse a long frame that nothing asked for by its prefix, whether the rest of it has come or not."""
        length = self._frames.announced_bytes or 0
        if MAX_UNASKED_BYTES < length <= MAX_FRAME_FROM_PLAYER_BYTES and self.role is Role.REFEREE:
            detail = f"a frame announces {length} bytes, and nothing was asked; the limit is {MAX_UNASKED_BYTES} then"
            raise RemoteProtocolError(Code.FLOOD, detail, self.pending)


_UNASKED = frozenset((ConnectionState.GREETED, ConnectionState.IDLE, ConnectionState.SEATED))
"""In these the player has been asked nothing; between matches, a last short answer may still be under way."""


def _trigger(message: Message) -> str:
    trigger, demanding = _TRIGGERS[type(message)]
    return trigger if demanding is None or getattr(message, "ack", None) is None else demanding


_TRIGGERS: dict[type[Message], tuple[str, str | None]] = {
    **{kind: (name, None) for name, kind in FROM_PLAYER.items()},
    **{kind: (name, f"{name}+" if "ack" in kind.__struct_fields__ else None) for name, kind in FROM_REFEREE.items()},
}
"""By a message's class: what it triggers without an `ack` number, and with one, if it may have one."""
