"""Checks that the header of a match's record does not contradict itself, nor what its programs' starts say.

Refuses to look at anything but the record: whether a tournament opened the match, tournament.py finds out.
"""

import re

from ...match import events as e
from ...text import show_json
from ...tournament.match_context import MatchContext, name_match
from ...tournament.spec import REMOTE
from ..reader import Record, RecordError

_HASH = re.compile("[0-9a-f]{64}")


def check_header(record: Record, *, is_fixed: bool) -> None:
    """Check what the header says of seats, seed, nonces and the tournament, and the starts of programs against it.

    Args:
        record: whole, or redacted with stand-ins for what is hidden.
        is_fixed: whether its header has a seed, hidden or not.

    Raises:
        RecordError: the first line that contradicts the header, or the header itself.
    """
    header, setup = record.header, record.header.setup
    seats = len(setup.names)
    shares_deal = not setup.nonces and not is_fixed
    if header.programs is not None and len(header.programs) != seats:
        raise _wrong(record, f"programs of {seats} seats", show_json(header.programs, 140))
    if is_fixed and setup.nonces:
        raise _wrong(record, "no nonces, for the seed was fixed beforehand", "nonces true")
    if shares_deal != (setup.seed_opens != "at-end"):
        expected = (
            "a seed that opens after its last leg"
            if shares_deal
            else "seed_opens at-end, for no other match has its deal"
        )
        raise _wrong(record, expected, f"seed_opens {setup.seed_opens}, nonces {show_json(setup.nonces)}")
    if shares_deal and header.context is None:
        raise _wrong(record, "a tournament, for this is a leg of a duplicate deal", "none")
    if header.context is not None:
        _check_context(record, header.context)
    for number, step in enumerate(record.steps, 1):
        if isinstance(step.event, e.Began):
            _check_starts(record, number, step.event.starts)


def _check_context(record: Record, context: MatchContext) -> None:
    """Check what a record says of the tournament that opened its match."""
    setup, fixture = record.header.setup, context.fixture
    name = name_match(context.tournament, fixture.number, fixture.leg, fixture.attempt)
    if not setup.match == fixture.match == name:
        raise _wrong(record, f"the match {name}, as its fixture makes it", f"{setup.match}, opened as {fixture.match}")
    if len(fixture.entrants) != len(setup.names) or len({*fixture.entrants}) != len(fixture.entrants):
        raise _wrong(record, f"{len(setup.names)} entrants, one for each seat", show_json(fixture.entrants))
    if fixture.leg >= len(setup.names) or (fixture.leg and setup.nonces):
        raise _wrong(record, "a leg of a duplicate deal, one for each seat at most", f"leg {fixture.leg}")
    if setup.lot or min(fixture.entrants) < 0 or not _HASH.fullmatch(context.head):
        found = f"lot {show_json(setup.lot)}, entrants {show_json(fixture.entrants)}, head {context.head}"
        raise _wrong(record, "a match that a line of a tournament's record opened, its seats not drawn", found)


def _check_starts(record: Record, number: int, starts: tuple[int, ...]) -> None:
    """Check that only matches of a tournament tell of starts, one for each seat, and none of a remote player."""
    header, seats = record.header, len(record.header.setup.names)
    if not starts:
        return
    if header.context is None:
        raise RecordError(record.path, number, "no starts, for programs stay in tournaments alone", show_json(starts))
    remote = [seat for seat, given in enumerate(header.programs or ()) if given == REMOTE]
    if len(starts) != seats or min(starts) < 0 or any(starts[seat] for seat in remote):
        expected = "a start for each seat, from 1, and 0 where there is no program"
        raise RecordError(record.path, number, expected, show_json(starts))


def _wrong(record: Record, expected: str, found: str) -> RecordError:
    return RecordError(record.path, 0, expected, found)
