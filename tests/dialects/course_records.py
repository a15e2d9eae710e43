"""Records of matches in the course's protocol, made by hand."""

from pathlib import Path
from typing import Any

from protocol.deal import nonce_commitment
from referee.dialects.cs4500.conversation import NO_NONCE
from referee.match import events as e

from ..match.folding import B, G, acked, lost, new_match, opened, ready, revealed
from ..record.records import Story

NOBODYS = [nonce_commitment("m", seat, NO_NONCE) for seat in (0, 1)]
ACCEPTED = (opened(), *(ready(seat, 1.0, commitment=NOBODYS[seat]) for seat in (0, 1)))
STARTED = (*ACCEPTED, *(revealed(seat, 2.0, nonce=NO_NONCE) for seat in (0, 1)), acked(0, 1, 3.0), acked(1, 2, 4.0))
COURSE: dict[str, Any] = {"dialect": "cs4500"}


def told(folder: Path, *events: e.Event, **setup: Any) -> Path:
    """Write the record of a match with this event, after which all remaining seats leave."""
    match = new_match([G, B], [G], **{"acknowledge": True, "nonces": True, **setup})
    steps = [(event, match.handle(event)) for event in events]
    for seat in (0, 1):
        if match.result is None and not match.is_out(seat):
            last = lost(seat, events[-1].at_ms)
            steps.append((last, match.handle(last)))
    return Story(match, tuple(steps), is_fixed=False, header=COURSE).write(folder / "m.jsonl")
