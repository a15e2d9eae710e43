"""The Q game as text for a terminal, in the markup of rich, and as SVG.

In both, a tile has a letter for its colour beside its shape and its colour, so that it can be read without colours.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import cos, pi, sin
from typing import Any, Protocol

from ...text import counted
from ..base import Outcome
from ..grid_drawing import edges, standing
from .tiles import COLORS, NAMES, SHAPES, Board, Cell, Tile

_SHAPE_SIGNS = ("★", "✶", "■", "●", "♣", "◆")
_COLOR_SIGNS = ("r", "g", "b", "y", "o", "p")
_GROUNDS = ("red", "green4", "blue", "gold3", "dark_orange3", "purple4")
_INKS = ("white", "white", "white", "black", "black", "white")
assert len(_GROUNDS) == len(COLORS)


def draw_tile(tile: Tile) -> str:
    """Return one tile, two characters wide."""
    shape, color = divmod(tile, 6)
    return f"[{_INKS[color]} on {_GROUNDS[color]}]{_SHAPE_SIGNS[shape]}{_COLOR_SIGNS[color]}[/]"


def draw_hand(hand: Iterable[Tile]) -> str:
    """Return a hand in tile order."""
    return " ".join(draw_tile(tile) for tile in sorted(hand)) or "-"


class DrawnQ(Protocol):
    """What of a state is drawn."""

    @property
    def board(self) -> Board:
        """The map, in the order in which its tiles were laid."""

    @property
    def pile(self) -> Sequence[Tile]:
        """What is left to hand out."""

    @property
    def hands(self) -> Sequence[Sequence[Tile]]:
        """By seat."""

    @property
    def scores(self) -> Sequence[int]:
        """By seat."""

    @property
    def order(self) -> Sequence[int]:
        """The seats still in the game, the one to move first."""

    @property
    def last(self) -> Mapping[str, Any] | None:
        """The last play; its `tiles` are `(row, column, tile)`."""


_ENDS = {
    "q.end.finished": "a whole hand was placed",
    "q.end.idle-round": "nobody placed a tile in a round",
    "q.end.deserted": "nobody is left",
}
"""By rule: how the game ended."""


def _status(state: DrawnQ, outcome: Outcome | None) -> str:
    """Return what there is to say about the whole game, in a line."""
    left = f"{counted(len(state.pile), 'tile')} left to hand out"
    return left if outcome is None else f"{left} · the game is over: {_ENDS[outcome.reason]}"


def draw_text(state: DrawnQ, outcome: Outcome | None) -> str:
    """Return the map with its row and column numbers, then a line per seat.

    Args:
        state: what to draw.
        outcome: how the game ended, if it has.
    """
    board = state.board
    rows = [row for row, _ in board]
    columns = [column for _, column in board]
    width = range(min(columns), max(columns) + 1)
    lines = ["[dim]    " + "".join(f"{column:>3}" for column in width) + "[/]"]
    for row in range(min(rows), max(rows) + 1):
        cells = (f" {draw_tile(board[row, column])}" if (row, column) in board else "  ·" for column in width)
        lines.append(f"[dim]{row:>4}[/]" + "".join(cells))
    lines.append("")
    for seat, hand in enumerate(state.hands):
        said = standing(state.order, seat, outcome)
        how = f": {_ENDS[outcome.reason]}" if outcome is not None and said == "won" else ""
        lines.append(f"seat {seat} {state.scores[seat]:>4} points  {draw_hand(hand)}  [dim]{said}{how}[/]")
    return "\n".join(lines)


# --- SVG. Lengths are in units of the drawing; a square of the map is 40 of them wide.

_SIDE = 40
_MARGIN = 30
"""Room for the row and column numbers on each side."""
_CARD = (270, 101)
"""(width, height) of one seat's hand, at least."""
_HAND_WIDTH = 6
"""Tiles in a row of a hand; only given positions have longer hands."""
_LEAST = (13, 7)
"""Columns and rows that are always shown: small maps then do not change their scale with every tile."""
_TONES = ("#b80f1f", "#14a86b", "#2b74d8", "#ffe733", "#f28c0f", "#58238a")
"""Six steps of lightness, so that no two look alike to the colour-blind; tests/games/q/test_drawing.py measures it."""
_LIGHT, _DARK = "#ffffff", "#10141c"
_LETTERS = (_LIGHT, _DARK, _LIGHT, _DARK, _DARK, _LIGHT)
"""The letter on each tone: light on dark ones, dark on light ones."""


def draw_svg(state: DrawnQ, outcome: Outcome | None) -> str:
    """Return the map with its row and column numbers, and every seat's hand beneath it, as one SVG document.

    Args:
        state: what to draw.
        outcome: how the game ended, if it has.
    """
    rows = _extent([row for row, _ in state.board], _LEAST[1])
    columns = _extent([column for _, column in state.board], _LEAST[0])
    left, top = columns[0] * _SIDE - _MARGIN, rows[0] * _SIDE - _MARGIN
    width, map_height = len(columns) * _SIDE + 2 * _MARGIN, len(rows) * _SIDE + 2 * _MARGIN
    cards, cards_height = _cards(state, width, outcome)
    height = map_height + cards_height
    fresh = [(row, column) for row, column, _ in (state.last or {}).get("tiles", ())]
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {width} {height}" width="{width * 3 // 2}" '
        f'height="{height * 3 // 2}" role="img" aria-label="The Q game: the map and the hands" color="#1b2430" '
        'font-family="system-ui,-apple-system,Segoe UI,Roboto,DejaVu Sans,sans-serif">'
    )
    lines = [
        root,
        *_DEFINITIONS,
        f'<rect class="ground" x="{left}" y="{top}" width="{width}" height="{height}" fill="#f4f1ea"/>',
        *edges(rows, columns, _SIDE),
        *(_use(NAMES[tile], column * _SIDE, row * _SIDE) for (row, column), tile in state.board.items()),
        *(_use("fresh", column * _SIDE, row * _SIDE) for row, column in fresh),
        f'<g transform="translate({left} {top + map_height})">',
        *cards,
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines)


def _extent(used: Sequence[int], least: int) -> range:
    """Return the rows or columns to show: those in use with a free one around, and no fewer than the least number."""
    first, last = min(used) - 1, max(used) + 1
    first -= max(least - (last - first + 1), 0) // 2
    return range(first, max(last + 1, first + least))


def _use(name: str, x: int, y: int) -> str:
    return f'<use href="#q-{name}" x="{x}" y="{y}"/>'


def _cards(state: DrawnQ, width: int, outcome: Outcome | None) -> tuple[list[str], int]:
    """Return the seats' cards, row by row within the width, and the height of all."""
    seats = len(state.hands)
    across = max(1, min(seats, (width - 20) // _CARD[0]))
    card_width = (width - 20) // across
    rows_of_hand = max(1, *(-(-len(hand) // _HAND_WIDTH) for hand in state.hands))
    card_height = _CARD[1] + (rows_of_hand - 1) * (_SIDE - 2)
    lines: list[str] = []
    for seat in range(seats):
        corner = 15 + seat % across * card_width, seat // across * card_height
        lines += _card(state, seat, corner, (card_width - 10, card_height - 10), outcome)
    height = -(-seats // across) * card_height
    lines.append(
        f'<text x="{width // 2}" y="{height + 10}" font-size="13" fill="currentColor" fill-opacity=".7" '
        f'text-anchor="middle">{_status(state, outcome)}</text>'
    )
    return lines, height + 24


def _card(state: DrawnQ, seat: int, corner: Cell, size: Cell, outcome: Outcome | None) -> list[str]:
    """Return one seat: its label, its points, its hand, and whether it is to move, out, or has won."""
    (x, y), (width, height) = corner, size
    said = standing(state.order, seat, outcome)
    is_out, is_next = said == "out", said == "to move"
    frame = 'stroke-width="2.5"' if said in ("to move", "won") else 'stroke-opacity=".2"'
    name_x = 32 if is_next else 14
    content = [
        f'<text data-seat="{seat}" x="{name_x}" y="25" font-size="16" font-weight="600">seat {seat}</text>',
        f'<text x="{width - 14}" y="26" font-size="20" font-weight="700" text-anchor="end">{state.scores[seat]}</text>',
    ]
    if is_next:
        content.append('<path d="M14 11L27 19L14 27Z"><title>to move</title></path>')
    if said == "won":
        content.append(f'<text x="{width - 14}" y="40" font-size="13" font-style="italic" text-anchor="end">won</text>')
    if is_out:
        content.append('<text x="14" y="60" font-size="15">out</text>')
    content += (
        _use(NAMES[tile], 8 + index % _HAND_WIDTH * 39, 44 + index // _HAND_WIDTH * 38)
        for index, tile in enumerate(sorted(state.hands[seat]))
    )
    return [
        f'<g transform="translate({x} {y})" fill="currentColor" opacity="{".5" if is_out else "1"}">',
        f'<rect width="{width}" height="{height}" rx="9" fill-opacity=".05" stroke="currentColor" {frame}/>',
        *content,
        "</g>",
    ]


def _star(points: int, outer: float, inner: float) -> str:
    """Return a star around the middle of a square."""
    corners = (
        (radius, pi * (2 * point + half) / points)
        for point in range(points)
        for half, radius in enumerate((outer, inner))
    )
    spots = (f"{20 + radius * sin(turn):.1f} {20 - radius * cos(turn):.1f}" for radius, turn in corners)
    return f'<path d="M{"L".join(spots)}Z"/>'


_OUTLINES = (
    _star(5, 18, 8.2),
    _star(8, 17, 11),
    '<rect x="7" y="7" width="26" height="26" rx="1.5"/>',
    '<circle cx="20" cy="20" r="14"/>',
    '<path d="M14 14a6.9 6.9 0 1 1 12 0a6.9 6.9 0 1 1 0 12a6.9 6.9 0 1 1-12 0a6.9 6.9 0 1 1 0-12Z"/>',
    '<path d="M20 3.5L32.5 20L20 36.5L7.5 20Z"/>',
)
"""By shape, in a square of 40 units."""


def _symbol(tile: Tile) -> str:
    """Return one kind of tile: its shape in its colour, and the colour's letter in the shape."""
    shape, color = divmod(tile, 6)
    return (
        f'<symbol id="q-{NAMES[tile]}" overflow="visible"><title>{COLORS[color]} {SHAPES[shape]}</title>'
        '<use href="#q-tile"/>'
        f'<use href="#q-{SHAPES[shape]}" fill="{_TONES[color]}" stroke="{_DARK}" stroke-linejoin="round"/>'
        f'<text x="20" y="25" font-size="14" font-weight="700" fill="{_LETTERS[color]}" text-anchor="middle">'
        f"{_COLOR_SIGNS[color].upper()}</text></symbol>"
    )


def _square(half: float, paint: str) -> str:
    """Return a square with round corners around the middle of a square of the map."""
    return f'<rect x="{20 - half}" y="{20 - half}" width="{2 * half}" height="{2 * half}" rx="6" {paint}/>'


_FRESH = _square(20.5, 'fill="none" stroke="currentColor" stroke-width="3"') + _square(
    18.5, f'fill="none" stroke="{_DARK}" stroke-width="2"'
)
"""A dark ring on the tile's edge and one of ink around it: one of the two shows on any background."""
_SHARED = {
    **dict(zip(SHAPES, _OUTLINES, strict=True)),
    "tile": _square(19, f'fill="#fffdf7" stroke="{_DARK}" stroke-opacity=".35"'),
    "fresh": _FRESH,
}
_DEFINITIONS = (
    "<defs>",
    *(f'<symbol id="q-{name}" overflow="visible">{content}</symbol>' for name, content in _SHARED.items()),
    *map(_symbol, range(len(NAMES))),
    "</defs>",
)
"""The same in every drawing, one definition a line."""
