"""Fouls: why a player was expelled. The list of causes is closed, and each foul carries its evidence.

Whether an answer is late is decided in timekeeper.py.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from protocol.limits import MAX_EVIDENCE_BYTES

from . import events as e


class Cause(StrEnum):
    """The causes of an expulsion."""

    TIMEOUT = "timeout"
    """The player sent no complete answer within the limit."""
    ILLEGAL_MOVE = "illegal-move"
    """The move breaks a rule of the game; `rule` is its id."""
    MALFORMED_MESSAGE = "malformed-message"
    """The player sent bytes that are no message, or a move in a wrong form; `code` says what is wrong."""
    OUT_OF_TURN = "out-of-turn"
    """The player sent a well-formed message that the referee had not asked for."""
    FLOOD = "flood"
    """The player announced a frame that was not asked for, and that is longer than such frames may be."""
    OVERSIZE = "oversize"
    """The player announced a frame longer than any frame may be."""
    NOT_READING = "not-reading"
    """The player does not read what the referee sends."""
    DISCONNECTED = "disconnected"
    """The connection was closed or broke."""
    CRASHED = "crashed"
    """The program that the referee had started ended; `detail` holds its exit status or signal."""
    REFUSED_TO_START = "refused-to-start"
    """The player did not connect, or did not answer the offer with `ready`, within the start-up limit."""


BY_CODE = {str(cause): cause for cause in (Cause.OVERSIZE, Cause.OUT_OF_TURN, Cause.FLOOD, Cause.NOT_READING)}
"""Error codes of the wire that have a cause of their own. Every other code means MALFORMED_MESSAGE."""


SHOWN_HEX = 2 * MAX_EVIDENCE_BYTES
"""Number of hex digits to which a foul shortens its evidence; the event holds all of it."""
MAX_DETAIL = 400
"""Number of characters to which a foul shortens its detail; the event holds all of it."""


class Foul(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One player's foul."""

    seat: int
    cause: Cause
    at_ms: float
    turn: int
    """Number of the turn in which it happened; 0 before the first."""
    rule: str | None = None
    """Id of the broken rule of the game; None if the game is not concerned."""
    code: str | None = None
    """Error code of the wire; None if the wire is not concerned."""
    detail: str = ""
    evidence: str = ""
    """The first offending bytes, in hex; the record holds all of them."""
    ending: e.Ending | None = None
    """Reason for a `crashed`, `refused-to-start` or `timeout`, if it is known."""


def describe_processor_time(processor_ms: float = 0.0, ending: e.Ending | None = None) -> str:
    """Describe what a late program was doing, for the end of a foul's detail; empty if that is not known.

    Args:
        processor_ms: processor time of the program since its start, in milliseconds.
        ending: COMPUTING or WAITING. Any other value gives an empty description.
    """
    doing = {e.Ending.COMPUTING: "it was still computing", e.Ending.WAITING: "it was waiting"}
    if ending not in doing:
        return ""
    seconds = processor_ms / 1000
    return f"; {seconds:.{1 if seconds >= 1 else 2}f} s of processor time: {doing[ending]}"


Fault = e.ProtocolBroken | e.ProgramExited | e.ConnectionLost | e.SeatVacant
"""Events that are a foul at any time, whether or not the seat was asked for anything."""


def identify_foul(event: Fault) -> tuple[Cause, dict[str, Any]]:
    """Return the cause of the foul that an event stands for, and the foul's other fields."""
    match event:
        case e.ProtocolBroken():
            breach = {"code": event.code, "detail": event.detail, "evidence": event.evidence}
            return BY_CODE.get(event.code, Cause.MALFORMED_MESSAGE), breach
        case e.ProgramExited():
            return Cause.CRASHED, {"detail": event.status, "ending": event.ending}
        case e.ConnectionLost():
            return Cause.DISCONNECTED, {"detail": event.detail}
        case e.SeatVacant():
            absence = {"detail": event.detail, "evidence": event.evidence, "ending": event.ending}
            return Cause.REFUSED_TO_START, absence
