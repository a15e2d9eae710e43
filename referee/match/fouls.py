"""Fouls: why a player was expelled. The causes are a closed list, and each foul has its evidence.

When an answer is late is decided in timekeeper.py.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from protocol.limits import MAX_EVIDENCE_BYTES

from . import events as e


class Cause(StrEnum):
    """The causes of an expulsion."""

    TIMEOUT = "timeout"
    """No complete answer within the limit."""
    ILLEGAL_MOVE = "illegal-move"
    """The move breaks a rule of the game; `rule` is its id."""
    MALFORMED_MESSAGE = "malformed-message"
    """Bytes that are no message, or a move that does not have the form of one; `code` says how."""
    OUT_OF_TURN = "out-of-turn"
    """A well-formed message that was not asked for."""
    FLOOD = "flood"
    """An unrequested frame that announces more bytes than an unrequested frame may have."""
    OVERSIZE = "oversize"
    """A frame longer than the limit."""
    NOT_READING = "not-reading"
    """The player does not read what it is sent."""
    DISCONNECTED = "disconnected"
    """The connection was closed or broke."""
    CRASHED = "crashed"
    """The launched program ended; `detail` holds its exit status or signal."""
    REFUSED_TO_START = "refused-to-start"
    """The seat never said `ready`: not connected, or silent, within the start-up limit."""


BY_CODE = {str(cause): cause for cause in (Cause.OVERSIZE, Cause.OUT_OF_TURN, Cause.FLOOD, Cause.NOT_READING)}
"""Codes of the wire with a cause of their own; every other code is a malformed message."""


SHOWN_HEX = 2 * MAX_EVIDENCE_BYTES
"""Number of hex digits of the evidence that a foul shows; its event has all of them."""
MAX_DETAIL = 400
"""Longest detail of a foul; its event has all of it."""


class Foul(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One player's foul."""

    seat: int
    cause: Cause
    at_ms: float
    turn: int
    """Number of the turn in which it happened; 0 before the first."""
    rule: str | None = None
    """Id of the broken rule of the game."""
    code: str | None = None
    """Code of the broken rule of the wire."""
    detail: str = ""
    evidence: str = ""
    """The first of the offending bytes, in hex; the record has all of them."""
    ending: e.Ending | None = None
    """Reason of `crashed`, `refused-to-start` or `timeout`, if it is known."""


def describe_processor_time(processor_ms: float = 0.0, ending: e.Ending | None = None) -> str:
    """Return what a program that is late was doing, to be added to a detail; empty if that is not known.

    Args:
        processor_ms: processor time of the program since it was started, in milliseconds.
        ending: COMPUTING or WAITING; any other says nothing.
    """
    doing = {e.Ending.COMPUTING: "it was still computing", e.Ending.WAITING: "it was waiting"}
    if ending not in doing:
        return ""
    seconds = processor_ms / 1000
    return f"; {seconds:.{1 if seconds >= 1 else 2}f} s of processor time: {doing[ending]}"


Fault = e.ProtocolBroken | e.ProgramExited | e.ConnectionLost | e.SeatVacant
"""Events that are a foul at any time, whatever the seat was asked."""


def identify_foul(event: Fault) -> tuple[Cause, dict[str, Any]]:
    """Return the cause of the foul that an event is, and the facts that its evidence shows."""
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
