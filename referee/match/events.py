"""The events of a match: everything that can happen to it. Each event is one line of the record.

Instants are milliseconds since the match was opened, rounded to a microsecond, on the referee's monotonic clock. An
answer carries three instants: when its request was sent, when its first byte was read, and when it was complete
(`at_ms`). `lag_ms` is the part of this time in which the referee was not listening. The player is never charged for it.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct


class ImpossibleEvent(Exception):
    """An event cannot happen now. Either the referee has a bug or the record is forged; no player is to blame."""


class Event(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event"):
    """Base of all events."""

    at_ms: float


class Began(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the events with which a referee process begins a match or resumes it.

    With these fields, an audit can compare the times of different matches that ran in one process.
    """

    process: str = ""
    """Name of the referee process that runs the match from here on."""
    clock_ms: float = 0.0
    """Reading of the process's clock at the match's instant 0. Instant of the match + clock_ms = reading of the clock.
    """
    starts: tuple[int, ...] = ()
    """For each seat, how many times the process has started its program so far; 0 if the seat has no program.

    Empty unless programs stay for several matches.
    """


class MatchOpened(Began, frozen=True, kw_only=True, tag="match-opened"):
    """The match was opened: every seat is taken, or it is certain that nobody will take it."""


class SeatEvent(Event, frozen=True, kw_only=True):
    """Base of the events that concern one seat."""

    seat: int


class Answer(SeatEvent, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the answers to a request."""

    sent_ms: float
    first_byte_ms: float
    lag_ms: float
    stalled_ms: float = 0.0
    """Longest standstill of the referee's event loop since the request was sent, for any reason."""
    frame: str = ""
    """All bytes of the answer in hex, as evidence; empty unless the answer leads to an expulsion."""


class ReadyReceived(Answer, frozen=True, kw_only=True, tag="ready-received"):
    """The seat accepted the offer and committed to a nonce."""

    commitment: str


class NonceReceived(Answer, frozen=True, kw_only=True, tag="nonce-received"):
    """The seat revealed a nonce, which must be the one that it committed to."""

    nonce: str


class MoveReceived(Answer, frozen=True, kw_only=True, tag="move-received"):
    """The seat sent its move of a turn."""

    turn: int
    move: Any


class AckReceived(Answer, frozen=True, kw_only=True, tag="ack-received"):
    """The seat confirmed a message that carried this ack number."""

    ack: int


class DeadlinePassed(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="deadline-passed"):
    """The limit of the seat's open request passed, and its socket held no complete answer."""

    sent_ms: float
    lag_ms: float
    pending: str
    """Bytes of an incomplete answer that had arrived, in hex."""
    stalled_ms: float = 0.0
    """Longest standstill of the referee's event loop while the request was open; see Answer.stalled_ms."""
    stormed_ms: float = 0.0
    """Longest standstill that is no excuse, because the seat's own address flooded the lobby; 0 if there was none."""
    processor_ms: float = 0.0
    """Processor time of the seat's program since its start; 0 if it is not known."""
    ending: "Ending | None" = None
    """COMPUTING or WAITING, for what the seat's program was doing; None if that is not known."""


def used_ms(event: Answer | DeadlinePassed) -> float:
    """Return the milliseconds charged to the player, without the referee's lag. The limit applies to this figure."""
    return event.at_ms - event.sent_ms - event.lag_ms


class Ending(StrEnum):
    """The reason why a seat could not play. The advice to its author depends on it."""

    STRANGER = "stranger"
    """The player sent a `hello` without the token of the seat."""
    SILENT = "silent"
    """The player sent a `hello`, but no complete answer to the offer."""
    ENDED = "ended"
    """The program ended with exit status 0."""
    FAILED = "failed"
    """The program failed, and printed a reason."""
    SPEECHLESS = "speechless"
    """The program failed without printing anything."""
    OUT_OF_MEMORY = "out-of-memory"
    """The program ran out of memory."""
    COMPUTING = "computing"
    """The program was still computing when the limit passed."""
    WAITING = "waiting"
    """The program was waiting when the limit passed: for a message, a lock, a clock, or another process."""


class Stage(StrEnum):
    """How far the conversation had come with a player that never got a seat."""

    NEW = "new"
    """The player had not sent its `hello`."""
    GREETED = "greeted"
    """The player had sent its `hello`, but the referee had not offered it the match yet."""


class ProtocolBroken(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="protocol-broken"):
    """The seat sent bytes that the protocol does not allow."""

    code: str
    detail: str
    evidence: str
    """All offending bytes in hex: the frame with its prefix if the prefix is wrong, otherwise the body only."""
    stage: Stage | None = None
    """How far the player came if it never got its seat; None if it had its seat."""


class ConnectionLost(SeatEvent, frozen=True, kw_only=True, tag="connection-lost"):
    """The seat's connection ended."""

    detail: str


class ProgramExited(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="program-exited"):
    """The program that the referee had started for the seat ended."""

    status: str
    """`exit status N` or `signal NAME`, then the end of the program's output, if there was any."""
    ending: Ending = Ending.FAILED


class SeatReturned(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="seat-returned"):
    """The seat's player lost its connection and came back with its resume token. Its clock ran on while it was away."""

    gone_ms: float
    """Length of the absence in milliseconds."""
    lag_ms: float = 0.0
    """Time in which the referee was not listening while a request to the seat was open."""
    stalled_ms: float = 0.0
    """Longest standstill of the referee's event loop while a request to the seat was open; see Answer.stalled_ms."""
    stormed_ms: float = 0.0
    """Longest standstill that is no excuse; see DeadlinePassed.stormed_ms."""


class SeatVacant(SeatEvent, frozen=True, kw_only=True, omit_defaults=True, tag="seat-vacant"):
    """Nobody took the seat within the start-up limit."""

    detail: str
    evidence: str = ""
    """Bytes that arrived in place of a `hello`, in hex."""
    ending: Ending | None = None
    """Reason, if the exit of the seat's program or a `hello` shows one; None otherwise."""


class MatchResumed(Began, frozen=True, kw_only=True, tag="match-resumed"):
    """The referee crashed and was started again.

    `at_ms` is the instant of the event before it, so no player is charged for the gap.
    """


class RefereeFailed(Event, frozen=True, kw_only=True, tag="referee-failed"):
    """The referee itself failed. The match is void."""

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
"""Union of all events. Each line of a record that holds an event is decoded as one of these."""
