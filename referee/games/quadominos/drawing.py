"""Quad-Ominos as text for a terminal, in the markup of rich, and as SVG.

In both, every number has a tone as well as its digit. In the SVG, each corner is a quarter of a disc. Where tiles
meet, the quarters make one disc of one tone, so people see that a corner fits before they read the numbers.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ...text import counted
from ..base import Outcome
from ..drawing import DARK, FRESH, LIGHT, SIDE, Box, Symbols, card, extents, hand_group, place, square, standing, table
from .rounds import PENALTY, State
from .tiles import FACE_BY_NAME, FACES, TILE_OF, TILES, Cell, Tile

_TONES = ("#fffaf0", "#ffd633", "#ee8a1d", "#12a388", "#2a5fd0", "#3b0f5c")
"""Tones by number, from light to dark. Colour-blind people can tell any two of them apart; the tests measure this."""
_INKS = (DARK, DARK, DARK, DARK, LIGHT, LIGHT)
"""Colours of the digits, by number: each can be read on its tone."""
_TASKS = {
    "open": "open with a quad",
    "lay": "lay a tile",
    "bonus": "take 25 points or lay two more tiles",
    "second": "lay the second additional tile",
    "extra": "lay an additional tile or be done",
}
"""Task of the seat to move -> its description."""
_ENDS = {
    "quadominos.end.target": "{target} points are reached",
    "quadominos.end.rounds": "this was the last round",
    "quadominos.end.cap": "there are no more rounds",
    "quadominos.end.last": "no opponent is left",
}
"""Id of the rule that ended the game -> its description."""
_WORDS = {
    "lay": "{tile} at row {row}, column {column}",
    "points": "takes a bonus of 25 points",
    "done": "lays no more tiles",
    "laid": "{tile} at row {row}, column {column}; {points}",
    "bonus": "gets a bonus of {points}",
    "drew": "draws {tiles}; loses {lost}",
    "skipped": "can't lay a tile; loses {lost}",
    "went-out": "has laid the last tile; {points}",
    "blocked": "nobody can lay a tile: the round is over",
    "dealt": "round {round} is dealt, {tiles} each",
}
"""Action of a move, or name of an event -> its description."""
_NOUNS = {"points": "point", "lost": "point", "tiles": "tile"}
"""Field of an event with a number -> noun for what the number counts."""
_TEXT_WIDTH = 80
"""Number of characters in a line of a terminal."""


def describe(play: Mapping[str, Any]) -> str:
    """Return a move, or an event of a play, in words: `0224 at row 0, column 1; 8 points`."""
    counts = {key: counted(play[key], noun) for key, noun in _NOUNS.items() if key in play}
    return _WORDS.get(play.get("event") or play.get("action", ""), "").format(**{**play, **counts})


def draw_text(state: State, outcome: Outcome | None, eyes: Collection[int] | None) -> str:
    """Return the table with its row and column numbers, then a line for each seat, and the meaning of the signs.

    Each row of the table takes two lines. A column is four characters wide if all columns then fit into 80 characters,
    else three. If it is three, only every second column is numbered, so that the numbers do not touch.

    Args:
        state: the state to draw.
        outcome: the outcome, if the game is over.
        eyes: the seats whose hands are shown; None for all.
    """
    rows, columns = extents(state.table.board)
    wide = 4 if 4 + 4 * len(columns) <= _TEXT_WIDTH else 3
    numbers = (f"{column if wide == 4 or column % 2 == 0 else '':>{wide}}" for column in columns)
    lines = ["[dim]    " + "".join(numbers) + "[/]"]
    for row in rows:
        for label, corners in ((row, (0, 1)), ("", (3, 2))):
            halves = (" " * (wide - 3) + _half(state, (row, column), corners) for column in columns)
            lines.append(f"[dim]{label:>4}[/]" + "".join(halves))
    lines += ("", _status(state, outcome))
    for seat, hand in enumerate(state.hands):
        status = f"[dim]{standing(state.order, seat, outcome):<7}[/]"
        shown = counted(len(hand), "tile")
        if eyes is None or seat in eyes:
            shown = " ".join("".join(map(_digit, TILES[tile])) for tile in sorted(hand)) or "-"
        lines.append(f"seat {seat} {state.scores[seat]:>4} points  {status}  {shown}")
    lines.append("[dim]a hand's tiles read clockwise from the upper left; >: laid in the last turn[/]")
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
    """Return a line with the round, the well, and the task or the end of the game."""
    task = f"to move: {_TASKS[state.step]}"
    if outcome is not None:
        task = f"the game is over: {_ENDS[outcome.reason].format(target=state.options.target)}"
    return f"round {state.round} · {counted(len(state.well), 'tile')} in the well · {task}"


# --- SVG. Lengths are in units of the drawing; a place of the table is 40 of them wide.

_LEAST = (7, 18)
"""Numbers of rows and of columns that are shown at least."""
_CARDS_WIDTH = 780
"""Width of all cards in a row; they are scaled with the drawing, so that hands stay legible below a large table."""
_ACROSS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}
"""Number of seats -> number of cards in a row; 4 for any other number."""
_HAND_SIDE = 32
"""Width and height of a tile in a hand."""
_HAND_STEP = 34
"""Distance from one tile of a hand to the next."""
_HEAD = 52
"""Height of a card above its hand."""
_SYMBOLS = Symbols("quadominos")


def draw_svg(
    state: State, outcome: Outcome | None, eyes: Collection[int] | None, chosen: tuple[Any, ...] | None
) -> str:
    """Return the table with its row and column numbers, and the hands beneath it, as one SVG document.

    Args:
        state: the state to draw.
        outcome: the outcome, if the game is over.
        eyes: the seats whose hands are shown; None for all.
        chosen: the steps of a move that a person has chosen so far. If they are a tile and its square, the tile is
            shown there. None if nothing can be touched.
    """
    label = "Quad-Ominos: the table and the hands"
    laid = {chosen[1]: chosen[0]} if chosen and len(chosen) == 2 else {}
    gone = {TILE_OF[FACE_BY_NAME[name]] for name in laid.values()}
    tiles = {cell: FACES[face] for cell, face in state.table.board.items()} | laid
    rest = replace(state, hands=tuple(tuple(tile for tile in hand if tile not in gone) for hand in state.hands))
    visible_hands = (hand for seat, hand in enumerate(rest.hands) if eyes is None or seat in eyes)
    named = {*tiles.values(), *(TILES[tile] for hand in visible_hands for tile in hand)}
    definitions = [*_DEFINITIONS, *map(_symbol, sorted(named))]
    can_touch = chosen is not None

    def _below(width: int) -> tuple[list[str], int, float]:
        return _cards(rest, width, outcome, eyes, can_touch=can_touch)

    return table(label, definitions, tiles, laid or state.fresh, _use, _LEAST, _below, has_places=can_touch)


def _use(name: str, x: int, y: int, side: int = SIDE) -> str:
    return _SYMBOLS.use(name, x, y, f' width="{side}" height="{side}"')


def _symbol(name: str) -> str:
    """Return the definition of a tile in one rotation."""
    corners = (f'<use href="#quadominos-{corner}{number}"/>' for corner, number in zip("abcd", name, strict=True))
    content = f'<use href="#quadominos-tile"/>{"".join(corners)}'
    return _SYMBOLS.define(name, content, name, ' viewBox="0 0 40 40"')


def _cards(
    state: State, table_width: int, outcome: Outcome | None, eyes: Collection[int] | None, *, can_touch: bool
) -> tuple[list[str], int, float]:
    """Return the line about the game with the seats' cards beneath it, their height, and their scale."""
    seats = len(state.hands)
    across = _ACROSS.get(seats, 4)
    width = _CARDS_WIDTH // across
    in_a_row = (width - 22) // _HAND_STEP
    text = f'font-size="15" fill="currentColor" text-anchor="middle">{_status(state, outcome)}</text>'
    lines = [f'<text x="{_CARDS_WIDTH // 2 + 10}" y="12" {text}']
    y = 26
    for first in range(0, seats, across):
        of_row = range(first, min(first + across, seats))
        rows_of_hand = max(1, *(-(-len(state.hands[seat]) // in_a_row) for seat in of_row))
        height = _HEAD + rows_of_hand * _HAND_STEP + 16
        for seat in of_row:
            hand = hand_group(seat, eyes, _hand(state.hands[seat], in_a_row, can_touch=can_touch))
            lines += _card(state, seat, (15 + (seat - first) * width, y, width - 10, height - 10), hand, outcome)
        y += height
    scale = table_width / (_CARDS_WIDTH + 20)
    return lines, round((y + 4) * scale), scale


def _card(state: State, seat: int, box: Box, hand: Iterable[str], outcome: Outcome | None) -> list[str]:
    """Return one seat: its label, its points, its hand, and whether it is to move, out, or has won."""
    status, right = standing(state.order, seat, outcome), box[2] - 12
    content = [
        f'<text x="{right}" y="42" font-size="20" font-weight="700" text-anchor="end">{state.scores[seat]}</text>',
        f'<text x="12" y="41" font-size="13" fill-opacity=".75">{_note(state, seat, status)}</text>',
    ]
    return card(seat, box, status, (12, 22), [*content, *hand])


def _hand(hand: Iterable[Tile], in_a_row: int, *, can_touch: bool) -> Iterator[str]:
    for index, tile in enumerate(sorted(hand)):
        x, y = 8 + index % in_a_row * _HAND_STEP, _HEAD + index // in_a_row * _HAND_STEP
        yield _use(TILES[tile], x, y, _HAND_SIDE)
        if can_touch:
            yield place(TILES[tile], (x, y, _HAND_SIDE, _HAND_SIDE))


def _note(state: State, seat: int, status: str) -> str:
    """Return `out` or `won`; else the seat's number of tiles, and its draws and skipped turns since its last move."""
    if status in ("out", "won"):
        return status
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
    content = (
        f'<path d="{quarter}" fill="{_TONES[number]}" stroke="{DARK}" stroke-width=".8" stroke-opacity=".55"/>'
        f'<text x="{text_x}" y="{text_y}" font-size="15.5" font-weight="700" fill="{_INKS[number]}" '
        f'text-anchor="middle">{number}</text>'
    )
    return _SYMBOLS.define(f"{'abcd'[corner]}{number}", content)


_DEFINITIONS: Sequence[str] = (
    _SYMBOLS.define("tile", square(19, 3, f'fill="#efe7d3" stroke="{DARK}" stroke-opacity=".6"')),
    _SYMBOLS.define("fresh", FRESH),
    *(_corner_symbol(corner, number) for corner in range(4) for number in range(6)),
)
"""The definitions that are the same in every drawing; each is one line."""
