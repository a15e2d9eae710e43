"""Checks that a record that names a dialect tells of nothing that its players cannot say or do.

So a match of the referee's own wire can't be passed off as one of a dialect, to judge its bytes by other rules.
"""

from protocol.fairness import nonce_commitment

from ...match import events as e
from ...match.setup import MatchSetup
from ..reader import Record, RecordError
from ..schema import CommandForm, RecordedStep
from .wires import Wire

_IN_ITS_PLACE = ("offer-match", "ask-nonce")
"""What the referee answers itself, at once, for players that know no offers and nonces."""


def check_dialect(record: Record, wire: Wire) -> None:
    """Check what a dialect settles: the game, confirmations, nonces, and that nobody is waited for or comes back.

    Args:
        record: one whose header names the dialect.
        wire: the dialect's.

    Raises:
        RecordError: the first line that this dialect has not.
    """
    setup, dialect = record.header.setup, record.header.dialect
    is_fit = wire.game in (None, setup.game) and setup.acknowledge and record.header.context is None
    if not is_fit:
        found = f"{setup.game}, {'with' if setup.acknowledge else 'without'} confirmations"
        found += "" if record.header.context is None else ", in a tournament"
        raise RecordError(record.path, 0, f"a match that {dialect} can be spoken in", found)
    if wire.nonce is None:
        return
    asked = dict[int, str]()
    for number, step in enumerate(record.steps, 1):
        if not _can_happen(step, step.forms, asked, setup, wire.nonce):
            found = f"{type(step.event).__name__} at {step.event.at_ms} ms"
            raise RecordError(record.path, number, f"what can happen where {dialect} is spoken", found)


def _can_happen(
    step: RecordedStep, commands: list[CommandForm], asked: dict[int, str], setup: MatchSetup, nonce: str
) -> bool:
    """Judge one line, and take note of what each seat is asked then."""
    event, before = step.event, dict(asked)
    asked.update(
        {command.seat: command.command for command in commands if command.seat is not None and command.limit_ms}
    )
    fouls = [command.foul or {} for command in commands if command.command == "expel-seat"]
    match event:
        case e.ReadyReceived():
            return not fouls and event.commitment == nonce_commitment(setup.match, event.seat, nonce)
        case e.NonceReceived():
            return not fouls and event.nonce == nonce
        case e.Answer():
            return all(foul.get("code") != "out-of-turn" for foul in fouls)
        case e.DeadlinePassed():
            return before.get(event.seat) not in _IN_ITS_PLACE
        case e.MatchResumed() | e.SeatReturned():
            return False
    return True
