"""What can happen to a match. Past tense, frozen, plain enough for a line of a record.

Instants are milliseconds since the match was opened, rounded to a microsecond, on the referee's monotonic clock. An
answer carries three instants: when its request was sent, when its first byte was read, and when it was complete
(`at_ms`). `lag_ms` is how long the referee itself was not listening in between; the player is never charged for it.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct


class ImpossibleEvent(Exception):
    """An event that cannot happen now. The referee has a fault or the record is forged; no player is to blame."""


class Event(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event"):
    """Base of all events."""

    at_ms: float


class Began(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the events with which a referee begins a match or goes on with it.

    An audit compares the matches of one process by that process's clock.
    """

    process: str = ""
    """Name of the process whose clock this is."""
    clock_ms: float = 0.0
    """Reading of the clock at the match's instant 0; add it to an instant of the match to get one of the clock."""
    starts: tuple[int, ...] = ()
    """Number of the program's start in that process for each seat, from 1; 0 if no program plays. Empty unless programs
    stay for several matches."""


class MatchOpened(Began, frozen=True, kw_only=True, tag="match-opened"):
    """The match was opened: every seat is taken, or will surely stay vacant."""


class SeatEvent(Event, frozen=True, kw_only=True):
    """Base of what one seat did."""

    seat: int


class Answer(SeatEvent, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the answers to a request."""

    sent_ms: float
    first_byte_ms: float
    lag_ms: float
    stalled_ms: float = 0.0
    """Longest standstill of the referee's loop since the request was sent, for any reason."""
    frame: str = ""
    """All bytes of the answer in hex, as evidence; empty unless the answer leads to an expulsion."""


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
    """The limit of the seat's open request has passed, and its socket held no complete answer."""

    sent_ms: float
    lag_ms: float
    pending: str
    """Bytes of an incomplete answer that had arrived, in hex."""
    stalled_ms: float = 0.0
    """Longest standstill of the referee's loop while the request was open; see Answer.stalled_ms."""
    stormed_ms: float = 0.0
    """Longest standstill that does not excuse the seat, because its address flooded the lobby; 0 if there was none."""
    processor_ms: float = 0.0
    """Processor time of its program since the program was started; 0 if it is not known."""
    ending: "Ending | None" = None
    """Whether its program was computing or waiting; None if that is not known."""


def used_ms(event: Answer | DeadlinePassed) -> float:
    """Return the milliseconds charged to the player, without the referee's lag. The limit applies to this figure."""
    return event.at_ms - event.sent_ms - event.lag_ms


class Ending(StrEnum):
    """Why a seat could not play. The advice to its author depends on it."""

    STRANGER = "stranger"
    """Its player said hello without the token of the seat."""
    SILENT = "silent"
    """Its player said hello, and gave no complete answer to the offer."""
    ENDED = "ended"
    """Its program ended with exit status 0."""
    FAILED = "failed"
    """Its program failed, and printed a reason."""
    SPEECHLESS = "speechless"
    """Its program failed, and had printed nothing."""
    OUT_OF_MEMORY = "out-of-memory"
    """Its program ran out of memory."""
    COMPUTING = "computing"
    """Its program was still computing when the limit had passed."""
    WAITING = "waiting"
    """Its program was waiting when the limit had passed: for a message, a lock, a clock, or another process."""


class Stage(StrEnum):
    """How far a player came that was never seated."""

    NEW = "new"
    """It had not said hello."""
    GREETED = "greeted"
    """It had said hello, and had not been offered the match yet."""


class ProtocolBroken(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="protocol-broken"):
    """The seat sent bytes that the protocol does not allow."""

    code: str
    detail: str
    evidence: str
    """All offending bytes in hex: the frame with its prefix if the prefix is wrong, else the body only."""
    stage: Stage | None = None
    """How far the player came if it was never seated; None if it had its seat."""


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
    """Length of its absence in milliseconds."""
    lag_ms: float = 0.0
    """Time in which the referee was not listening while the open request waited; see Answer.lag_ms."""
    stalled_ms: float = 0.0
    """Longest standstill of the referee's loop while the open request waited; see Answer.stalled_ms."""
    stormed_ms: float = 0.0
    """Longest standstill that does not excuse the seat; see DeadlinePassed.stormed_ms."""


class SeatVacant(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="seat-vacant"):
    """Nobody took the seat within the start-up limit."""

    detail: str
    evidence: str = ""
    """Bytes that arrived in place of a hello, in hex."""
    ending: Ending | None = None
    """Reason, as far as its program or its hello shows one; None if nothing arrived."""


class MatchResumed(Began, frozen=True, kw_only=True, tag="match-resumed"):
    """The referee crashed and was started again.

    `at_ms` is that of the last event, so nobody is charged for the gap.
    """


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
"""Union of all events; the lines of a record are decoded as one of these."""
