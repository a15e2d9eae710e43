"""Quincala Mixing as text for a terminal, in the markup of rich, and as SVG.

Row 1, White's edge, is at the bottom. A figure on each piece shows its size; in SVG, so does its length. A piece is
light for White and dark for Black; in text, White's pieces are digits and Black's are letters. So size and colour can
be read by people and on terminals that see no colours.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..drawing import Symbols, card, document, place, square_name
from .board import COLOURS, MAX_SIZES, NAMES, OWN, count_mixed, find_mixed, names, pieces
from .turns import State

_SIGNS = "12345abcde"
"""Signs by piece, in text."""
_DOTS = {"w": "v", "b": "^", "x": "x", ".": ".", " ": " "}
"""Sign of a layout -> sign in text; no piece has any of these signs."""
_STYLES = ("black on bright_white", "bright_white on grey23")
"""Styles by seat, in the markup of rich."""
_MAX_SHOWN = 8
"""Number of dots of the last move that fit into a line of 80 characters."""


def describe(play: Mapping[str, Any]) -> str:
    """Return a play in words: `from row 1, column 2 to row 3, column 2, knocks off b1`."""
    match play:
        case {"action": "place", "piece": piece, "dot": [row, column]}:
            colour = "white" if piece.startswith("w") else "black"
            return f"the {colour} piece of size {piece[1:]} on row {row}, column {column}"
        case {"action": "leg", "start": [row, column], "end": [to_row, to_column]}:
            knocked = ", ".join(play.get("knocked", ()))
            off = f", knocks off {knocked}" if knocked else ""
            return f"from row {row}, column {column} to row {to_row}, column {to_column}{off}"
        case {"action": "stop"}:
            return "ends the move"
    return ""


def draw_text(state: State) -> str:
    """Return the board with its row and column numbers, a line for each seat, the last move and immune pieces."""
    field = state.field
    width = state.sizes + 1
    numbers = "".join(f"{column:^{width}}" for column in range(1, field.width + 1))
    lines = []
    for row in range(field.height, 0, -1):
        dots = range((row - 1) * field.width, row * field.width)
        lines.append(f"[dim]{row:>3}[/] " + " ".join(_text_cell(state, dot) for dot in dots))
    lines += [f"[dim]    {numbers}[/]", "", *(_text_seat(state, seat) for seat in (0, 1))]
    lines.append("[dim]1-5: White's pieces, a-e: Black's; v, ^, x: White, Black, both place there[/]")
    if state.path:
        shown = [_where(state, dot) for dot in state.path]
        if len(shown) > _MAX_SHOWN:
            shown[1 : 2 - _MAX_SHOWN] = ["..."]
        lines.append("last move: " + " > ".join(shown))
    if state.placed:
        lines.append("placed on: " + ", ".join(_where(state, dot) for dot in state.placed))
    if state.immune:
        guarded = (f"{'+'.join(names(tower))} on {_where(state, dot)}" for dot, tower in sorted(state.immune.items()))
        lines.append(f"immune: {', '.join(guarded)}")
    return "\n".join(lines)


def _where(state: State, dot: int) -> str:
    row, column = state.field.places[dot]
    return f"{row},{column}"


def _text_cell(state: State, dot: int) -> str:
    """Return one dot: a character for each size, which shows the tower's piece of that size."""
    tower = state.board[dot]
    if not tower:
        row, column = state.field.places[dot]
        return f"[dim]{_DOTS[state.field.rows[row - 1][column - 1]]:^{state.sizes}}[/]"
    levels = ["[dim]-[/]"] * state.sizes
    for piece in pieces(tower):
        emphasis = " underline" if state.immune.get(dot, 0) >> piece & 1 else ""
        levels[piece % MAX_SIZES] = f"[{_STYLES[piece // MAX_SIZES]}{emphasis}]{_SIGNS[piece]}[/]"
    return "".join(levels)


def _text_seat(state: State, seat: int) -> str:
    """Return a seat's colour, its mixed sizes, its hand, and whether it is to move."""
    held = Counter(state.hands[seat])
    hand = " ".join(f"[{_STYLES[piece // MAX_SIZES]}]{_SIGNS[piece]}[/]x{held[piece]}" for piece in sorted(held))
    score = count_mixed(state.board)[seat]
    return (
        f"seat {seat} {COLOURS[seat]:<5} {score} of {state.sizes} sizes mixed, hand: {hand or '-'}  "
        f"[dim]{_status(state, seat)}[/]"
    )


def _status(state: State, seat: int) -> str:
    """Return in words the task of a seat, or that it is out or has won; empty if there is nothing to say."""
    if seat not in state.order:
        return "out"
    if state.ending is not None:
        return "won" if state.ending.winner == seat else ""
    tasks = {"place": "to place", "move": "to move", "continue": "to go on or stop"}
    return tasks.get(state.phase, "") if seat == state.seat else ""


# --- SVG. Lengths are in units of the drawing; neighbouring dots are _STEP apart.

_STEP = 56
_MARGIN = 24
"""Room for the row and column numbers."""
_SIDE = 178
"""Width of the column with the seats' cards."""
_CARD = 292
"""Height of a card."""
_BETWEEN = 56
"""Height of the space between the cards."""
_HEIGHTS = (16.0, 16.0, 16.0, 13.0, 10.4)
"""Heights of a piece by the number of pieces in its tower, from 1: every tower fits on its dot."""
_LIGHT, _DARK = "#fffdf7", "#1b2430"
_FILLS, _INKS = (_LIGHT, _DARK), (_DARK, _LIGHT)
"""Colours by seat: those of its pieces, and those of the figures on them."""
_TINTS = ("#2b74d8", "#f28c0f")
"""Colours of the placing areas, by seat: blue and orange, which colour-blind people can tell apart, too."""
_TRACE = "#c2187a"
_GUARD = "#f28c0f"
_END = 4.5
"""Width of the mark at each end of an immune piece: the smallest piece has this width on both sides of its figure."""
_SYMBOLS = Symbols("n")


def draw_svg(state: State, touching: int | None) -> str:
    """Return as SVG the board with tinted placing areas and the last turn marked, and both seats next to it.

    Args:
        state: the state to draw.
        touching: the seat that can touch the dots and its hand; None if nothing can be touched.
    """
    width = state.field.width * _STEP + 2 * _MARGIN + _SIDE
    height = max(state.field.height * _STEP + 2 * _MARGIN, 2 * _CARD + _BETWEEN + _MARGIN)
    content = [
        *_edges(state),
        *_dots(state),
        *_trace(state),
        *(line for dot, tower in enumerate(state.board) if tower for line in _tower(state, dot)),
        *(() if touching is None else _places(state)),
        *(line for seat in (0, 1) for line in _card(state, seat, (width - _SIDE, height), can_touch=seat == touching)),
        *_footer(state, width - _SIDE, height),
    ]
    label = "Quincala Mixing: the board and the hands"
    return document(label, (0, 0, width, height), _definitions(state.sizes), content)


def _middle(state: State, dot: int) -> tuple[int, int]:
    """Return (x, y) of the middle of a dot."""
    row, column = state.field.places[dot]
    return _MARGIN + (column - 1) * _STEP + _STEP // 2, _MARGIN + (state.field.height - row) * _STEP + _STEP // 2


def _definitions(sizes: int) -> Iterator[str]:
    """Yield symbols for each piece in each height, for the dot, and for each area; their middle is at the origin."""
    for piece in range(len(NAMES)):
        if piece % MAX_SIZES < sizes:
            for tall in sorted(set(_HEIGHTS[:sizes])):
                yield from _piece(piece, tall, sizes)
    yield _SYMBOLS.define("dot", '<path d="M0-5L5 0L0 5L-5 0Z" fill="currentColor" opacity=".4"/>')
    square = f'<rect x="{-_STEP // 2}" y="{-_STEP // 2}" width="{_STEP}" height="{_STEP}"'
    for letter, color, tint in zip("wb", COLOURS, _TINTS, strict=True):
        area = f'{square} fill="{tint}" fill-opacity=".17"/>'
        yield _SYMBOLS.define(f"area-{letter}", area, f"{color}'s placing area")


def _piece(piece: int, tall: float, sizes: int) -> Iterator[str]:
    """Yield the symbol of a piece, and the symbol that marks the two ends of an immune piece."""
    seat, size = piece // MAX_SIZES, piece % MAX_SIZES + 1
    wide = 20 + (_STEP - 24) * (size - 1) // (sizes - 1)
    bar = f'<rect x="{-wide / 2:g}" y="{0.5 - tall / 2:g}" width="{wide}" height="{tall - 1:g}" rx="3"'
    figure = (
        f'{bar} fill="{_FILLS[seat]}" stroke="{_INKS[seat]}" stroke-width="1.2"/>'
        f'<text y="{tall * 0.34:.1f}" font-size="{min(tall - 0.4, 14):g}" font-weight="700" fill="{_INKS[seat]}" '
        f'text-anchor="middle">{size}</text>'
    )
    yield _SYMBOLS.define(_symbol(piece, tall), figure, f"{COLOURS[seat]} {size}")
    ends = "".join(
        f'<rect x="{x:g}" y="{0.5 - tall / 2:g}" width="{_END}" height="{tall - 1:g}" rx="1.5"/>'
        for x in (-wide / 2, wide / 2 - _END)
    )
    guard = f'<g fill="{_GUARD}" stroke="{_INKS[seat]}">{ends}</g>'
    yield _SYMBOLS.define(f"{_symbol(piece, tall)}-immune", guard, "immune")


def _symbol(piece: int, tall: float) -> str:
    """Return the name of a piece's symbol in one height."""
    return f"{NAMES[piece]}-{_HEIGHTS.index(tall) + 1}"


def _edges(state: State) -> Iterator[str]:
    """Yield the row numbers on the left and the column numbers beneath."""
    height, width = state.field.height, state.field.width
    yield '<g font-size="13" fill="currentColor" fill-opacity=".75" text-anchor="middle">'
    for row in range(1, height + 1):
        y = _MARGIN + (height - row) * _STEP + _STEP // 2 + 5
        yield f'<text x="{_MARGIN // 2}" y="{y}">{row}</text>'
    for column in range(1, width + 1):
        x = _MARGIN + (column - 1) * _STEP + _STEP // 2
        yield f'<text x="{x}" y="{_MARGIN + height * _STEP + 17}">{column}</text>'
    yield "</g>"


def _dots(state: State) -> Iterator[str]:
    """Yield the placing areas and the dots."""
    for dot, is_dot in enumerate(state.field.is_dot):
        if is_dot:
            x, y = _middle(state, dot)
            yield from (_SYMBOLS.use(f"area-{'wb'[seat]}", x, y) for seat in (0, 1) if dot in state.field.areas[seat])
            if not state.board[dot]:
                yield _SYMBOLS.use("dot", x, y)


def _places(state: State) -> Iterator[str]:
    for dot, is_dot in enumerate(state.field.is_dot):
        if is_dot:
            x, y = _middle(state, dot)
            half = _STEP // 2
            yield place(square_name(*state.field.places[dot]), (x - half, y - half, _STEP, _STEP))


def _trace(state: State) -> Iterator[str]:
    """Yield the last turn: a frame around each placed piece, and the legs as a line from a ring to a square."""
    for dot in state.placed:
        x, y = _middle(state, dot)
        side = _STEP - 3
        yield (
            f'<rect x="{x - side / 2:g}" y="{y - side / 2:g}" width="{side}" height="{side}" rx="6" fill="none" '
            f'stroke="{_TRACE}" stroke-width="2.5" stroke-dasharray="6 4"/>'
        )
    if not state.path:
        return
    spots = [_middle(state, dot) for dot in state.path]
    (x, y), (end_x, end_y) = spots[0], spots[-1]
    points = " ".join(f"{x},{y}" for x, y in spots)
    yield f'<circle cx="{x}" cy="{y}" r="13" fill="none" stroke="{_TRACE}" stroke-width="4"/>'
    yield (
        f'<polyline points="{points}" fill="none" stroke="{_TRACE}" stroke-opacity=".75" stroke-width="5" '
        'stroke-linejoin="round" stroke-linecap="round"/>'
    )
    yield from (f'<circle cx="{x}" cy="{y}" r="6" fill="{_TRACE}"/>' for x, y in spots[1:-1])
    side = _STEP - 2
    yield (
        f'<rect x="{end_x - side / 2:g}" y="{end_y - side / 2:g}" width="{side}" height="{side}" rx="6" '
        f'fill="{_TRACE}" fill-opacity=".18" stroke="{_TRACE}" stroke-width="3.5"/>'
    )


def _tower(state: State, dot: int) -> Iterator[str]:
    """Yield the pieces of a tower, the smallest on top, with marks on those immune in this turn or the next."""
    x, y = _middle(state, dot)
    stack = pieces(state.board[dot])
    tall = _HEIGHTS[len(stack) - 1]
    guarded = state.immune.get(dot, 0) | state.fresh.get(dot, 0)
    levels = [(piece, y + (index - (len(stack) - 1) / 2) * tall) for index, piece in enumerate(stack)]
    yield from (_SYMBOLS.use(_symbol(piece, tall), x, level) for piece, level in levels)
    yield from (
        _SYMBOLS.use(f"{_symbol(piece, tall)}-immune", x, level) for piece, level in levels if guarded >> piece & 1
    )


def _card(state: State, seat: int, corner: tuple[int, int], *, can_touch: bool) -> list[str]:
    """Return a seat's card: name, colour, sizes in mixed towers and hand. White's card is at the bottom."""
    left, height = corner
    top = 12 if seat == 1 else height - _CARD - 12
    is_next = state.ending is None and seat == state.seat
    status = "out" if seat not in state.order else "to move" if is_next else ""
    content = [
        f'<rect x="12" y="40" width="14" height="14" rx="3" fill="{_FILLS[seat]}" stroke="currentColor"/>',
        f'<text x="33" y="52" font-size="14">{COLOURS[seat].capitalize()}</text>',
        f'<text x="12" y="73" font-size="14" font-style="italic">{_status(state, seat)}</text>',
        *_progress(state, seat),
        *_hand(state, seat, can_touch=can_touch),
    ]
    return card(seat, (left, top, _SIDE - 12, _CARD), status, (12, 27), content)


def _progress(state: State, seat: int) -> Iterator[str]:
    """Yield the sizes of a seat: with a bold frame if the seat has the size in a mixed tower, else with a faint one."""
    count = count_mixed(state.board)[seat]
    yield f'<text x="12" y="98" font-size="13">mixed sizes: {count} of {state.sizes}</text>'
    in_mixed = find_mixed(state.board) & OWN[seat]
    for size in range(1, state.sizes + 1):
        x = 12 + (size - 1) * 29
        is_there = in_mixed >> (seat * MAX_SIZES + size - 1) & 1
        frame = 'fill-opacity=".2" stroke-width="2.5"' if is_there else 'fill="none" stroke-opacity=".25"'
        yield f'<rect x="{x}" y="105" width="25" height="24" rx="4" stroke="currentColor" {frame}/>'
        paint = 'font-weight="700"' if is_there else 'fill-opacity=".5"'
        yield f'<text x="{x + 12.5}" y="122" font-size="14" text-anchor="middle" {paint}>{size}</text>'


def _hand(state: State, seat: int, *, can_touch: bool) -> Iterator[str]:
    """Yield the kinds of pieces in hand with their numbers: White's kinds on the left, Black's on the right."""
    held = Counter(state.hands[seat])
    yield f'<text x="12" y="153" font-size="13">in hand: {held.total() or "nothing"}</text>'
    for piece in sorted(held):
        column, row = divmod(piece, MAX_SIZES)
        x, y = 36 + column * 74, 174 + row * 24
        yield _SYMBOLS.use(_symbol(piece, _HEIGHTS[0]), x, y)
        yield f'<text x="{x + 29}" y="{y + 5}" font-size="13">x{held[piece]}</text>'
        if can_touch:
            yield place(NAMES[piece], (x - 22, y - 11, 72, 22))


def _footer(state: State, left: int, height: int) -> Iterator[str]:
    """Yield the number of turns, between the cards."""
    texts = [f"{state.turns} of {state.max_turns} full turns over,", "each of one or more steps"]
    if state.ending is not None:
        texts.append("the game is over")
    for index, text in enumerate(texts):
        y = height // 2 + (index - (len(texts) - 1) / 2) * 18 + 5
        yield (
            f'<text x="{left + (_SIDE - 12) // 2}" y="{y:g}" font-size="12.5" fill="currentColor" fill-opacity=".75" '
            f'text-anchor="middle">{text}</text>'
        )
