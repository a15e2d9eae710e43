"""The referee's end of one course player's connection, without any I/O: translates our messages to remote calls.

The course's protocol has no message for a welcome, an offer, an expulsion, or the moves of others: these are not sent.
A match waits for `ready` and for a nonce, which no course player sends. Both are made up here. The nonce is a constant,
so such a player has no influence on the deal.
"""

import json
from typing import Annotated, Any

from msgspec import Meta

from protocol import Code, ConnectionState, LocalProtocolError, RemoteProtocolError, Role
from protocol.connection import Conversation
from protocol.deal import nonce_commitment
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_UNASKED_BYTES, PROTOCOL_VERSION
from protocol.messages import Ack, End, Hello, Message, Move, Nonce, Offer, Ready, Start, Told, Turn

from .forms import MalformedValue, convert, jhand, jpub, jtiles, parse_choice
from .json_stream import JsonReader
from .plugin import NAME_PATTERN

VOID = "void"
"""The result of a method that returns nothing."""
NO_NONCE = "0" * 32
"""Nonce of every course player: they send no random number."""

_Name = Annotated[str, Meta(pattern=NAME_PATTERN)]


# The states are those of protocol's own conversation; only the bytes differ. What the course's player sends in each:
#
#     NEW             its name, a JSON string         -> hello
#     OFFERED         nothing                         -> ready, made up here
#     TO_REVEAL       nothing                         -> nonce, made up here
#     TO_CONFIRM      "void", for setup and new-tiles -> ack
#     ASKED           a JChoice, for take-turn        -> move
#     TO_CONFIRM_END  "void", for win                 -> ack
#
# In any other state a value breaks the protocol. So matches and records are the same for both protocols.
class CourseConversation(Conversation):
    """The referee's side of one conversation."""

    def __init__(self) -> None:
        self._values = JsonReader(MAX_FRAME_FROM_PLAYER_BYTES)
        super().__init__(Role.REFEREE, self._values)
        self._seat = 0
        self._name = ""
        self._number = 0
        """Number of the open request: its turn, or its `ack`."""

    def receive_end(self) -> None:
        """Take the end of the player's bytes.

        Raises:
            RemoteProtocolError: the last value is incomplete, or is a number, which is no answer to any call.
        """
        # A number at the end of a stream is complete only now. No answer is a number, but its bytes are evidence.
        if self.state is not ConnectionState.CLOSED:
            self._values.receive_end()
            self.next_event()

    def _read(self) -> Message | None:
        """Return the next message: from a value that came, or made up where a course player sends nothing."""
        match = self._match or ""
        if self.state is ConnectionState.OFFERED:
            return Ready(match=match, commitment=nonce_commitment(match, self._seat, NO_NONCE))
        if self.state is ConnectionState.TO_REVEAL:
            return Nonce(match=match, nonce=NO_NONCE)
        value = self._values.next_value()
        if value is None:
            self._check_flood()
            return None
        self.last_body = value.body
        try:
            match self.state:
                case ConnectionState.NEW:
                    return Hello(version=PROTOCOL_VERSION, name=convert(value.value, _Name))
                case ConnectionState.ASKED:
                    return Move(match=match, turn=self._number, move=parse_choice(value.value))
                case ConnectionState.TO_CONFIRM | ConnectionState.TO_CONFIRM_END:
                    return self._parse_ack(value.value)
        except MalformedValue as error:
            raise _breach(Code.WRONG_TYPE, str(error), value.body) from None
        raise _breach(Code.OUT_OF_TURN, f"a value came while the conversation was {self.state}", value.body)

    def _parse_ack(self, value: Any) -> Ack:
        if value != VOID:
            raise MalformedValue(f'the string "{VOID}" is the only result of a method that returns nothing')
        return Ack(match=self._match or "", ack=self._number)

    def _encode(self, message: Message) -> bytes:
        """Return the bytes of a call; empty if the course has no call for a message."""
        ack = getattr(message, "ack", None)
        # The course's views have no seat numbers: the first player of a JPub is the addressee. So remember its seat.
        if isinstance(message, Offer):
            self._seat, self._name = message.seat, message.names[message.seat]
        call = self._call(message)
        if call is not None and ack is None and not isinstance(message, Turn):
            raise LocalProtocolError(f"this wire confirms every call, but the match of {call[0]!r} asks for none")
        self._number = message.turn if isinstance(message, Turn) else ack or 0
        return b"" if call is None else json.dumps(call, separators=(",", ":")).encode() + b"\n"

    def _call(self, message: Message) -> list[Any] | None:
        """Return the remote call for a message; None if there is none."""
        match message:
            case Start():
                return ["setup", [jpub(message.view, self._seat, self._name), jhand(message.view)]]
            case Turn():
                return ["take-turn", [jpub(message.view, self._seat, self._name)]]
            case Told() if message.draws is not None:
                return ["new-tiles", [jtiles(message.draws)]]
            case End() if (
                message.void is None and self.state is not ConnectionState.IDLE
            ):  # in IDLE the end was confirmed already
                return ["win", [self._seat in message.winners]]
        return None

    def _check_flood(self) -> None:
        """Refuse a flood of bytes that no call asked for."""
        # While an answer is due, a long value may be on its way, and the reader's own limit bounds it.
        if self.state is ConnectionState.SEATED and self._reader.pending_bytes > MAX_UNASKED_BYTES:
            detail = f"more than {MAX_UNASKED_BYTES} bytes of a value came without a call"
            raise _breach(Code.FLOOD, detail, self.pending)


def _breach(code: Code, detail: str, evidence: bytes) -> RemoteProtocolError:
    return RemoteProtocolError(code, detail[:400], evidence)
