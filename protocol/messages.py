"""One typed, frozen struct for each message of the protocol.

    >>> from protocol.decoding import decode
    >>> body = encode(Hello(version=1, name="ada"))
    >>> decode(body, FROM_PLAYER)
    Hello(version=1, name='ada', token=None)

The JSON Schema of these types documents the protocol. Every string that is not free text has a pattern, and every
number has a range. So the form of a decoded message needs no second check.
"""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .limits import MAX_STRING_BYTES, MAX_TOKEN_CHARS, NAME_FORM, NAME_PATTERN, NONCE_PATTERN

Name = Annotated[str, Meta(pattern=NAME_PATTERN, description=NAME_FORM)]
# # Milliseconds are floats: some languages have only one type of numbers, and may send 6000 for 6000.0 or the reverse.
MatchId = Annotated[str, Meta(min_length=1, max_length=80, description="letters, digits, dots, dashes")]
Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="32 bytes in hex")]
NonceHex = Annotated[str, Meta(pattern=NONCE_PATTERN, description="16 bytes in hex")]
Token = Annotated[str, Meta(max_length=MAX_TOKEN_CHARS)]
Text = Annotated[str, Meta(max_length=MAX_STRING_BYTES)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seat = Annotated[int, Meta(ge=0, le=11)]
Millis = Annotated[float, Meta(ge=0)]
MAX_LIMIT_MS = 86_400_000
"""A day: the longest limit of any kind in a match."""
Limit = Annotated[float, Meta(gt=0, le=MAX_LIMIT_MS)]
Span = Annotated[float, Meta(ge=0, le=MAX_LIMIT_MS)]


# Unknown keys are refused and keys are required unless they have a default: a misspelt key is reported at once;
# otherwise it would look like a missing value.
class Message(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of all messages; `type` on the wire is the message's own name."""


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """Player introduces itself in its first message."""

    version: Count
    name: Name
    token: Token | None = None


class Ready(Message, frozen=True, kw_only=True, tag="ready"):
    """Player accepts an offer and commits to its nonce, which it opens when all players have committed."""

    match: MatchId
    commitment: Hex32


class Nonce(Message, frozen=True, kw_only=True, tag="nonce"):
    """Player opens its commitment: sends its nonce, which enters the shuffle."""

    match: MatchId
    nonce: NonceHex


class Move(Message, frozen=True, kw_only=True, tag="move"):
    """Player answers a turn; each game has its own form of `move`."""

    match: MatchId
    turn: Count
    move: Any


class Ack(Message, frozen=True, kw_only=True, tag="ack"):
    """Player confirms a message that carried a number in `ack`."""

    match: MatchId
    ack: Count


class Welcome(Message, frozen=True, kw_only=True, tag="welcome"):
    """Referee accepts a hello."""

    version: Count
    referee: Text


class Refused(Message, frozen=True, kw_only=True, tag="refused"):
    """Referee refuses a hello and closes the connection."""

    code: Text
    reason: Text


class TimeControl(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a player may take, in milliseconds."""

    per_move_ms: Limit
    """Limit for each answer to `turn` and `reveal`, and for each `ack`."""
    start_ms: Limit
    """Limit for the answer to `offer`."""
    bank_ms: Limit | None
    """Time for all moves of a seat together, in addition to the limit for each move; None: no such limit."""
    increment_ms: Span
    """Time added to the bank for each move that came in time."""


class Terms(Message, frozen=True, kw_only=True):
    """Terms of a seat in a match: the part that `offer` and `resumed` share."""

    match: MatchId
    game: Text
    options: dict[str, Any]
    seat: Seat
    names: list[Name]
    time: TimeControl
    teams: list[list[Seat]]
    lot: bool
    acknowledge: bool
    commitment: Hex32
    nonces: bool
    resume: Token


class Offer(Terms, frozen=True, kw_only=True, tag="offer"):
    """Referee offers a seat in a match, with its commitment to the shuffle."""


class Resumed(Terms, frozen=True, kw_only=True, tag="resumed"):
    """Referee takes a player back into a match after its connection broke, and shows the present view."""

    turn: Count
    view: Any


class Reveal(Message, frozen=True, kw_only=True, tag="reveal"):
    """Referee asks a player to open its commitment; by now, no commitment can be changed."""

    match: MatchId
    commitments: list[Hex32 | None]


class Start(Message, frozen=True, kw_only=True, tag="start"):
    """Referee shows the first view."""

    match: MatchId
    view: Any
    ack: Count | None = None


class Turn(Message, frozen=True, kw_only=True, tag="turn"):
    """Referee asks for a move; as in other messages, `head` is the hash of the record's latest line."""

    match: MatchId
    turn: Count
    view: Any
    left_ms: Millis
    bank_ms: Millis | None
    head: Hex32


class Told(Message, frozen=True, kw_only=True, tag="told"):
    """Referee reports a move or an expulsion; `draws` holds the pieces that this seat drew, None if it draws none."""

    match: MatchId
    turn: Count
    what: dict[str, Any]
    draws: list[Any] | None = None
    ack: Count | None = None


class Paused(Message, frozen=True, kw_only=True, tag="paused"):
    """Referee pauses the match and closes; the player can come back later with its resume token."""

    match: MatchId
    reason: Text
    head: Hex32


class Expelled(Message, frozen=True, kw_only=True, tag="expelled"):
    """Referee ends this seat's part in the match, with the reason and the evidence, and closes."""

    match: MatchId
    foul: Text
    rule: Text | None
    code: Text | None
    detail: Text
    evidence: Text
    head: Hex32


class End(Message, frozen=True, kw_only=True, tag="end"):
    """Referee announces the result and reveals the seed, unless another match with the same deal follows."""

    match: MatchId
    winners: list[Seat]
    ranking: list[list[Seat]]
    scores: list[int]
    void: Text | None
    seed: Hex32 | None
    nonces: list[NonceHex | None]
    head: Hex32
    ack: Count | None = None


def type_of(message: Message | type[Message]) -> str:
    """Return the value of `type` in a message, or in all messages of a class.

    >>> type_of(Hello), type_of(Ack(match="q-1", ack=3))
    ('hello', 'ack')
    """
    tag: str = message.__struct_config__.tag  # type: ignore[assignment]  # every kind has a tag, which is a string
    return tag


# There are two tables, so that a message of the other role is refused as an unknown type, before its keys are checked.
FROM_PLAYER: dict[str, type[Message]] = {type_of(kind): kind for kind in (Hello, Ready, Nonce, Move, Ack)}
FROM_REFEREE: dict[str, type[Message]] = {
    type_of(kind): kind for kind in (Welcome, Refused, Offer, Resumed, Reveal, Start, Turn, Told, Paused, Expelled, End)
}

encode: Callable[[Message], bytes] = msgspec.msgpack.Encoder().encode
"""Encodes a message as the body of a frame, which is one msgpack map."""
