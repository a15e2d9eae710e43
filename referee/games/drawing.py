"""Common parts of the drawings of games: the document, its symbols, growing tables, and a card for each seat."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from .base import Outcome

Cell = tuple[int, int]
"""(row, column)."""
Box = tuple[int, int, int, int]
"""(x, y, width, height), in units of a drawing."""
Cards = Callable[[int], tuple[list[str], int, float]]
"""Function that returns the seats' cards, their height after scaling, and the scale, given the width of the table."""

LIGHT, DARK = "#ffffff", "#10141c"
SIDE = 40
"""Width and height of a cell of a table."""
_MARGIN = 30
"""Room for the row and column numbers on each side of a table."""


# The page of a replay holds a drawing for every turn. To keep it small, a tile is drawn once, as a symbol, and then
# referred to.


class Symbols:
    """Makes symbols, which a document defines once and shows many times.

    Args:
        game: prefix of the symbols' names, because a page may have drawings of several games.
    """

    def __init__(self, game: str) -> None:
        self._game = game

    def define(self, name: str, content: str, title: str = "", attributes: str = "") -> str:
        """Return the definition of a symbol."""
        titled = f"<title>{title}</title>{content}" if title else content
        return f'<symbol id="{self._game}-{name}"{attributes} overflow="visible">{titled}</symbol>'

    def use(self, name: str, x: float, y: float, attributes: str = "") -> str:
        """Return the element that shows a symbol."""
        return f'<use href="#{self._game}-{name}" x="{x}" y="{y}"{attributes}/>'


def document(label: str, box: Box, definitions: Iterable[str], content: Iterable[str], scale: float = 1) -> str:
    """Return an SVG document.

    Args:
        label: description of the drawing.
        box: position and size of the drawing.
        definitions: definitions of symbols.
        content: elements above the background, the lowest first.
        scale: number of pixels for a unit, if the page does not set another size.
    """
    left, top, width, height = box
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {width} {height}" width="{int(width * scale)}" '
        f'height="{int(height * scale)}" role="img" aria-label="{label}" color="#1b2430" '
        'font-family="system-ui,-apple-system,Segoe UI,Roboto,DejaVu Sans,sans-serif">'
    )
    ground = f'<rect class="ground" x="{left}" y="{top}" width="{width}" height="{height}" fill="#f4f1ea"/>'
    return "\n".join((root, "<defs>", *definitions, "</defs>", ground, *content, "</svg>"))


def square_name(row: int, column: int) -> str:
    """Return the name of the place that stands for a square."""
    return f"row {row}, column {column}"


def place(name: str, box: tuple[float, float, float, float]) -> str:
    """Return an invisible element that covers a place, so that a person can touch it."""
    x, y, width, height = box
    return (
        f'<rect class="place" data-place="{name}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" '
        'fill="none" pointer-events="all"/>'
    )


def square(half: float, corner: float, paint: str) -> str:
    """Return a square with round corners around the middle of a cell of a table."""
    return f'<rect x="{20 - half}" y="{20 - half}" width="{2 * half}" height="{2 * half}" rx="{corner}" {paint}/>'


FRESH = square(20.5, 5, 'fill="none" stroke="currentColor" stroke-width="3"') + square(
    18.5, 4, f'fill="none" stroke="{DARK}" stroke-width="2"'
)
"""Mark on a tile: a dark ring on its edge, and a ring of ink around it. One of them is visible on any background."""


def table(
    label: str,
    definitions: Iterable[str],
    tiles: Mapping[Cell, str],
    fresh: Iterable[Cell],
    use: Callable[[str, int, int], str],
    least: Cell,
    cards: Cards,
    *,
    has_places: bool,
) -> str:
    """Return a document with a table that grows: its tiles, the numbers of rows and columns, and the cards below.

    Args:
        label: description of the drawing.
        definitions: definitions of symbols.
        tiles: cell -> name of the symbol on it.
        fresh: cells that are marked.
        use: function that returns the element that shows a symbol at (x, y).
        least: least number of rows and columns to show, so that the scale of a small table does not change at once.
        cards: function that makes the seats' cards.
        has_places: True if free cells can be touched.
    """
    # There is a free row and column on each side, where the next tile may be laid.
    rows, columns = extents(tiles, 1, least)
    left, top = columns[0] * SIDE - _MARGIN, rows[0] * SIDE - _MARGIN
    width, height = len(columns) * SIDE + 2 * _MARGIN, len(rows) * SIDE + 2 * _MARGIN
    below, cards_height, scale = cards(width)
    content = [
        *_edges(rows, columns),
        *(use(name, column * SIDE, row * SIDE) for (row, column), name in tiles.items()),
        *(use("fresh", column * SIDE, row * SIDE) for row, column in fresh),
        *(_free_places(rows, columns, tiles) if has_places else ()),
        f'<g transform="translate({left} {top + height}){"" if scale == 1 else f" scale({scale:.4f})"}">',
        *below,
        "</g>",
    ]
    return document(label, (left, top, width, height + cards_height), definitions, content, 1.5)


def _free_places(rows: range, columns: range, tiles: Collection[Cell]) -> Iterator[str]:
    """Yield the free cells as places."""
    for row in rows:
        for column in columns:
            if (row, column) not in tiles:
                yield place(square_name(row, column), (column * SIDE, row * SIDE, SIDE, SIDE))


def extents(cells: Collection[Cell], margin: int = 0, least: Cell = (1, 1)) -> list[range]:
    """Return the rows and columns to show: those in use, a margin of free ones, and more up to the least numbers."""
    ranges = []
    for used, fewest in zip(zip(*cells, strict=True) if cells else ((0,), (0,)), least, strict=True):
        first, last = min(used) - margin, max(used) + margin
        first -= max(fewest - (last - first + 1), 0) // 2
        ranges.append(range(first, max(last + 1, first + fewest)))
    return ranges


def _edges(rows: range, columns: range) -> list[str]:
    """Return the grid and the numbers on all four sides."""
    left, right = columns[0] * SIDE, (columns[-1] + 1) * SIDE
    top, bottom = rows[0] * SIDE, (rows[-1] + 1) * SIDE
    grid = "".join(f"M{column * SIDE} {top}V{bottom}" for column in (*columns, columns[-1] + 1))
    grid += "".join(f"M{left} {row * SIDE}H{right}" for row in (*rows, rows[-1] + 1))
    lines = [f'<path d="{grid}" fill="none" stroke="currentColor" stroke-opacity=".13"/>']
    lines.append('<g font-size="14" fill="currentColor" fill-opacity=".7" text-anchor="middle">')
    for column in columns:
        middle = column * SIDE + SIDE // 2
        lines += (f'<text x="{middle}" y="{y}">{column}</text>' for y in (top - 10, bottom + 20))
    for row in rows:
        middle = row * SIDE + SIDE // 2 + 5
        lines += (f'<text x="{x}" y="{middle}">{row}</text>' for x in (left - 15, right + 15))
    return [*lines, "</g>"]


def hand_group(seat: int, eyes: Collection[int] | None, content: Iterable[str]) -> list[str]:
    """Return the group of elements that only one seat may see; empty if this seat does not look at the drawing.

    Args:
        seat: the seat.
        eyes: seats that look at the drawing; None for all.
        content: elements of the seat's hand.
    """
    # All secrets of a seat are in one group. So a test can check that drawings for spectators have no such group.
    return [] if eyes is not None and seat not in eyes else [f'<g data-hand="{seat}">', *content, "</g>"]


def standing(order: Sequence[int], seat: int, outcome: Outcome | None) -> str:
    """Return the status of a seat in words: `out`, `to move`, `won`, or an empty text.

    Args:
        order: seats that are still in the game, beginning with the seat to move.
        seat: the seat.
        outcome: the outcome; None if the game is not over.
    """
    if seat not in order:
        return "out"
    if outcome is None:
        return "to move" if order[0] == seat else ""
    return "won" if seat in outcome.ranking[0] else ""


def card(seat: int, box: Box, status: str, name: tuple[int, int], content: Iterable[str]) -> list[str]:
    """Return the card of a seat. It has a bold frame if the seat is to move or has won, and is faint if it is out.

    Args:
        seat: the seat.
        box: position and size of the card.
        status: status of the seat, from `standing`.
        name: (x, y) of the seat's name within the card. A sign is drawn before it if the seat is to move.
        content: further elements of the card.
    """
    (x, y, width, height), (left, base) = box, name
    frame = 'stroke-width="3"' if status in ("to move", "won") else 'stroke-opacity=".2"'
    sign = f'<path d="M{left} {base - 14}l13 8l-13 8Z"><title>to move</title></path>'
    is_next = status == "to move"
    shown = f'x="{left + 18 * is_next}" y="{base}" font-size="16" font-weight="600">seat {seat}'
    return [
        f'<g transform="translate({x} {y})" fill="currentColor" opacity="{".5" if status == "out" else "1"}">',
        f'<rect width="{width}" height="{height}" rx="9" fill-opacity=".05" stroke="currentColor" {frame}/>',
        *([sign] if is_next else ()),
        f'<text data-seat="{seat}" {shown}</text>',
        *content,
        "</g>",
    ]
