"""What tests of the ledger have in common: entries by hand, and a program that writes until it is killed."""

from multiprocessing.connection import Connection
from typing import Any

from msgspec.structs import replace

from referee.ledger.ledger import Ledger
from referee.tournament.match_context import FoulEntry, MatchContext, MatchEntry

from ..tournament.courses import spec_of

SPEC = spec_of(4)
SALT = "0f" * 16
AT = "2026-01-01T00:00:00.000+00:00"


def entry_of(number: int, **changes: Any) -> MatchEntry:
    """Return what came of a match of e0 and e1, in which the second fouled."""
    context = MatchContext(
        tournament="cup",
        opening=number - 1,
        number=number,
        round=1,
        table="final",
        leg=0,
        attempt=0,
        entrants=(0, 1),
        taken=() if number == 1 else (f"cup-{number - 1:05}",),
    )
    foul = FoulEntry(seat=1, cause="illegal-move", turn=5, rule="q.fit.row", detail="it does not fit")
    entry = MatchEntry(
        match=f"cup-{number:05}",
        context=context,
        names=("e0", "e1"),
        void=None,
        ranking=((0,), (1,)),
        scores=(12, -3),
        fouls=(foul,),
        reason="q.end",
        turns=17,
        used_ms=(12.5, 0.25),
        head=f"{number:064x}",
    )
    return replace(entry, **changes)


def in_tournament(entry: MatchEntry, name: str) -> MatchEntry:
    """Return an entry of another tournament."""
    match = entry.match.replace("cup", name)
    taken = tuple(item.replace("cup", name) for item in entry.context.taken)
    return replace(entry, match=match, context=replace(entry.context, tournament=name, taken=taken))


def founded(url: str) -> Ledger:
    """Return a ledger that has the tournament `cup`."""
    ledger = Ledger(url)
    ledger.found(SPEC, SALT)
    return ledger


def write_until_killed(url: str, first: int, told: Connection) -> None:
    """Take results one after the other, and tell the number of each once it is taken."""
    ledger = Ledger(url)
    number = first
    while True:
        ledger.opened(f"cup-{number:05}", entry_of(number).context, AT)
        ledger.take(entry_of(number), AT)
        told.send(number)
        number += 1
