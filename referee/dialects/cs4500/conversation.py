"""The referee's end of one course player's connection, without any I/O: the same messages as over msgpack, as calls.

What the course has no word for (`welcome`, the offer, expulsions, what others did) is not said; the `ready` that a
match waits for is made here, and so is the nonce: it brings no chance of the player's own.
"""

import json
from typing import Annotated, Any

from msgspec import Meta

from protocol import Code, ConnectionState, LocalProtocolError, RemoteProtocolError, Role
from protocol.connection import Conversation
from protocol.deal import nonce_commitment
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_UNASKED_BYTES, PROTOCOL_VERSION
from protocol.messages import Ack, End, Hello, Message, Move, Nonce, Offer, Ready, Start, Told, Turn

from .forms import MalformedValue, converted, hand_of, jpub, jtiles, move_of
from .json_stream import JsonReader
from .names import NAME_PATTERN

VOID = "void"
"""What a method without a result returns."""
NO_NONCE = "0" * 32
"""In place of a random number of the player's: the course's players bring none."""

_Name = Annotated[str, Meta(pattern=NAME_PATTERN)]


class CourseConversation(Conversation):
    """The referee's side of one conversation."""

    def __init__(self) -> None:
        self._values = JsonReader(MAX_FRAME_FROM_PLAYER_BYTES)
        super().__init__(Role.REFEREE, self._values)
        self._seat = 0
        self._name = ""
        self._number = 0
        """Of the open request: its turn, or its `ack`."""

    def receive_end(self) -> None:
        """Note that the player sends no more bytes.

        Raises:
            RemoteProtocolError: a value was begun and not finished, or is a number, which answers nothing.
        """
        if self.state is not ConnectionState.CLOSED:
            self._values.receive_end()
            self.next_event()

    def _read(self) -> Message | None:
        """Return the message that a value is in this state, or what is said for the player without one."""
        match = self._match or ""
        if self.state is ConnectionState.OFFERED:
            return Ready(match=match, commitment=nonce_commitment(match, self._seat, NO_NONCE))
        if self.state is ConnectionState.TO_REVEAL:
            return Nonce(match=match, nonce=NO_NONCE)
        found = self._values.next_value()
        if found is None:
            self._check_flood()
            return None
        self.last_body = found.body
        try:
            match self.state:
                case ConnectionState.NEW:
                    return Hello(version=PROTOCOL_VERSION, name=converted(found.value, _Name))
                case ConnectionState.ASKED:
                    return Move(match=match, turn=self._number, move=move_of(found.value))
                case ConnectionState.TO_CONFIRM | ConnectionState.TO_CONFIRM_END:
                    return self._confirmed(found.value)
        except MalformedValue as error:
            raise _breach(Code.WRONG_TYPE, str(error), found.body) from None
        raise _breach(Code.OUT_OF_TURN, f"a value came while the conversation was {self.state}", found.body)

    def _confirmed(self, value: Any) -> Ack:
        if value != VOID:
            raise MalformedValue(f'the string "{VOID}" is the only result of a method that returns nothing')
        return Ack(match=self._match or "", ack=self._number)

    def _written(self, message: Message) -> bytes:
        """Return the bytes of a call; nothing where the course has no word for a message."""
        ack = getattr(message, "ack", None)
        if isinstance(message, Offer):
            self._seat, self._name = message.seat, message.names[message.seat]
        call = self._call(message)
        if call is not None and ack is None and not isinstance(message, Turn):
            raise LocalProtocolError(f"this wire confirms every call; {call[0]!r} belongs to a match that does not")
        self._number = message.turn if isinstance(message, Turn) else ack or 0
        return b"" if call is None else json.dumps(call, separators=(",", ":")).encode() + b"\n"

    def _call(self, message: Message) -> list[Any] | None:
        """Return the remote call that a message is; None if it is none."""
        match message:
            case Start():
                return ["setup", [jpub(message.view, self._seat, self._name), hand_of(message.view)]]
            case Turn():
                return ["take-turn", [jpub(message.view, self._seat, self._name)]]
            case Told() if message.draws is not None:
                return ["new-tiles", [jtiles(message.draws)]]
            case End() if message.void is None and self.state is not ConnectionState.IDLE:  # there it was confirmed
                return ["win", [self._seat in message.winners]]
        return None

    def _check_flood(self) -> None:
        """Refuse to buffer much that nothing asked for; a value that was just asked for may be as long as the limit."""
        if self.state is ConnectionState.SEATED and self._reader.pending_bytes > MAX_UNASKED_BYTES:
            detail = f"more than {MAX_UNASKED_BYTES} bytes of a value came, and nothing was asked"
            raise _breach(Code.FLOOD, detail, self.pending)


def _breach(code: Code, detail: str, evidence: bytes) -> RemoteProtocolError:
    return RemoteProtocolError(code, detail[:400], evidence)
