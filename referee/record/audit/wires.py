"""Reads the bytes that a record keeps of what players sent: which breach of the wire they are, or which answer.

One reader for the wire of protocol/SPEC.md; dialects bring their own.
"""

from typing import Protocol as Interface

import msgspec

from protocol import Code, RemoteProtocolError
from protocol.decoding import decode
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, MAX_UNASKED_BYTES, PREFIX_BYTES
from protocol.messages import FROM_PLAYER, Ack, Message, Move, Nonce, Ready, type_of

from ...match import events as e


class Wire(Interface):
    """Reads bytes as the wire of a match's players has them."""

    codes: frozenset[str]
    """Of every breach that there is."""
    game: str | None
    """The only one that is played on it; None: any."""
    nonce: str | None
    """What the referee commits to and opens for its players, who know no offers, numbers and tokens; None: they do."""

    def breach(self, code: str, data: bytes, asked: str | None, match: str) -> str:
        """Return what bytes are that were judged as a breach.

        Args:
            code: of the breach, one of `codes`: it tells whether the bytes begin with a frame's prefix.
            data: the bytes.
            asked: what was due, `hello`, `ready`, `nonce`, `move` or `ack`; None: nothing.
            match: the match's name.

        Returns:
            That code if it is theirs, else another one, or what they are in words.
        """

    def is_answer(self, data: bytes, event: e.Answer, match: str) -> bool:
        """Tell whether bytes are the answer of an event, and nothing else."""

    def is_unfinished(self, data: bytes) -> bool:
        """Tell whether bytes are the beginning of a message, as far as can be told; none are, too."""


def same(one: object, other: object) -> bool:
    """Tell whether two plain values are one in a record: to Python, true is 1 and 1.0 is 1."""
    return msgspec.json.encode(one) == msgspec.json.encode(other)


class OwnWire:
    """The wire of protocol/SPEC.md."""

    codes = frozenset(map(str, Code))
    game: str | None = None
    nonce: str | None = None

    def breach(self, code: str, data: bytes, asked: str | None, match: str) -> str:
        """Return what bytes are, as Wire has it."""
        if code == Code.NOT_READING:
            return f"{len(data)} bytes that were sent" if data else code
        if code == Code.TRUNCATED:
            return code if data and self.is_unfinished(data) else "no unfinished frame"
        if code in (Code.OVERSIZE, Code.EMPTY, Code.FLOOD):
            return _announced(data, is_asked=asked is not None)
        return _said(data, asked, match)

    def is_answer(self, data: bytes, event: e.Answer, match: str) -> bool:
        """Tell whether bytes are an answer, as Wire has it."""
        try:
            message = decode(data, FROM_PLAYER)
        except RemoteProtocolError:
            return False
        return len(data) <= MAX_FRAME_FROM_PLAYER_BYTES and same(
            msgspec.to_builtins(message), msgspec.to_builtins(_message_of(event, match))
        )

    def is_unfinished(self, data: bytes) -> bool:
        """Tell whether bytes begin a frame, as Wire has it."""
        length = int.from_bytes(data[:PREFIX_BYTES])
        is_allowed = len(data) < PREFIX_BYTES or 0 < length <= MAX_FRAME_FROM_PLAYER_BYTES
        return is_allowed and len(data) < PREFIX_BYTES + max(length, 1)


def _said(data: bytes, asked: str | None, match: str) -> str:
    """Return which breach the body of a frame is, or which answer."""
    if not 0 < len(data) <= MAX_FRAME_FROM_PLAYER_BYTES:
        return f"{len(data)} bytes"
    try:
        message = decode(data, FROM_PLAYER)
    except RemoteProtocolError as error:
        return str(error.code)
    if type_of(message) != asked:
        return str(Code.OUT_OF_TURN)
    if getattr(message, "match", match) != match:
        return str(Code.WRONG_MATCH)
    return f"a {asked} that was asked for"


def _announced(data: bytes, *, is_asked: bool) -> str:
    """Return which breach the prefix of a frame is."""
    if len(data) < PREFIX_BYTES:
        return "no whole prefix"
    length = int.from_bytes(data[:PREFIX_BYTES])
    if length > MAX_FRAME_FROM_PLAYER_BYTES:
        return str(Code.OVERSIZE)
    if length == 0:
        return str(Code.EMPTY)
    is_flood = length > MAX_UNASKED_BYTES and not is_asked
    return str(Code.FLOOD) if is_flood else f"a frame of {length} bytes"


def _message_of(event: e.Answer, match: str) -> Message:
    match event:
        case e.MoveReceived():
            return Move(match=match, turn=event.turn, move=event.move)
        case e.ReadyReceived():
            return Ready(match=match, commitment=event.commitment)
        case e.NonceReceived():
            return Nonce(match=match, nonce=event.nonce)
        case e.AckReceived():
            return Ack(match=match, ack=event.ack)
    raise AssertionError(f"{event} is no answer")


OWN_WIRE = OwnWire()
