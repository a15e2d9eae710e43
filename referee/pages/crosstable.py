"""The crosstable: the points of each entrant against each other. With many entrants it has a page of its own."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..tournament.crosstable import HeadToHead
from ..tournament.history import RuledLine
from ..tournament.standings import Standing
from .links import PageLinks
from .match_list import pair_address
from .rendering import page
from .summary import Summary
from .words import number

PAGE = "crosstable.html"
"""Name of the page, next to the report."""
MOST_INSIDE = 40
"""Largest number of entrants with which the crosstable is part of the report."""


class Cell(NamedTuple):
    """A cell of the table."""

    span: int = 1
    """Number of columns that the cell covers: neighbouring empty cells are merged."""
    look: str = ""
    """CSS class."""
    address: str = ""
    """Address of the matches of the two; empty if they have not met."""
    points: float = 0.0
    text: str = ""
    title: str = ""
    """The content of the cell in words."""
    rulings: Sequence[RuledLine] = ()


class Row(NamedTuple):
    """A line of the table."""

    standing: Standing
    cells: Sequence[Cell]


def has_page(summary: Summary) -> bool:
    """Return whether the crosstable has a page of its own."""
    return len(summary.names) > MOST_INSIDE and summary.tournament.played > 0


def crosstable_page(summary: Summary, links: PageLinks) -> str:
    """Return the page of the crosstable.

    Args:
        summary: the tournament so far.
        links: addresses relative to the report.
    """
    return page(
        "crosstable",
        {},
        looks="report",
        scripts=("sorting",),
        site=links.site,
        title=summary.spec.name,
        links=links,
        summary=summary,
        rows=list(crosstable_rows(summary, links)),
    )


def crosstable_rows(summary: Summary, links: PageLinks) -> Iterator[Row]:
    """Yield the lines of the crosstable, in the order of the standings.

    Args:
        summary: the tournament so far.
        links: addresses relative to the page.
    """
    is_large = has_page(summary)
    for line in summary.standings:
        met, cells, empty = summary.tournament.table.opponents(line.entrant), list[Cell](), 0
        for opponent in summary.order:
            rulings = summary.rulings.of_pair(line.entrant, opponent)
            if is_large and opponent not in met and not rulings and opponent != line.entrant:
                empty += 1
                continue
            if empty:
                cells.append(Cell(empty))
                empty = 0
            cells.append(_cell(summary, links, line.entrant, opponent, met.get(opponent), rulings, is_large=is_large))
        yield Row(line, [*cells, Cell(empty)] if empty else cells)


def _cell(
    summary: Summary,
    links: PageLinks,
    entrant: int,
    opponent: int,
    met: HeadToHead | None,
    rulings: Sequence[RuledLine],
    *,
    is_large: bool,
) -> Cell:
    if met is None or not met.played:
        return Cell(look="self" if entrant == opponent else "", points=-1.0, rulings=rulings)
    name, other, points = summary.names[entrant], summary.names[opponent], float(met.points)
    words = f"{name} against {other}: {met.wins} won, {met.draws} drawn, {met.losses} lost"
    return Cell(
        look="won" if 2 * points > met.played else "drawn" if 2 * points == met.played else "lost",
        address="" if links.entrants is None else pair_address(links.beside, name, other),
        points=points,
        text=number(points) + (f" of {met.played}" if met.played > 1 else ""),
        title="" if is_large else words,
        rulings=rulings,
    )
