"""Takes up a tournament whose referee stopped or died: from its ledger and its records. Runs nothing.

The records are the truth: what the ledger lacks is found in them, and what was open is opened again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..tournament.machine import GivenUp, Tournament
from ..tournament.match_context import MatchContext, MatchEntry
from .audit.audit import FindGame
from .resume import Resumption, reopen
from .seal import Sealer
from .tournament_folder import look_through


@dataclass(frozen=True, slots=True)
class Recovery:
    """How far a tournament had come."""

    openings: int
    """How many matches were opened."""
    untold: tuple[str, ...]
    """The matches whose results were taken since the last opening, in their order."""
    leftover: tuple[MatchEntry, ...]
    """Results that are on record and not in the ledger, in the order in which they are to be taken."""
    open: dict[str, Resumption]
    """Match -> what is to be played on."""


def recover(
    tournament: Tournament, entries: Iterable[MatchEntry], folder: Path, find_game: FindGame, sealer: Sealer
) -> Recovery:
    """Bring a tournament to where it was left.

    Args:
        tournament: new; it takes the ledger's results.
        entries: the ledger's, in its order.
        folder: of the records.
        find_game: a game's name -> its rules.
        sealer: the key that sealed them.

    Raises:
        NotOpen: the ledger has results that are not this tournament's.
        RecordError: a record does not hold, or is another key's.
        OSError: the folder can't be read or written.
    """
    order: list[str] = []
    contexts: list[MatchContext] = []
    for entry in entries:
        order.append(entry.match)
        contexts.append(entry.context)
        try:
            tournament.take(entry)
        except GivenUp:
            continue  # it came too late when it was played, too
    found = look_through(folder, tournament.spec.name, frozenset(order))
    contexts += [entry.context for entry in found.over] + [context for _, context in found.open.values()]
    told = [match for context in sorted(contexts, key=lambda item: item.opening) for match in context.taken]
    place = {match: index for index, match in enumerate(told)}
    leftover = sorted(found.over, key=lambda entry: (place.get(entry.match, len(place)), _key(entry.context)))
    return Recovery(
        openings=1 + max((context.opening for context in contexts), default=-1),
        untold=tuple(match for match in order if match not in place),
        leftover=tuple(leftover),
        open={match: reopen(path, find_game, sealer) for match, (path, _) in found.open.items()},
    )


def _key(context: MatchContext) -> tuple[int, int, int]:
    return context.number, context.leg, context.attempt
