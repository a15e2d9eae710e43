"""One side of one conversation, without any I/O: bytes in, messages out, and the table of what may follow what.

Knows whose turn it is to speak. Refuses to know sockets, clocks, games and verdicts. Both roles use the same table:
what the referee may send is what the player expects, and the other way round.
"""

from enum import Enum, StrEnum

from .decoding import decode
from .errors import Code, LocalProtocolError, RemoteProtocolError
from .frames import FrameReader, encode_frame
from .limits import MAX_EVIDENCE_BYTES, MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES, MAX_UNASKED_BYTES
from .messages import FROM_PLAYER, FROM_REFEREE, Message, encode, type_of


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


# (state, message type) -> next state. "+" behind a type means: it carries an `ack` number. Rows are the whole protocol:
# what has no row is out of turn. The table in SPEC.md is made from this one. A match can be void after its end was
# told, and a seat be expelled for a late `ack` that is on its way: so `end` and `expelled` may come when idle, too.
TRANSITIONS: dict[tuple[ConnectionState, str], ConnectionState] = {
    (ConnectionState.NEW, "hello"): ConnectionState.GREETED,
    (ConnectionState.GREETED, "welcome"): ConnectionState.IDLE,
    (ConnectionState.NEW, "refused"): ConnectionState.CLOSED,
    (ConnectionState.GREETED, "refused"): ConnectionState.CLOSED,
    (ConnectionState.IDLE, "refused"): ConnectionState.CLOSED,
    (ConnectionState.IDLE, "offer"): ConnectionState.OFFERED,
    (ConnectionState.IDLE, "resumed"): ConnectionState.SEATED,
    (ConnectionState.IDLE, "end"): ConnectionState.IDLE,
    (ConnectionState.IDLE, "expelled"): ConnectionState.CLOSED,
    (ConnectionState.OFFERED, "ready"): ConnectionState.SEATED,
    (ConnectionState.OFFERED, "end"): ConnectionState.IDLE,
    (ConnectionState.OFFERED, "paused"): ConnectionState.CLOSED,
    (ConnectionState.OFFERED, "expelled"): ConnectionState.CLOSED,
    (ConnectionState.SEATED, "start"): ConnectionState.SEATED,
    (ConnectionState.SEATED, "start+"): ConnectionState.TO_CONFIRM,
    (ConnectionState.SEATED, "turn"): ConnectionState.ASKED,
    (ConnectionState.SEATED, "told"): ConnectionState.SEATED,
    (ConnectionState.SEATED, "told+"): ConnectionState.TO_CONFIRM,
    (ConnectionState.SEATED, "end"): ConnectionState.IDLE,
    (ConnectionState.SEATED, "end+"): ConnectionState.TO_CONFIRM_END,
    (ConnectionState.SEATED, "paused"): ConnectionState.CLOSED,
    (ConnectionState.SEATED, "expelled"): ConnectionState.CLOSED,
    (ConnectionState.ASKED, "move"): ConnectionState.SEATED,
    (ConnectionState.ASKED, "told"): ConnectionState.ASKED,
    (ConnectionState.ASKED, "end"): ConnectionState.IDLE,
    (ConnectionState.ASKED, "paused"): ConnectionState.CLOSED,
    (ConnectionState.ASKED, "expelled"): ConnectionState.CLOSED,
    (ConnectionState.TO_CONFIRM, "ack"): ConnectionState.SEATED,
    (ConnectionState.TO_CONFIRM, "told"): ConnectionState.TO_CONFIRM,
    (ConnectionState.TO_CONFIRM, "end"): ConnectionState.IDLE,
    (ConnectionState.TO_CONFIRM, "paused"): ConnectionState.CLOSED,
    (ConnectionState.TO_CONFIRM, "expelled"): ConnectionState.CLOSED,
    (ConnectionState.TO_CONFIRM_END, "ack"): ConnectionState.IDLE,
    (ConnectionState.TO_CONFIRM_END, "end"): ConnectionState.IDLE,
    (ConnectionState.TO_CONFIRM_END, "paused"): ConnectionState.CLOSED,
    (ConnectionState.TO_CONFIRM_END, "expelled"): ConnectionState.CLOSED,
}


class Connection:
    """One side of one conversation.

    Args:
        role: the side that this object speaks for.
    """

    def __init__(self, role: Role) -> None:
        mine, theirs = (FROM_PLAYER, FROM_REFEREE) if role is Role.PLAYER else (FROM_REFEREE, FROM_PLAYER)
        limits = (MAX_FRAME_FROM_PLAYER_BYTES, MAX_FRAME_FROM_REFEREE_BYTES)
        self._limit_bytes, read_limit = limits if role is Role.PLAYER else limits[::-1]
        self._mine, self._theirs = mine, theirs
        self._reader = FrameReader(read_limit)
        self._match: str | None = None
        self._past_match: str | None = None
        self.last_body = b""
        """The body of the frame that was read last."""
        self.role = role
        self.state = ConnectionState.NEW

    @property
    def pending(self) -> bytes:
        """Bytes of an incomplete frame, as evidence for a dripping or a broken-off answer."""
        return self._reader.pending[:MAX_EVIDENCE_BYTES]

    @property
    def is_mid_frame(self) -> bool:
        """Whether a frame was begun and is not complete."""
        return self._reader.pending_bytes > 0

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the peer; next_event tells what they were."""
        if self.state is not ConnectionState.CLOSED:
            self._reader.receive_data(data)

    def receive_end(self) -> None:
        """Note that the peer sends no more bytes.

        Raises:
            RemoteProtocolError: TRUNCATED if a frame was begun and not finished.
        """
        pending = self.pending
        if self.state is not ConnectionState.CLOSED and pending:
            raise RemoteProtocolError(Code.TRUNCATED, "the connection ended in the middle of a frame", pending)

    def next_event(self) -> Message | Need:
        """Take the next complete message out of the received bytes.

        Returns:
            The message, or Need.DATA while there is none.

        Raises:
            RemoteProtocolError: the peer broke the protocol; the conversation is closed then.
        """
        while self.state is not ConnectionState.CLOSED:
            try:
                self._check_flood()
                body = self._reader.next_frame()
                if body is None:
                    return Need.DATA
                self.last_body = body
                message = decode(body, self._theirs)
                if self._is_late(message):
                    continue
                self._advance_remote(message, body)
            except RemoteProtocolError:
                self.state = ConnectionState.CLOSED
                raise
            return message
        return Need.DATA

    def send(self, message: Message) -> bytes:
        """Turn a message into bytes for the peer.

        Raises:
            LocalProtocolError: this side may not send that now, or msgpack can't carry it; nothing has changed.
        """
        name, match = type_of(message), getattr(message, "match", None)
        trigger = _trigger(name, message)
        state = TRANSITIONS.get((self.state, trigger))
        if name not in self._mine:
            raise LocalProtocolError(f"a {self.role} never sends {name!r}")
        if state is None:
            raise LocalProtocolError(f"{trigger!r} may not be sent in state {self.state}")
        if not self._is_current(name, match):
            raise LocalProtocolError(f"{name!r} names a match other than {self._match!r}")
        data = encode_frame(_encoded(message), self._limit_bytes)
        self._enter(state, match)
        return data

    def send_last(self, message: Message) -> bytes:
        """Turn a refusal or an expulsion into bytes, though the peer's breach has closed the conversation.

        Raises:
            LocalProtocolError: it is neither of the two, which are all that is owed then.
        """
        if type_of(message) not in _LAST_WORDS:
            raise LocalProtocolError(f"{type_of(message)!r} may not be sent after a breach")
        self.state = ConnectionState.CLOSED
        return encode_frame(encode(message), self._limit_bytes)

    def close(self) -> None:
        """End the conversation, whatever it was waiting for: nothing more is sent, and what comes is dropped."""
        self.state = ConnectionState.CLOSED

    def _check_flood(self) -> None:
        """Refuse a long frame that nothing asked for by its prefix, whether the rest of it has come or not."""
        length = self._reader.announced_bytes
        is_long = length is not None and MAX_UNASKED_BYTES < length <= MAX_FRAME_FROM_PLAYER_BYTES
        if is_long and self.role is Role.REFEREE and self.state in _UNASKED:
            detail = f"a frame announces {length} bytes, and nothing was asked; the limit is {MAX_UNASKED_BYTES} then"
            raise RemoteProtocolError(Code.FLOOD, detail, self.pending)

    def _is_late(self, message: Message) -> bool:
        """Tell whether a player's answer crossed the end of its match on the wire: no fault of anybody's."""
        if self.role is Role.PLAYER or self._past_match is None:
            return False
        match = getattr(message, "match", None)
        return match is not None and match == self._past_match and match != self._match

    def _advance_remote(self, message: Message, body: bytes) -> None:
        name, match = type_of(message), getattr(message, "match", None)
        trigger = _trigger(name, message)
        state = TRANSITIONS.get((self.state, trigger))
        if state is None:
            detail = f"{trigger!r} came while the conversation was {self.state}"
            raise RemoteProtocolError(Code.OUT_OF_TURN, detail, body[:MAX_EVIDENCE_BYTES])
        if not self._is_current(name, match):
            detail = f"{name!r} names a match other than {self._match!r}"
            raise RemoteProtocolError(Code.WRONG_MATCH, detail, body[:MAX_EVIDENCE_BYTES])
        self._enter(state, match)

    def _is_current(self, name: str, match: str | None) -> bool:
        """Tell whether a message names the match being played; between matches, the last one."""
        if match is None or match == self._match or name in _BEGINNINGS:
            return True
        return self.state is ConnectionState.IDLE and match == self._past_match

    def _enter(self, state: ConnectionState, match: str | None) -> None:
        if self.state is ConnectionState.IDLE and state in (ConnectionState.OFFERED, ConnectionState.SEATED):
            self._match = match
        elif state is ConnectionState.IDLE and self._match is not None:
            self._past_match, self._match = self._match, None
        self.state = state


def _encoded(message: Message) -> bytes:
    try:
        return encode(message)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LocalProtocolError(f"{type_of(message)!r} holds what msgpack can't carry: {error}") from None


_UNASKED = frozenset((ConnectionState.GREETED, ConnectionState.IDLE, ConnectionState.SEATED))
"""In these the player has been asked nothing; between matches, a last short answer may still be under way."""
_BEGINNINGS = frozenset(("offer", "resumed"))
_LAST_WORDS = frozenset(("refused", "expelled"))
_CONFIRMABLE = frozenset(("start", "told", "end"))


def _trigger(name: str, message: Message) -> str:
    demands = name in _CONFIRMABLE and getattr(message, "ack", None) is not None
    return name + "+" if demands else name
