"""One typed, frozen struct per message of the wire.

    >>> from protocol.decoding import decode
    >>> body = encode(Hello(version=1, name="ada"))
    >>> decode(body, FROM_PLAYER)
    Hello(version=1, name='ada', token=None)

The JSON Schema of these types is the wire's documentation. Every string that is not free text has a pattern and every
number a range. So a message that has passed here needs no second check of its form.
"""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .limits import MAX_STRING_BYTES, MAX_TOKEN_CHARS, NAME_FORM, NAME_PATTERN, NONCE_PATTERN

Name = Annotated[str, Meta(pattern=NAME_PATTERN, description=NAME_FORM)]
# Milliseconds are floats: 6000 and 6000.0 are the same limit in the languages that have one type of number only.
MatchId = Annotated[str, Meta(min_length=1, max_length=80, description="letters, digits, dots, dashes")]
Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="32 bytes in hex")]
NonceHex = Annotated[str, Meta(pattern=NONCE_PATTERN, description="16 bytes in hex")]
Token = Annotated[str, Meta(max_length=MAX_TOKEN_CHARS)]
Text = Annotated[str, Meta(max_length=MAX_STRING_BYTES)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seat = Annotated[int, Meta(ge=0, le=11)]
Millis = Annotated[float, Meta(ge=0)]
MAX_LIMIT_MS = 86_400_000
"""A day: the longest that anything of a match may take."""
Limit = Annotated[float, Meta(gt=0, le=MAX_LIMIT_MS)]
Span = Annotated[float, Meta(ge=0, le=MAX_LIMIT_MS)]


# Unknown keys are refused and keys are required unless they have a default: a typing error in a key is reported at
# once, instead of being taken for a value that was left out.
class Message(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """Base of all messages; `type` on the wire is the message's own name."""


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """Player introduces itself, in its first message."""

    version: Count
    name: Name
    token: Token | None = None


class Ready(Message, frozen=True, kw_only=True, tag="ready"):
    """Player accepts an offer and commits to its own chance, which it opens when all have committed."""

    match: MatchId
    commitment: Hex32


class Nonce(Message, frozen=True, kw_only=True, tag="nonce"):
    """Player opens its commitment: its own chance, which enters the shuffle."""

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
    """Referee turns a hello down and closes."""

    code: Text
    reason: Text


class TimeControl(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a player may take, in milliseconds."""

    per_move_ms: Limit
    """Limit for each answer to `turn` and `reveal`, and for each `ack`."""
    start_ms: Limit
    """Limit for the answer to `offer`."""
    bank_ms: Limit | None
    """Time for all moves of a seat together, in addition to the limit for each; None: no such limit."""
    increment_ms: Span
    """Added to the bank for each move that was in time."""


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
    """Referee takes a player back into a match that broke off, with the view as it is now."""

    turn: Count
    view: Any


class Reveal(Message, frozen=True, kw_only=True, tag="reveal"):
    """Referee asks a player to open its commitment, now that none can be changed any more."""

    match: MatchId
    commitments: list[Hex32 | None]


class Start(Message, frozen=True, kw_only=True, tag="start"):
    """Referee shows the first view."""

    match: MatchId
    view: Any
    ack: Count | None = None


class Turn(Message, frozen=True, kw_only=True, tag="turn"):
    """Referee asks for a move; `head` ties it to the match's record as it then is, in whatever message it stands."""

    match: MatchId
    turn: Count
    view: Any
    left_ms: Millis
    bank_ms: Millis | None
    head: Hex32


class Told(Message, frozen=True, kw_only=True, tag="told"):
    """Referee reports a move or an expulsion; `draws` is what this seat itself was handed, None if nothing was due."""

    match: MatchId
    turn: Count
    what: dict[str, Any]
    draws: list[Any] | None = None
    ack: Count | None = None


class Paused(Message, frozen=True, kw_only=True, tag="paused"):
    """Referee stops for now and closes; the match goes on later from its record, with the seat's resume token."""

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
    """Referee announces the result and reveals the seed, unless it is kept for another match with the same deal."""

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
    """Return the name that a message, or a class of messages, has in `type` on the wire.

    >>> type_of(Hello), type_of(Ack(match="q-1", ack=3))
    ('hello', 'ack')
    """
    tag: str = message.__struct_config__.tag  # type: ignore[assignment]  # every kind has one, a string
    return tag


# Two tables rather than one: a message of the other role is refused as an unknown type, before its keys are looked at.
FROM_PLAYER: dict[str, type[Message]] = {type_of(kind): kind for kind in (Hello, Ready, Nonce, Move, Ack)}
FROM_REFEREE: dict[str, type[Message]] = {
    type_of(kind): kind for kind in (Welcome, Refused, Offer, Resumed, Reveal, Start, Turn, Told, Paused, Expelled, End)
}

encode: Callable[[Message], bytes] = msgspec.msgpack.Encoder().encode
"""Turns a message into the one msgpack map of a frame's body."""
