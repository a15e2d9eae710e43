"""Who is where in a tournament."""

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from .standings import Standing, standings
from .state import TournamentState


def placed(tournament: TournamentState, *, has_tie_breaks: bool = True) -> tuple[Standing, ...]:
    """Put the entrants of a tournament in order: as its format decides, or else by points and tie-breaks.

    Args:
        tournament: after any results.
        has_tie_breaks: whether they are asked; in a large field that takes a tenth of a second.

    Returns:
        Everybody, from first to last; whom the format leaves equal, in the order of points. Who was disqualified is
        last, whatever it has won.

    Raises:
        UnknownTieBreak: the spec names one that there is not.
    """
    lines = standings(tournament.table, tournament.spec.tie_breaks if has_tie_breaks else ())
    groups, out = tournament.places(), tournament.disqualified
    if groups is None:
        if not out:
            return lines
        shared = groupby(lines, key=lambda line: line.place)
        groups = tuple(tuple(line.entrant for line in equal) for _, equal in shared)
    kept = (tuple(entrant for entrant in group if entrant not in out) for group in groups)
    return tuple(_regrouped(lines, tuple(group for group in kept if group)))


def _regrouped(lines: tuple[Standing, ...], groups: tuple[tuple[int, ...], ...]) -> Iterator[Standing]:
    """Yield the lines group by group; who is in none of them, last."""
    known = {entrant for group in groups for entrant in group}
    forgotten = tuple(line.entrant for line in lines if line.entrant not in known)
    by_entrant = {line.entrant: (rank, line) for rank, line in enumerate(lines)}
    place = 1
    for group in (*groups, forgotten):
        for _, line in sorted((by_entrant[entrant] for entrant in group), key=lambda row: row[0]):
            yield replace(line, place=place)
        place += len(group)
