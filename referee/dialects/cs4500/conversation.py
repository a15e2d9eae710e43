"""The referee's end of one course player's connection, without any I/O: the same messages as over msgpack, as calls.

What the course has no word for (`welcome`, the offer, expulsions, what others did) is not said; the `ready` that a
match waits for is made here, and brings no chance of the player's own.
"""

import json
from typing import Annotated, Any

from msgspec import Meta

from protocol import Code, ConnectionState, LocalProtocolError, Need, RemoteProtocolError
from protocol.connection import TRANSITIONS
from protocol.limits import (
    MAX_EVIDENCE_BYTES,
    MAX_FRAME_FROM_PLAYER_BYTES,
    MAX_UNASKED_BYTES,
    PROTOCOL_VERSION,
)
from protocol.messages import Ack, End, Hello, Message, Move, Offer, Ready, Start, Told, Turn, type_of

from .forms import BadForm, converted, hand_of, jpub, jtiles, move_of
from .json_stream import JsonReader, JsonValue
from .names import NAME_PATTERN

VOID = "void"
"""What a method without a result returns."""
NO_NONCE = "0" * 32
"""In place of a random number of the player's: the course's players bring none."""

_Name = Annotated[str, Meta(pattern=NAME_PATTERN)]
_ANSWERED = (ConnectionState.ASKED, ConnectionState.TO_CONFIRM, ConnectionState.TO_CONFIRM_END)


class CourseConversation:
    """The referee's side of one conversation; it has the shape of protocol.Connection."""

    def __init__(self) -> None:
        self.state = ConnectionState.NEW
        self.last_body = b""
        """The bytes of the value that was read last."""
        self._reader = JsonReader(MAX_FRAME_FROM_PLAYER_BYTES)
        self._match = ""
        self._seat = 0
        self._name = ""
        self._number = 0
        """Of the open request: its turn, or its `ack`."""

    @property
    def pending(self) -> bytes:
        """Bytes of an incomplete value, or of white space where a value is due: evidence for a dripping answer."""
        return self._reader.pending

    @property
    def is_mid_frame(self) -> bool:
        """Whether a value was begun and is not complete."""
        return self._reader.pending_bytes > 0

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the player; next_event tells what they were."""
        if self.state is not ConnectionState.CLOSED:
            self._reader.receive_data(data)

    def receive_end(self) -> None:
        """Note that the player sends no more bytes.

        Raises:
            RemoteProtocolError: a value was begun and not finished, or is a number, which answers nothing.
        """
        if self.state is not ConnectionState.CLOSED:
            self._reader.receive_end()
            self.next_event()

    def next_event(self) -> Message | Need:
        """Take the next message out of the received bytes, or the `ready` that is said for the player.

        Raises:
            RemoteProtocolError: the player broke the protocol; the conversation is closed then.
        """
        if self.state is ConnectionState.OFFERED:
            self._advance("ready")
            return Ready(match=self._match, nonce=NO_NONCE)
        if self.state is ConnectionState.CLOSED:
            return Need.DATA
        try:
            found = self._reader.next_value()
            if found is not None:
                return self._heard(found)
            self._check_flood()
        except RemoteProtocolError:
            self.close()
            raise
        return Need.DATA

    def close(self) -> None:
        """End the conversation: nothing more is sent, and what comes is dropped."""
        self.state = ConnectionState.CLOSED

    def _advance(self, trigger: str) -> None:
        self.state = TRANSITIONS[self.state, trigger]

    def send(self, message: Message) -> bytes:
        """Turn a message into the bytes of a call; nothing where the course has no word for it.

        Raises:
            LocalProtocolError: it may not be sent now, or demands no confirmation where the course's players give one.
        """
        ack = getattr(message, "ack", None)
        trigger = type_of(message) if ack is None else type_of(message) + "+"
        state = TRANSITIONS.get((self.state, trigger))
        if state is None:
            raise LocalProtocolError(f"{trigger!r} may not be sent in state {self.state}")
        if isinstance(message, Offer):
            self._match, self._seat, self._name = message.match, message.seat, message.names[message.seat]
        call = self._call(message)
        if call is not None and state not in _ANSWERED:
            raise LocalProtocolError(f"this wire confirms every call; {trigger!r} belongs to a match that does not")
        self._number = message.turn if isinstance(message, Turn) else ack or 0
        self.state = state
        return b"" if call is None else json.dumps(call, separators=(",", ":")).encode() + b"\n"

    def send_last(self, message: Message) -> bytes:
        """Say nothing, and nothing more: the course has no word for a refusal or an expulsion."""
        self.close()
        return b""

    def _call(self, message: Message) -> list[Any] | None:
        """Return the remote call that a message is; None if it is none."""
        match message:
            case Start():
                return ["setup", [self._public(message.view), hand_of(message.view)]]
            case Turn():
                return ["take-turn", [self._public(message.view)]]
            case Told() if message.draws is not None:
                return ["new-tiles", [jtiles(message.draws)]]
            case End() if message.void is None:
                return ["win", [self._seat in message.winners]]
        return None

    def _public(self, view: Any) -> dict[str, Any]:
        return jpub(view, self._seat, self._name)

    def _heard(self, found: JsonValue) -> Message:
        """Return the message that a value is in this state."""
        self.last_body = found.body
        try:
            if self.state is ConnectionState.NEW:
                self._advance("hello")
                return Hello(version=PROTOCOL_VERSION, name=converted(found.value, _Name))
            if self.state is ConnectionState.ASKED:
                self._advance("move")
                return Move(match=self._match, turn=self._number, move=move_of(found.value))
            if self.state in _ANSWERED:
                self._advance("ack")
                return self._confirmed(found.value)
        except BadForm as error:
            raise _breach(Code.WRONG_TYPE, str(error), found.body) from None
        raise _breach(Code.OUT_OF_TURN, f"a value came while the conversation was {self.state}", found.body)

    def _confirmed(self, value: Any) -> Ack:
        if value != VOID:
            raise BadForm(f'the string "{VOID}" is the only result of a method that returns nothing')
        return Ack(match=self._match, ack=self._number)

    def _check_flood(self) -> None:
        """Refuse to buffer much that nothing asked for; a value that was just asked for may be as long as the limit."""
        if self.state is ConnectionState.SEATED and self._reader.pending_bytes > MAX_UNASKED_BYTES:
            detail = f"more than {MAX_UNASKED_BYTES} bytes of a value came, and nothing was asked"
            raise _breach(Code.FLOOD, detail, self.pending)


def _breach(code: Code, detail: str, evidence: bytes) -> RemoteProtocolError:
    return RemoteProtocolError(code, detail[:400], evidence[:MAX_EVIDENCE_BYTES])
