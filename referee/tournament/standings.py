"""The standings: the entrants in the order of points, then of tie-breaks; and the default tie-breaks."""

# Tie-breaks are computed only where they are needed, group by group. Points already separate most entrants, and a
# direct encounter makes sense only among those that are still tied. So a line has only the values that were needed.

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from ..errors import BadRequest
from .crosstable import Crosstable
from .tie_breaks import TIE_BREAKS, TieBreak, Values

DEFAULT = ("direct-encounter", "sonneborn-berger", "wins", "score-difference")
"""Tie-breaks for formats in which everybody meets everybody."""
DEFAULT_SWISS = ("buchholz-cut-1", "buchholz", "sonneborn-berger", "direct-encounter", "wins")
"""Tie-breaks for formats in which each entrant meets only some of the others."""


class UnknownTieBreak(BadRequest, ValueError):
    """There is no tie-break of this name; the text lists the names."""


class Standing(Struct, frozen=True, kw_only=True):
    """One line of the standings."""

    place: int
    """Place, from 1. Equal entrants share a place; after two first places comes place 3."""
    entrant: int
    points: float
    tie_breaks: dict[str, float]
    """Tie-break -> value, in the order of use."""
    played: int
    byes: int
    has_withdrawn: bool


def find_tie_break(name: str) -> TieBreak:
    """Return the tie-break of a name.

    Raises:
        UnknownTieBreak: no tie-break has that name.
    """
    if name not in TIE_BREAKS:
        raise UnknownTieBreak(f"no tie-break {name!r} (there are {', '.join(TIE_BREAKS)})")
    return TIE_BREAKS[name]


def standings(table: Crosstable, tie_breaks: Sequence[str] = DEFAULT) -> tuple[Standing, ...]:
    """Put the entrants of a table in order.

    Args:
        table: the results so far.
        tie_breaks: names from TIE_BREAKS. A later tie-break is used only for entrants that the earlier ones leave
            equal.

    Returns:
        All entrants, from first to last. Equal entrants are in the order of the field.

    Raises:
        UnknownTieBreak: no tie-break has that name.
    """
    for name in tie_breaks:
        find_tie_break(name)
    entrants = range(len(table.field.entrants))
    groups = list(_split(entrants, {entrant: table.sums(entrant).points for entrant in entrants}))
    values: dict[int, dict[str, float]] = {entrant: {} for entrant in entrants}
    for name in tie_breaks:
        groups = [part for group in groups for part in _break_ties(table, name, group, values)]
    return tuple(_lines(table, groups, values))


def _break_ties(
    table: Crosstable, name: str, group: Sequence[int], values: dict[int, dict[str, float]]
) -> Iterator[Sequence[int]]:
    """Yield the parts into which a tie-break divides equal entrants, and note its values."""
    values_of_group = TIE_BREAKS[name].measure(table, group)
    for entrant in group:
        values[entrant][name] = float(values_of_group[entrant])
    yield from _split(group, values_of_group)


def _split(group: Sequence[int], values: Values) -> Iterator[Sequence[int]]:
    """Yield groups of entrants with equal values, from the greatest value to the smallest."""
    ordered = sorted(group, key=lambda entrant: (-values[entrant], entrant))
    for _, equal in groupby(ordered, key=values.__getitem__):
        yield list(equal)


def _lines(
    table: Crosstable, groups: Sequence[Sequence[int]], values: dict[int, dict[str, float]]
) -> Iterator[Standing]:
    place = 1
    for group in groups:
        for entrant in group:
            sums = table.sums(entrant)
            yield Standing(
                place=place,
                entrant=entrant,
                points=float(sums.points),
                tie_breaks=values[entrant],
                played=sums.played,
                byes=sums.byes,
                has_withdrawn=sums.has_withdrawn,
            )
        place += len(group)


def place_groups(
    lines: tuple[Standing, ...], groups: Iterable[Iterable[int]] | None, out: Collection[int]
) -> tuple[Standing, ...]:
    """Put lines in the order in which a format places their entrants.

    Args:
        lines: standings in the order of points and tie-breaks.
        groups: groups of entrants from best to worst; None to keep the order of the lines.
        out: disqualified entrants. They come last, together with entrants that are in no group.
    """
    if groups is None:
        if not out:
            return lines
        groups = [[line.entrant for line in equal] for _, equal in groupby(lines, key=lambda line: line.place)]
    # A disqualified entrant may have won its bracket. It keeps its points, which its opponents' tie-breaks need, and
    # loses only its place.
    staying = [[entrant for entrant in group if entrant not in out] for group in groups]
    placed = {entrant for group in staying for entrant in group}
    rest = [line.entrant for line in lines if line.entrant not in placed]
    rank = {line.entrant: at for at, line in enumerate(lines)}
    placed_lines: list[Standing] = []
    for group in filter(None, (*staying, rest)):
        place = len(placed_lines) + 1
        placed_lines += (replace(lines[rank[entrant]], place=place) for entrant in sorted(group, key=rank.__getitem__))
    return tuple(placed_lines)
