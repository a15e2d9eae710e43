"""Quincy as text, in the markup of rich, and as SVG.

In both, a stone has its team's letter as well as its colour; in SVG, each team also has its own shape. Stones of a
line are marked.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ...text import counted
from ..drawing import DARK, LIGHT, Symbols, card, document, hand_group, place, square_name
from .board import BITS, DOMINOES, SIZE, SQUARES, STONES, Square, lines, survey
from .forms import PublicEvent, State

_WORDS = {
    "add": "on row {}, column {}, by {}",
    "remove": "took row {}, column {}, by {}",
    "discard": "discarded {}",
}


def _last_move(log: Iterable[PublicEvent], seat: int | None = None) -> PublicEvent | None:
    """Return the last move of a seat, or of all seats if `seat` is None; None if there was no move."""
    moves = (event for event in log if event.action in _WORDS and seat in (None, event.seat))
    return max(enumerate(moves), default=(0, None), key=lambda pair: pair[0])[1]


def _in_words(event: PublicEvent | None) -> str:
    """Return a move in words, for a seat's card; empty if there was no move."""
    if event is None:
        return ""
    low, high = event.dominoes[0]
    return _WORDS[event.action].format(*(event.square or ()), f"{low}|{high}")


def _status(state: State) -> str:
    """Return a line about the whole table."""
    if state.end is None:
        return f"{counted(len(state.pile), 'domino', 'dominoes')} left to draw"
    if state.winner is None:
        return "a wash: a draw"
    how = " with two lines" if state.end == "quincy.end.lines" else ": no opponent is left"
    return f"{STONES[state.winner]} wins{how}"


def _line_count(state: State, seat: int) -> str:
    return counted(survey(state.stones[seat % 2])[1], "line")


def describe(play: Mapping[str, Any]) -> str:
    """Return a play in words: `a stone on row 3, column 4, by the domino 2|7`."""
    match play:
        case {"action": "add", "domino": [low, high], "square": [row, column]}:
            return f"a stone on row {row}, column {column}, by the domino {low}|{high}"
        case {"action": "remove", "domino": [low, high], "square": [row, column]}:
            return f"takes the stone on row {row}, column {column}, by the domino {low}|{high}"
        case {"action": "discard", "domino": [low, high]}:
            return f"discards the domino {low}|{high}"
    return ""


# --- text

_MARKUP = ("white on blue", "black on gold3")
"""Styles by team."""


def draw_text(state: State, eyes: Collection[int] | None) -> str:
    """Return the board with its row and column numbers, then a line per seat, and what the signs mean.

    Args:
        state: the state to draw.
        eyes: the seats whose hands are shown; None for all.
    """
    last = _last_move(state.log)
    marked = None if last is None else last.square
    numbers = range(1, SIZE + 1)
    rows = ["[dim]   " + "".join(f"  {number} " for number in numbers) + "[/]"]
    for row in numbers:
        cells = (_cell(state, (row, column), is_marked=(row, column) == marked) for column in numbers)
        rows.append(f"[dim]{row:>2}[/] " + "".join(cells))
    seats = [_seat_line(state, seat, is_seen=eyes is None or seat in eyes) for seat in range(len(state.hands))]
    return "\n".join([*rows, "", *seats, _status(state), _LEGEND])


_LEGEND = "[dim](A): in a line; >A<: the last move; ╲: the doubles; - and ': row and column 5[/]"


def _cell(state: State, square: Square, *, is_marked: bool) -> str:
    team = next((team for team, squares in enumerate(state.stones) if BITS[square] & squares), None)
    left, right = (">", "<") if is_marked else ("(", ")")
    if team is None:
        sign = f"[dim]{_empty_sign(square)}[/]"
        return f" {left}{sign}{right}" if is_marked else f"  {sign} "
    if not is_marked and not BITS[square] & state.unbreakable[team]:
        left = right = " "
    return f" [{_MARKUP[team]}]{left}{STONES[team]}{right}[/]"


def _empty_sign(square: Square) -> str:
    """Return the sign of an empty square; the doubles line, row 5 and column 5 have signs of their own."""
    row, column = square
    return "╲" if row == column else "-" if row == 5 else "'" if column == 5 else "·"


def _seat_line(state: State, seat: int, *, is_seen: bool) -> str:
    names = ("{}|{}".format(*DOMINOES[number]) if is_seen else "?|?" for number in state.hands[seat])
    hand = "  ".join(names) or "-"
    turn = "to move" if state.end is None and state.order[0] == seat else "" if seat in state.order else "out"
    stone = f"[{_MARKUP[seat % 2]}] {STONES[seat % 2]} [/]"
    return f"seat {seat} {stone} {_line_count(state, seat):7}  {hand}  [dim]{turn}[/]"


# --- SVG. Lengths are in units of the drawing; a square of the board is 52 of them wide.

_SIDE = 52
_MARGIN = 34
"""Room for the row and column numbers on each side."""
_BOARD = SIZE * _SIDE + 2 * _MARGIN
_CARD_WIDTH = 300
_FOOT = 34
"""Room for the line below the board."""
_DOMINO = (33, 58)
"""(width, height) of a domino of a hand, with the space around it."""
_HAND_WIDTH = 8
"""Number of dominoes in a row of a hand; only in a given position can a hand need a second row."""
_TONES = ("#2457b8", "#ffd23f")
"""Tones by team: dark blue and light yellow, which colour-blind people can tell apart, too."""
_LETTERS = (LIGHT, DARK)
_STRIPE = "#e8871a"
_STATUS = 'font-size="18" fill="currentColor" text-anchor="middle"'
_SYMBOLS = Symbols("quincy")


def draw_svg(state: State, eyes: Collection[int] | None, *, can_touch: bool) -> str:
    """Return as SVG the board with its row and column numbers, and the hands next to it; hidden hands lie face down."""
    cards, cards_height = _cards(state, eyes, can_touch=can_touch)
    width, height = _BOARD + _CARD_WIDTH, max(_BOARD, cards_height) + _FOOT
    last = _last_move(state.log)
    content = [
        *_GRID,
        *([] if last is None or last.square is None else [_SYMBOLS.use("fresh", *_corner(last.square))]),
        *_bars(state),
        *_stones(state),
        *(_PLACES if can_touch else ()),
        f'<g transform="translate({_BOARD} 0)">',
        *cards,
        "</g>",
        f'<text x="{_BOARD // 2}" y="{height - 17}" {_STATUS}>{_status(state)}</text>',
    ]
    return document("Quincy: the board and the hands", (0, 0, width, height), _DEFINITIONS, content)


def _corner(square: Square) -> tuple[int, int]:
    """Return x and y of a square's upper left corner."""
    row, column = square
    return _MARGIN + (column - 1) * _SIDE, _MARGIN + (row - 1) * _SIDE


def _bars(state: State) -> list[str]:
    """Return a bar below each line, from its first stone to its last."""
    bars = []
    for squares in state.stones:
        for line in lines(squares):
            (x, y), (to_x, to_y) = _corner(line[0]), _corner(line[-1])
            half = _SIDE // 2
            bars.append(
                f'<path d="M{x + half} {y + half}L{to_x + half} {to_y + half}" stroke="currentColor" stroke-width="14" '
                'stroke-linecap="round"/>'
            )
    return bars


def _stones(state: State) -> list[str]:
    """Return every stone; a stone that is part of a line has a thick edge."""
    stones = []
    for stone, squares, fixed in zip(STONES, state.stones, state.unbreakable, strict=True):
        stones += [
            _SYMBOLS.use(f"{stone}-line" if BITS[square] & fixed else stone, *_corner(square))
            for square in SQUARES
            if BITS[square] & squares
        ]
    return stones


def _cards(state: State, eyes: Collection[int] | None, *, can_touch: bool) -> tuple[list[str], int]:
    """Return the seats' cards, one below the other, and the height at which the last one ends."""
    cards: list[str] = []
    y = _MARGIN
    for seat, hand in enumerate(state.hands):
        height = 58 + _DOMINO[1] * max(1, -(-len(hand) // _HAND_WIDTH))
        content = hand_group(seat, eyes, _hand(hand, can_touch=can_touch)) or _hidden_hand(len(hand))
        cards += _card(state, seat, y, height, content)
        y += height + 7
    return cards, y


def _card(state: State, seat: int, y: int, height: int, hand: Iterable[str]) -> list[str]:
    """Return one seat: its stone and label, its lines, its hand and its last move."""
    status = "out" if seat not in state.order else "to move" if state.end is None and state.order[0] == seat else ""
    width = _CARD_WIDTH - 14
    content = [
        f'<use href="#quincy-{STONES[seat % 2]}" transform="translate(6 4) scale(.54)"/>',
        f'<text x="{width - 10}" y="{height - 8}" font-size="14" text-anchor="end">{_line_count(state, seat)}</text>',
    ]
    if status == "out":
        content.append('<text x="12" y="62" font-size="16">out</text>')
    content += hand
    move = _last_move(state.log, seat)
    weight = 'font-weight="700"' if move is not None and move is _last_move(state.log) else 'fill-opacity=".8"'
    content.append(f'<text x="12" y="{height - 8}" font-size="13" {weight}>{_in_words(move)}</text>')
    return card(seat, (0, y, width, height), status, (40, 25), content)


def _hand(hand: Iterable[int], *, can_touch: bool) -> Iterator[str]:
    for index, number in enumerate(hand):
        corner = _corner_in_hand(index)
        yield from _domino(number, *corner)
        if can_touch:
            yield place("{}|{}".format(*DOMINOES[number]), (*corner, 26, 52))


def _hidden_hand(count: int) -> list[str]:
    """Return the dominoes of a hidden hand, face down: their number is public."""
    return [_SYMBOLS.use("back", *_corner_in_hand(index)) for index in range(count)]


def _corner_in_hand(index: int) -> tuple[int, int]:
    """Return x and y of the upper left corner of a domino, by its index in the hand."""
    return 12 + index % _HAND_WIDTH * _DOMINO[0], 36 + index // _HAND_WIDTH * _DOMINO[1]


def _domino(number: int, x: int, y: int) -> list[str]:
    """Return one domino, upright: its body and the numbers on its halves."""
    halves = (_SYMBOLS.use(f"end-{end}", x, y + half * 26) for half, end in enumerate(DOMINOES[number]) if end)
    return [_SYMBOLS.use("domino", x, y), *halves]


def _grid() -> list[str]:
    """Return the board without stones: the doubles line, the stripes of row and column 5, squares and numbers."""
    first, last, middle = _MARGIN, _BOARD - _MARGIN, _MARGIN + 4 * _SIDE
    length = last - first
    edges = "".join(
        f"M{first + at * _SIDE} {first}V{last}M{first} {first + at * _SIDE}H{last}" for at in range(SIZE + 1)
    )
    parts = [
        (
            f'<path d="M{first} {middle}h{length}v{_SIDE}h-{length}ZM{middle} {first}h{_SIDE}v{length}h-{_SIDE}Z" '
            f'fill="{_STRIPE}" fill-opacity=".3"/>'
        ),
        f'<path d="{edges}" fill="none" stroke="currentColor" stroke-opacity=".35"/>',
        (
            f'<path d="M{first} {first}L{last} {last}" stroke="currentColor" stroke-opacity=".45" stroke-width="3" '
            'stroke-dasharray="9 7"><title>the doubles line</title></path>'
        ),
        '<g font-size="18" fill="currentColor" fill-opacity=".8" text-anchor="middle">',
    ]
    for number in range(1, SIZE + 1):
        at = _MARGIN + number * _SIDE - _SIDE // 2
        parts += (f'<text x="{at}" y="{y}">{number}</text>' for y in (first - 11, last + 24))
        parts += (f'<text x="{x}" y="{at + 6}">{number}</text>' for x in (first - 16, last + 16))
    return [*parts, "</g>"]


_GRID = _grid()
_PLACES = tuple(place(square_name(*square), (*_corner(square), _SIDE, _SIDE)) for square in SQUARES)
_BOLD = 'font-size="20" font-weight="700" text-anchor="middle"'
_OUTLINES = ('<circle cx="26" cy="26" r="20"', '<path d="M26 3L49 26L26 49L3 26Z"')
"""Outlines by team, a disc and a diamond: the start of an SVG element, to which the colours are added."""
_EDGES = {"": f'stroke="{DARK}"', "-line": 'stroke="currentColor" stroke-width="5"'}


def _stone(team: int, edge: str) -> str:
    """Return a stone: its outline in its colour, and its letter."""
    return (
        f'{_OUTLINES[team]} fill="{_TONES[team]}" {edge} stroke-linejoin="round"/>'
        f'<text x="26" y="33" {_BOLD} fill="{_LETTERS[team]}">'
        f"{STONES[team]}</text>"
    )


_SHARED = {
    **{f"{stone}{kind}": _stone(team, edge) for team, stone in enumerate(STONES) for kind, edge in _EDGES.items()},
    "fresh": '<rect x="2" y="2" width="48" height="48" fill="none" stroke="currentColor" stroke-width="4"/>',
    "domino": f'<rect width="26" height="52" rx="5" fill="#fffdf7" stroke="{DARK}"/>'
    f'<path d="M4 26H22" stroke="{DARK}" stroke-opacity=".5"/>',
    "back": f'<rect width="26" height="52" rx="5" fill="#8a8377" stroke="{DARK}"/>'
    f'<path d="M4 4L22 48M22 4L4 48" stroke="{LIGHT}" stroke-opacity=".6"/>',
    **{f"end-{end}": f'<text x="13" y="20" {_BOLD} fill="{DARK}">{end}</text>' for end in range(1, 10)},
}
_DEFINITIONS = tuple(map(_SYMBOLS.define, _SHARED, _SHARED.values()))
"""The definitions, which are the same in every drawing; each is one line."""
