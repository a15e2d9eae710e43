"""Tells of a step of a match, and notes what is out of the ordinary in it: the record has all the rest."""

from collections.abc import Iterator
from typing import Any

from ..match import commands as c
from ..match import events as e
from .base import MatchStep, Observer
from .isolated import Observers


def tell_step(observers: Observers, step: MatchStep) -> None:
    """Tell observers of a step, and of what is unusual in it.

    Args:
        observers: are told.
        step: that was taken.
    """
    observers.tell(Observer.match_stepped, step)
    note_unusual(observers, step)


def note_unusual(observers: Observers, step: MatchStep) -> None:
    """Tell observers of what is unusual in a step, as Observer.note has it.

    Args:
        observers: are told.
        step: that was taken.
    """
    for event, facts in _unusual(step):
        observers.note(event, match=step.setup.match, **facts)


def _unusual(step: MatchStep) -> Iterator[tuple[str, dict[str, Any]]]:
    event = step.event
    if isinstance(event, e.MatchOpened | e.MatchResumed | e.SeatReturned | e.RefereeFailed):
        yield str(type(event).__struct_config__.tag), {"names": list(step.setup.names)}
    for command in step.commands:
        if isinstance(command, c.ExpelSeat):
            foul = command.foul
            yield "seat-expelled", {"seat": foul.seat, "cause": str(foul.cause), "detail": foul.detail}
        elif isinstance(command, c.ExtendLimit):
            yield "verdict-voided", {"seat": command.seat, "stalled_ms": getattr(event, "stalled_ms", 0.0)}
        elif isinstance(command, c.CloseMatch):
            yield "match-ended", {"reason": command.result.reason, "void": command.result.void}
