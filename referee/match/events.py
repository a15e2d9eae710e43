"""What can happen to a match. Past tense, frozen, plain enough for a line of a record.

Instants are milliseconds since the match was opened, rounded to a microsecond, on the referee's monotonic clock.
An answer carries three: when its request was sent, when its first byte was read, when it was complete (`at_ms`); and
`lag_ms`, how long the referee itself was not listening in between, which is never charged to the player.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct


class ImpossibleEvent(Exception):
    """An event that cannot happen now: a fault of the referee or a forged record, never of a player."""


class Event(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event"):
    """Base of all events."""

    at_ms: float


class Began(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the events with which a referee begins; matches of one process are compared by its clock."""

    process: str = ""
    """Names the clock."""
    clock_ms: float = 0.0
    """What it showed at the instant 0 of the match: an instant of the match, and this, is one of the clock."""
    starts: tuple[int, ...] = ()
    """By seat, which start of a program in that process plays, from 1; 0: none does. Empty unless programs stay."""


class MatchOpened(Began, frozen=True, kw_only=True, tag="match-opened"):
    """All seats are there, as far as they will be."""


class SeatEvent(Event, frozen=True, kw_only=True):
    """Base of what one seat did."""

    seat: int


class Answer(SeatEvent, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the answers to a request."""

    sent_ms: float
    first_byte_ms: float
    lag_ms: float
    stalled_ms: float = 0.0
    """The longest standstill of the referee's loop since the request was sent, whoever was at work then."""
    frame: str = ""
    """The answer's bytes in hex, all of them: evidence, kept only if the answer leads to an expulsion."""


class ReadyReceived(Answer, frozen=True, kw_only=True, tag="ready-received"):
    """The seat accepted the offer, and committed to its nonce."""

    commitment: str


class NonceReceived(Answer, frozen=True, kw_only=True, tag="nonce-received"):
    """The seat opened its commitment."""

    nonce: str


class MoveReceived(Answer, frozen=True, kw_only=True, tag="move-received"):
    """The seat answered a turn."""

    turn: int
    move: Any


class AckReceived(Answer, frozen=True, kw_only=True, tag="ack-received"):
    """The seat confirmed."""

    ack: int


class DeadlinePassed(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="deadline-passed"):
    """The limit of the seat's open request is over, and its socket held no complete answer."""

    sent_ms: float
    lag_ms: float
    pending: str
    """What it had sent of an answer, in hex."""
    stalled_ms: float = 0.0
    """As of an answer."""
    stormed_ms: float = 0.0
    """The longest standstill that is no excuse for the seat, for its address stormed the lobby; 0: every one is."""


def used_ms(event: Answer | DeadlinePassed) -> float:
    """Return the time that a request took its player, the referee's lag taken off: what its limit is compared with."""
    return event.at_ms - event.sent_ms - event.lag_ms


class Ending(StrEnum):
    """Why a seat could not play: what to do about it turns on this."""

    STRANGER = "stranger"
    """Its player said hello without the token of the seat."""
    SILENT = "silent"
    """Its player said hello, and gave no complete answer to the offer."""
    ENDED = "ended"
    """Its program ended with exit status 0."""
    FAILED = "failed"
    """Its program ended otherwise, and said why."""
    SPEECHLESS = "speechless"
    """Its program ended otherwise, and had printed nothing."""
    OUT_OF_MEMORY = "out-of-memory"
    """Its program ended for want of memory."""


class Stage(StrEnum):
    """How far a player had come that was never seated."""

    NEW = "new"
    """It had not said hello."""
    GREETED = "greeted"
    """It had, and had been offered nothing."""


class ProtocolBroken(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="protocol-broken"):
    """The seat sent what the wire does not allow."""

    code: str
    detail: str
    evidence: str
    """What it sent, in hex, all of it: a frame from its prefix on if that is what is wrong, else its body."""
    stage: Stage | None = None
    """How far it had come; None: it was in its seat."""


class ConnectionLost(SeatEvent, frozen=True, kw_only=True, tag="connection-lost"):
    """The seat's connection ended."""

    detail: str


class ProgramExited(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="program-exited"):
    """The seat's launched program ended."""

    status: str
    """`exit status N` or `signal NAME`, and the last of what it printed, if it printed anything."""
    ending: Ending = Ending.FAILED


class SeatReturned(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="seat-returned"):
    """The seat's player came back with its resume token after its connection had been lost; its clock went on."""

    gone_ms: float
    """How long it was away."""
    lag_ms: float = 0.0
    """Of its open request, as of an answer."""
    stalled_ms: float = 0.0
    """Of its open request, as of an answer."""
    stormed_ms: float = 0.0
    """Of its open request, as of a deadline that has passed."""


class SeatVacant(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="seat-vacant"):
    """Nobody took the seat within the start-up limit."""

    detail: str
    evidence: str = ""
    """What came in place of a hello, in hex."""
    ending: Ending | None = None
    """What its program or a hello tells; None: nothing came of it."""


class MatchResumed(Began, frozen=True, kw_only=True, tag="match-resumed"):
    """The referee died and was started again; `at_ms` is that of the last event: the time in between is nobody's."""


class RefereeFailed(Event, frozen=True, kw_only=True, tag="referee-failed"):
    """The referee itself is at fault; the match is void."""

    detail: str


AnyEvent = (
    MatchOpened
    | ReadyReceived
    | NonceReceived
    | MoveReceived
    | AckReceived
    | DeadlinePassed
    | ProtocolBroken
    | ConnectionLost
    | ProgramExited
    | SeatReturned
    | SeatVacant
    | MatchResumed
    | RefereeFailed
)
"""Every event there is; a record's lines are decoded as one of these."""
