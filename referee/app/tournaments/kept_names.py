"""Keeps the names of entrants that the file of a tournament does not name, once the tournament has begun.

Such a name is made from a folder's name, and depends on the other entrants where two would be alike. The tournament's
record says who has which one: without that, one more folder would give new names to those who play already.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ...tournament.spec import Participant
from ...web.submissions.store import author_of
from ..players import distinct


def keep_names(
    entrants: Sequence[Participant], made_from: Sequence[str | None], field: Sequence[Participant]
) -> tuple[Participant, ...]:
    """Return entrants with the names that they have in a tournament that has begun; new ones get other names.

    Args:
        entrants: of the tournament's file.
        made_from: what the name of each was made from; None: the file gives it.
        field: entrants of the tournament, by its record.
    """
    given = {entrant.name for entrant, source in zip(entrants, made_from, strict=True) if source is None}
    known = defaultdict[str, deque[str]](deque)
    for entrant in field:
        if entrant.name not in given:
            known[_program(entrant)].append(entrant.name)
    names, fixed = [], []
    for place, (entrant, source) in enumerate(zip(entrants, made_from, strict=True)):
        kept = known[_program(entrant)].popleft() if source is not None and known[_program(entrant)] else None
        names.append(kept or source or entrant.name)
        if kept or source is None:
            fixed.append(place)
    gone = sorted({entrant.name for entrant in field} - {names[place] for place in fixed})
    found = distinct([*names, *gone], [*fixed, *range(len(names), len(names) + len(gone))])
    return tuple(replace(entrant, name=name) for entrant, name in zip(entrants, found, strict=False))


def _program(entrant: Participant) -> str:
    """Return what stays the same of an entrant's program when it is handed in again."""
    return str(author_of(Path(entrant.player)) or entrant.player)
