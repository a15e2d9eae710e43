"""Makes the events of players that are not there: nobody took the seat, or its program ended."""

from ...launch import Program
from ...match import events as e
from ..links.lobby import Absence
from ..links.reserved_seats import STRANGER
from .programs import ending_of


def absence(seat: int, at_ms: float, why: Absence, program: Program | None, *, is_new: bool) -> e.Event:
    """Return the event of a seat that nobody took.

    Args:
        seat: which one.
        at_ms: now, in the match's instants.
        why: nobody sits there.
        program: that was launched for it; None: none was.
        is_new: whether the match begins; else it is gone on with.
    """
    if why.code is not None:
        return e.ProtocolBroken(
            seat=seat, at_ms=at_ms, code=why.code, detail=why.detail, evidence=why.evidence, stage=why.stage
        )
    if program is not None and program.status is not None:
        is_stranger = why.ending is e.Ending.STRANGER
        status = f"{program.status}; its hello had been refused: {STRANGER}" if is_stranger else program.status
        ending = e.Ending.STRANGER if is_stranger else ending_of(program)
        return e.ProgramExited(seat=seat, at_ms=at_ms, status=status, ending=ending)
    if is_new:
        return e.SeatVacant(seat=seat, at_ms=at_ms, detail=why.detail, evidence=why.evidence, ending=why.ending)
    return e.ConnectionLost(seat=seat, at_ms=at_ms, detail=why.detail)


def left_before(name: str, at_ms: float) -> e.RefereeFailed:
    """Return the event of a program that was offered a match and had ended after the one before: nobody's foul.

    Args:
        name: the player's.
        at_ms: now, in the match's instants.
    """
    return e.RefereeFailed(at_ms=at_ms, detail=f"the program of {name} had ended between its match before and this one")


def exited(seat: int, at_ms: float, program: Program) -> e.ProgramExited:
    """Return the event of a program that has ended.

    Args:
        seat: its own.
        at_ms: now, in the match's instants.
        program: the program.
    """
    return e.ProgramExited(seat=seat, at_ms=at_ms, status=str(program.status), ending=ending_of(program))
