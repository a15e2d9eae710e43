"""The Q game as text for a terminal, in the markup of rich, and as SVG.

In both, a tile also shows the letter of its colour, for readers who can't see the colours.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import cos, pi, sin
from typing import Any

from msgspec.structs import replace

from ...text import counted
from ..base import Outcome
from ..drawing import DARK, FRESH, LIGHT, SIDE, Box, Symbols, card, extents, hand_group, place, square, standing, table
from .forms import State
from .tiles import COLORS, NAMES, SHAPES, Cell, Tile

_SHAPE_SIGNS = ("★", "✶", "■", "●", "♣", "◆")
_COLOR_SIGNS = ("r", "g", "b", "y", "o", "p")
_TERMINAL_GROUNDS = ("red", "green4", "blue", "gold3", "dark_orange3", "purple4")
_TERMINAL_INKS = ("white", "white", "white", "black", "black", "white")
"""Colours of the library rich, for each colour of a tile: the background and the sign on it."""
assert len(_TERMINAL_GROUNDS) == len(COLORS)


def draw_tile(tile: Tile) -> str:
    """Return one tile, two characters wide."""
    shape, color = divmod(tile, 6)
    return f"[{_TERMINAL_INKS[color]} on {_TERMINAL_GROUNDS[color]}]{_SHAPE_SIGNS[shape]}{_COLOR_SIGNS[color]}[/]"


def draw_hand(hand: Iterable[Tile]) -> str:
    """Return a hand in tile order."""
    return " ".join(draw_tile(tile) for tile in sorted(hand)) or "-"


_ENDS = {
    "q.end.finished": "a whole hand was placed",
    "q.end.idle-round": "nobody placed a tile in a round",
    "q.end.deserted": "nobody is left",
}
"""Rule that ended the game -> the same in words."""


def _status(state: State, outcome: Outcome | None) -> str:
    """Return a line about the whole game."""
    left = f"{counted(len(state.pile), 'tile')} left to hand out"
    return left if outcome is None else f"{left} · the game is over: {_ENDS[outcome.reason]}"


def describe(play: Mapping[str, Any]) -> str:
    """Return a play in words: `red diamond at row -1, column 0; 7 points`."""
    match play:
        case {"action": "place", "tiles": [*tiles]}:
            spots = (f"{name.replace('-', ' ')} at row {row}, column {column}" for row, column, name in tiles)
            points = f"; {counted(play['points'], 'point')}" if "points" in play else ""
            return ", then ".join(spots) + points
        case {"action": "exchange"}:
            return "exchanges the whole hand"
        case {"action": "pass"}:
            return "passes"
    return ""


def draw_text(state: State, outcome: Outcome | None, eyes: Collection[int] | None) -> str:
    """Return the map with row and column numbers, then a line for each seat, and a legend of the signs.

    Args:
        state: the state to draw.
        outcome: the outcome, if the game is over.
        eyes: seats whose hands are shown; None for all.
    """
    board = state.board
    rows, columns = extents(board)
    lines = ["[dim]    " + "".join(f"{column:>3}" for column in columns) + "[/]"]
    for row in rows:
        cells = (f" {draw_tile(board[row, column])}" if (row, column) in board else "  ·" for column in columns)
        lines.append(f"[dim]{row:>4}[/]" + "".join(cells))
    lines.append("")
    for seat, hand in enumerate(state.hands):
        status = standing(state.order, seat, outcome)
        how = f": {_ENDS[outcome.reason]}" if outcome is not None and status == "won" else ""
        shown = draw_hand(hand) if eyes is None or seat in eyes else "?"
        lines.append(f"seat {seat} {state.scores[seat]:>4} points  {shown}  [dim]{status}{how}[/]")
    shapes = " ".join(f"{sign} {shape}" for sign, shape in zip(_SHAPE_SIGNS, SHAPES, strict=True))
    colors = " ".join(f"{sign} {color}" for sign, color in zip(_COLOR_SIGNS, COLORS, strict=True))
    return "\n".join([*lines, f"[dim]{shapes}[/]", f"[dim]{colors}[/]"])


# --- SVG. Lengths are in units of the drawing; a square of the map is 40 of them wide.

_CARD = (270, 101)
"""Least (width, height) of one seat's hand."""
_HAND_WIDTH = 6
"""Number of tiles in a row of a hand. Longer hands are possible only in given positions."""
_LEAST = (7, 13)
"""Rows and columns that are always shown."""
_SVG_GROUNDS = ("#b80f1f", "#14a86b", "#2b74d8", "#ffe733", "#f28c0f", "#58238a")
"""Colours of six different lightnesses, which colour-blind people can tell apart; see tests/games/q/test_drawing.py."""
_SVG_SIGNS = (LIGHT, DARK, LIGHT, DARK, DARK, LIGHT)
"""Colour of the letter on each of these colours."""
_SYMBOLS = Symbols("q")


def draw_svg(
    state: State, outcome: Outcome | None, eyes: Collection[int] | None, laid: Mapping[Cell, Tile] | None
) -> str:
    """Return the map with row and column numbers, and the hands below it, as one SVG document.

    Args:
        state: the state to draw.
        outcome: the outcome, if the game is over.
        eyes: seats whose hands are shown; None for all.
        laid: tiles of the hand that a person has chosen and that are shown on the map; None if nothing can be touched.
    """
    label = "The Q game: the map and the hands"
    gone = Counter((laid or {}).values())
    tiles = {cell: NAMES[tile] for cell, tile in {**state.board, **(laid or {})}.items()}
    fresh = list(laid or ()) or [(row, column) for row, column, _ in (state.last or {}).get("tiles", ())]
    rest = replace(state, hands=tuple(tuple((Counter(hand) - gone).elements()) for hand in state.hands))

    def _below(width: int) -> tuple[list[str], int, float]:
        return _cards(rest, width, outcome, eyes, can_touch=laid is not None)

    return table(label, _DEFINITIONS, tiles, fresh, _SYMBOLS.use, _LEAST, _below, has_places=laid is not None)


def _cards(
    state: State, width: int, outcome: Outcome | None, eyes: Collection[int] | None, *, can_touch: bool
) -> tuple[list[str], int, float]:
    """Return the seats' cards, arranged in rows, with their total height and scale."""
    seats = len(state.hands)
    across = max(1, min(seats, (width - 20) // _CARD[0]))
    card_width = (width - 20) // across
    visible_hands = (hand for seat, hand in enumerate(state.hands) if eyes is None or seat in eyes)
    rows_of_hand = max((1, *(-(-len(hand) // _HAND_WIDTH) for hand in visible_hands)))
    card_height = _CARD[1] + (rows_of_hand - 1) * (SIDE - 2)
    lines: list[str] = []
    for seat in range(seats):
        corner = 15 + seat % across * card_width, seat // across * card_height
        hand = hand_group(seat, eyes, _hand(state.hands[seat], can_touch=can_touch))
        lines += _card(state, seat, (*corner, card_width - 10, card_height - 10), hand, outcome)
    height = -(-seats // across) * card_height
    lines.append(
        f'<text x="{width // 2}" y="{height + 10}" font-size="13" fill="currentColor" fill-opacity=".7" '
        f'text-anchor="middle">{_status(state, outcome)}</text>'
    )
    return lines, height + 24, 1


def _card(state: State, seat: int, box: Box, hand: Iterable[str], outcome: Outcome | None) -> list[str]:
    """Return the card of one seat: its label, points, hand and status."""
    status, right = standing(state.order, seat, outcome), box[2] - 14
    content = [
        f'<text x="{right}" y="26" font-size="20" font-weight="700" text-anchor="end">{state.scores[seat]}</text>'
    ]
    if status == "won":
        content.append(f'<text x="{right}" y="40" font-size="13" font-style="italic" text-anchor="end">won</text>')
    if status == "out":
        content.append('<text x="14" y="60" font-size="15">out</text>')
    return card(seat, box, status, (14, 25), [*content, *hand])


def _hand(hand: Iterable[Tile], *, can_touch: bool) -> Iterator[str]:
    for index, tile in enumerate(sorted(hand)):
        x, y = 8 + index % _HAND_WIDTH * 39, 44 + index // _HAND_WIDTH * 38
        yield _SYMBOLS.use(NAMES[tile], x, y)
        if can_touch:
            yield place(NAMES[tile], (x, y, SIDE, SIDE))


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
"""Outlines by shape, in a square of 40 units."""


def _symbol(tile: Tile) -> str:
    """Return one kind of tile: its shape in its colour, and the colour's letter in the shape."""
    shape, color = divmod(tile, 6)
    content = (
        '<use href="#q-tile"/>'
        f'<use href="#q-{SHAPES[shape]}" fill="{_SVG_GROUNDS[color]}" stroke="{DARK}" stroke-linejoin="round"/>'
        f'<text x="20" y="25" font-size="14" font-weight="700" fill="{_SVG_SIGNS[color]}" text-anchor="middle">'
        f"{_COLOR_SIGNS[color].upper()}</text>"
    )
    return _SYMBOLS.define(NAMES[tile], content, f"{COLORS[color]} {SHAPES[shape]}")


_SHARED = {
    **dict(zip(SHAPES, _OUTLINES, strict=True)),
    "tile": square(19, 6, f'fill="#fffdf7" stroke="{DARK}" stroke-opacity=".35"'),
    "fresh": FRESH,
}
_DEFINITIONS = (*map(_SYMBOLS.define, _SHARED, _SHARED.values()), *map(_symbol, range(len(NAMES))))
"""Definitions of all symbols, one line for each. They are the same in every drawing."""
