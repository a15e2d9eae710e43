"""Who is where in a tournament."""

from collections.abc import Iterator

from msgspec.structs import replace

from .machine import Tournament
from .standings import Standing, standings


def placed(tournament: Tournament, *, has_tie_breaks: bool = True) -> tuple[Standing, ...]:
    """Put the entrants of a tournament in order: as its format decides, or else by points and tie-breaks.

    Args:
        tournament: after any results.
        has_tie_breaks: whether they are asked; in a large field that takes a tenth of a second.

    Returns:
        Everybody, from first to last; whom the format leaves equal, in the order of points.

    Raises:
        UnknownTieBreak: the spec names one that there is not.
    """
    lines = standings(tournament.table, tournament.spec.tie_breaks if has_tie_breaks else ())
    groups = tournament.places()
    return lines if groups is None else tuple(_regrouped(lines, groups))


def _regrouped(lines: tuple[Standing, ...], groups: tuple[tuple[int, ...], ...]) -> Iterator[Standing]:
    """Yield the lines group by group; whom the format has forgotten, last."""
    known = {entrant for group in groups for entrant in group}
    forgotten = tuple(line.entrant for line in lines if line.entrant not in known)
    by_entrant = {line.entrant: (rank, line) for rank, line in enumerate(lines)}
    place = 1
    for group in (*groups, forgotten):
        for _, line in sorted((by_entrant[entrant] for entrant in group), key=lambda row: row[0]):
            yield replace(line, place=place)
        place += len(group)
