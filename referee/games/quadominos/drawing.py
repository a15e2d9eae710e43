"""Quad-Ominos as text for a terminal, in the markup of rich, and as SVG.

In both, every number has its own tone besides its digit. In the SVG, each corner is a quarter of a disc: where tiles
meet, the quarters make one disc of one tone, so a corner that fits is seen before it is read.
"""

from collections.abc import Iterable, Sequence

from ...text import counted
from ..base import Outcome
from ..grid_drawing import edges, standing
from .rounds import PENALTY, State
from .tiles import FACES, TILES, Cell

_TONES = ("#fffaf0", "#ffd633", "#ee8a1d", "#12a388", "#2a5fd0", "#3b0f5c")
"""By number, light to dark, so that no two look alike to the colour-blind; the tests measure it."""
_LIGHT, _DARK = "#ffffff", "#10141c"
_INKS = (_DARK, _DARK, _DARK, _DARK, _LIGHT, _LIGHT)
"""The digit on each tone."""
_ASKED = {
    "open": "open with a quad",
    "lay": "lay a tile",
    "bonus": "take 25 points or lay two more tiles",
    "second": "lay the second additional tile",
    "extra": "lay an additional tile or be done",
}
"""By step: what the seat to move is to do."""
_ENDS = {
    "quadominos.end.target": "{target} points are reached",
    "quadominos.end.rounds": "this was the last round",
    "quadominos.end.cap": "there are no more rounds",
    "quadominos.end.last": "no opponent is left",
}
"""By rule: how the game ended."""
_TEXT_WIDTH = 80
"""Characters of a terminal."""


def draw_text(state: State, outcome: Outcome | None) -> str:
    """Return the table with its row and column numbers, two lines a row, then a line per seat.

    The tiles of the last turn have a `>` before them. A column is four characters wide as long as 80 have room for all,
    else three; then every second one is numbered, so that numbers do not touch.

    Args:
        state: what to draw.
        outcome: how the game ended, if it has.
    """
    rows, columns = _extents(state, 0, (1, 1))
    wide = 4 if 4 + 4 * len(columns) <= _TEXT_WIDTH else 3
    numbers = (f"{column if wide == 4 or column % 2 == 0 else '':>{wide}}" for column in columns)
    lines = ["[dim]    " + "".join(numbers) + "[/]"]
    for row in rows:
        for label, corners in ((row, (0, 1)), ("", (3, 2))):
            halves = (" " * (wide - 3) + _half(state, (row, column), corners) for column in columns)
            lines.append(f"[dim]{label:>4}[/]" + "".join(halves))
    lines += ("", _status(state, outcome))
    for seat, hand in enumerate(state.hands):
        said = f"[dim]{standing(state.order, seat, outcome):<7}[/]"
        shown = " ".join("".join(map(_digit, TILES[tile])) for tile in sorted(hand)) or "-"
        lines.append(f"seat {seat} {state.scores[seat]:>4} points  {said}  {shown}")
    return "\n".join(lines)


def _digit(number: str) -> str:
    return f"[{_INKS[int(number)]} on {_TONES[int(number)]}]{number}[/]"


def _half(state: State, cell: Cell, corners: tuple[int, int]) -> str:
    """Return the upper or the lower half of a place, three characters wide."""
    face = state.table.board.get(cell)
    if face is None:
        return "   "
    mark = ">" if cell in state.fresh and corners == (0, 1) else " "
    return mark + "".join(_digit(FACES[face][corner]) for corner in corners)


def _status(state: State, outcome: Outcome | None) -> str:
    """Return the round, the well, and what is to be done or how the game ended, in a line."""
    asked = f"to move: {_ASKED[state.step]}"
    if outcome is not None:
        asked = f"the game is over: {_ENDS[outcome.reason].format(target=state.options.target)}"
    return f"round {state.round} · {counted(len(state.well), 'tile')} in the well · {asked}"


def _extents(state: State, margin: int, least: tuple[int, int]) -> tuple[range, range]:
    """Return the rows and columns to show: those in use with free ones around, and no fewer than the least numbers."""
    cells = state.table.board or {(0, 0): 0}
    found = []
    for axis in (0, 1):
        first, last = min(cell[axis] for cell in cells) - margin, max(cell[axis] for cell in cells) + margin
        first -= max(least[axis] - (last - first + 1), 0) // 2
        found.append(range(first, max(last + 1, first + least[axis])))
    return found[0], found[1]


# --- SVG. Lengths are in units of the drawing; a place of the table is 40 of them wide.

_SIDE = 40
_MARGIN = 30
"""Room for the row and column numbers on each side."""
_LEAST = (7, 18)
"""Rows and columns that are always shown: small tables then do not change their scale with every tile."""
_CARDS_WIDTH = 780
"""Of all cards side by side; they are scaled with the drawing, so that hands stay legible beside a large table."""
_ACROSS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}
"""By number of seats: how many cards stand side by side; 4 of any other number."""
_HAND_SIDE = 32
"""Of a tile in a hand."""
_HAND_STEP = 34
"""From one tile of a hand to the next."""
_HEAD = 52
"""Height of a card above its hand."""


def draw_svg(state: State, outcome: Outcome | None) -> str:
    """Return the table with its row and column numbers, and every seat's hand beneath it, as one SVG document.

    Args:
        state: what to draw.
        outcome: how the game ended, if it has.
    """
    rows, columns = _extents(state, 1, _LEAST)
    left, top = columns[0] * _SIDE - _MARGIN, rows[0] * _SIDE - _MARGIN
    width, table_height = len(columns) * _SIDE + 2 * _MARGIN, len(rows) * _SIDE + 2 * _MARGIN
    cards, cards_height = _cards(state, outcome)
    scale = width / (_CARDS_WIDTH + 20)
    height = table_height + round(cards_height * scale)
    board = state.table.board
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {width} {height}" width="{width * 3 // 2}" '
        f'height="{height * 3 // 2}" role="img" aria-label="Quad-Ominos: the table and the hands" color="#1b2430" '
        'font-family="system-ui,-apple-system,Segoe UI,Roboto,DejaVu Sans,sans-serif">'
    )
    lines = [
        root,
        "<defs>",
        *_DEFINITIONS,
        *_symbols(state),
        "</defs>",
        f'<rect class="ground" x="{left}" y="{top}" width="{width}" height="{height}" fill="#f4f1ea"/>',
        *edges(rows, columns, _SIDE),
        *(_use(FACES[face], column * _SIDE, row * _SIDE) for (row, column), face in board.items()),
        *(_use("fresh", column * _SIDE, row * _SIDE) for row, column in state.fresh),
        f'<g transform="translate({left} {top + table_height}) scale({scale:.4f})">',
        *cards,
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines)


def _use(name: str, x: int, y: int, side: int = _SIDE) -> str:
    return f'<use href="#quadominos-{name}" x="{x}" y="{y}" width="{side}" height="{side}"/>'


def _symbols(state: State) -> Iterable[str]:
    """Return a definition for each tile that is shown, as it lies."""
    names = {FACES[face] for face in state.table.board.values()}
    names.update(TILES[tile] for hand in state.hands for tile in hand)
    for name in sorted(names):
        corners = "".join(
            f'<use href="#quadominos-{corner}{number}"/>' for corner, number in zip("abcd", name, strict=True)
        )
        yield (
            f'<symbol id="quadominos-{name}" viewBox="0 0 40 40" overflow="visible"><title>{name}</title>'
            f'<use href="#quadominos-tile"/>{corners}</symbol>'
        )


def _cards(state: State, outcome: Outcome | None) -> tuple[list[str], int]:
    """Return the line about the game and the seats' cards beneath it, and the height of all."""
    seats = len(state.hands)
    across = _ACROSS.get(seats, 4)
    width = _CARDS_WIDTH // across
    in_a_row = (width - 22) // _HAND_STEP
    said = f'font-size="15" fill="currentColor" text-anchor="middle">{_status(state, outcome)}</text>'
    lines = [f'<text x="{_CARDS_WIDTH // 2 + 10}" y="12" {said}']
    y = 26
    for first in range(0, seats, across):
        of_row = range(first, min(first + across, seats))
        rows_of_hand = max(1, *(-(-len(state.hands[seat]) // in_a_row) for seat in of_row))
        height = _HEAD + rows_of_hand * _HAND_STEP + 16
        for seat in of_row:
            lines += _card(state, seat, (15 + (seat - first) * width, y), (width - 10, height - 10), in_a_row, outcome)
        y += height
    return lines, y + 4


def _card(state: State, seat: int, corner: Cell, size: Cell, in_a_row: int, outcome: Outcome | None) -> list[str]:
    """Return one seat: its label, its points, its hand, and whether it is to move, out, or has won."""
    (x, y), (width, height) = corner, size
    said = standing(state.order, seat, outcome)
    is_out, is_next = said == "out", said == "to move"
    frame = 'stroke-width="3"' if said in ("to move", "won") else 'stroke-opacity=".2"'
    name_x = 30 if is_next else 12
    content = [
        f'<text data-seat="{seat}" x="{name_x}" y="21" font-size="15" font-weight="600">seat {seat}</text>',
        f'<text x="{width - 12}" y="42" font-size="20" font-weight="700" text-anchor="end">{state.scores[seat]}</text>',
        f'<text x="12" y="41" font-size="13" fill-opacity=".75">{_note(state, seat, said)}</text>',
    ]
    if is_next:
        content.append('<path d="M12 8L25 16L12 24Z"><title>to move</title></path>')
    content += (
        _use(TILES[tile], 8 + index % in_a_row * _HAND_STEP, _HEAD + index // in_a_row * _HAND_STEP, _HAND_SIDE)
        for index, tile in enumerate(sorted(state.hands[seat]))
    )
    return [
        f'<g transform="translate({x} {y})" fill="currentColor" opacity="{".5" if is_out else "1"}">',
        f'<rect width="{width}" height="{height}" rx="9" fill-opacity=".05" stroke="currentColor" {frame}/>',
        *content,
        "</g>",
    ]


def _note(state: State, seat: int, said: str) -> str:
    """Return how a seat ended, or how many tiles it holds, and what was drawn or skipped since its last move."""
    if said in ("out", "won"):
        return said
    drew, skipped = state.drew[seat], state.skipped[seat]
    parts = [counted(len(state.hands[seat]), "tile")]
    if drew:
        parts.append(f"drew {drew}")
    if skipped:
        parts.append("skipped" if skipped == 1 else f"skipped {skipped}")
    if drew or skipped:
        parts.append(f"-{PENALTY * (drew + skipped)}")
    return " · ".join(parts)


def _corner_symbol(corner: int, number: int) -> str:
    """Return a quarter of a disc in one corner of a tile, with its digit."""
    is_right, is_low = corner in (1, 2), corner in (2, 3)
    x, y = 38.5 if is_right else 1.5, 38.5 if is_low else 1.5
    across, down = -17.5 if is_right else 17.5, -17.5 if is_low else 17.5
    quarter = f"M{x} {y}h{across}a17.5 17.5 0 0 {int(is_right == is_low)} {-across} {down}Z"
    text_x, text_y = 29.8 if is_right else 10.2, 35.6 if is_low else 15.4
    return (
        f'<symbol id="quadominos-{"abcd"[corner]}{number}" overflow="visible">'
        f'<path d="{quarter}" fill="{_TONES[number]}" stroke="{_DARK}" stroke-width=".8" stroke-opacity=".55"/>'
        f'<text x="{text_x}" y="{text_y}" font-size="15.5" font-weight="700" fill="{_INKS[number]}" '
        f'text-anchor="middle">{number}</text></symbol>'
    )


def _square(half: float, corner: float, paint: str) -> str:
    """Return a square with round corners around the middle of a place."""
    return f'<rect x="{20 - half}" y="{20 - half}" width="{2 * half}" height="{2 * half}" rx="{corner}" {paint}/>'


_SHARED = {
    "tile": _square(19, 3, f'fill="#efe7d3" stroke="{_DARK}" stroke-opacity=".6"'),
    "fresh": _square(20.5, 4, 'fill="none" stroke="currentColor" stroke-width="3.5"')
    + _square(18.3, 3, f'fill="none" stroke="{_DARK}" stroke-width="2"'),
}
"""What is fresh has a dark ring on the tile's edge and one of ink around it: one of the two shows on any background."""
_DEFINITIONS: Sequence[str] = (
    *(f'<symbol id="quadominos-{name}" overflow="visible">{content}</symbol>' for name, content in _SHARED.items()),
    *(_corner_symbol(corner, number) for corner in range(4) for number in range(6)),
)
"""The same in every drawing, one definition a line."""
