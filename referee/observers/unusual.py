"""Tells of a step of a match, and notes what is out of the ordinary in it: the record has all the rest."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..match import commands as c
from ..match import events as e
from ..match.setup import MatchSetup
from .base import MatchStep, Observer
from .isolated import Observers

UNUSUAL_COMMANDS = (c.ExpelSeat, c.ExtendLimit, c.CloseMatch)


def tell_step(observers: Observers, step: MatchStep) -> None:
    """Tell observers of a step, and of what is unusual in it, if any of them hears that."""
    observers.tell(Observer.match_stepped, step)
    if observers.hear(Observer.note):
        note_unusual(observers, step)


def note_unusual(observers: Observers, step: MatchStep) -> None:
    """Tell observers of what is unusual in a step, as Observer.note has it."""
    for noted, facts in unusual(step.event, step.commands, step.setup):
        observers.note(noted, **facts)


def unusual(event: e.Event, commands: Sequence[c.Command], setup: MatchSetup) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is unusual in a step: its name, and facts.

    Args:
        event: what happened.
        commands: that followed, or at least those of UNUSUAL_COMMANDS.
        setup: of the match.
    """
    match = setup.match
    if isinstance(event, e.MatchOpened | e.MatchResumed | e.SeatReturned | e.RefereeFailed):
        yield str(type(event).__struct_config__.tag), {"match": match, "names": list(setup.names)}
    for command in commands:
        if isinstance(command, c.ExpelSeat):
            foul = command.foul
            facts = {"match": match, "seat": foul.seat, "cause": str(foul.cause), "detail": foul.detail}
            yield "seat-expelled", facts
        elif isinstance(command, c.ExtendLimit):
            stalled_ms = getattr(event, "stalled_ms", 0.0)
            yield "verdict-voided", {"match": match, "seat": command.seat, "stalled_ms": stalled_ms}
        elif isinstance(command, c.CloseMatch):
            result = command.result
            yield "match-ended", {"match": match, "reason": result.reason, "void": result.void}
