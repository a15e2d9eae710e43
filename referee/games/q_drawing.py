"""The Q game as text for a terminal, in the markup of rich. Knows how a tile looks; refuses to know rules.

A tile is two characters: a letter for its shape and, on a coloured ground, a letter for its colour, so that it can be
read without colours too.
"""

from collections.abc import Iterable, Sequence

from .q_tiles import COLORS, Board, Tile

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


def draw_text(board: Board, hands: Sequence[Sequence[Tile]], scores: Sequence[int], order: Sequence[int]) -> str:
    """Return the map with its row and column numbers, then a line per seat.

    Args:
        board: the map.
        hands: by seat.
        scores: by seat.
        order: the seats still in the game, the one to move first.
    """
    rows = [row for row, _ in board]
    columns = [column for _, column in board]
    width = range(min(columns), max(columns) + 1)
    lines = ["[dim]    " + "".join(f"{column:>3}" for column in width) + "[/]"]
    for row in range(min(rows), max(rows) + 1):
        cells = (f" {draw_tile(board[row, column])}" if (row, column) in board else "  ·" for column in width)
        lines.append(f"[dim]{row:>4}[/]" + "".join(cells))
    lines.append("")
    for seat, hand in enumerate(hands):
        state = "to move" if order and order[0] == seat else "" if seat in order else "out"
        lines.append(f"seat {seat} {scores[seat]:>4} points  {draw_hand(hand)}  [dim]{state}[/]")
    return "\n".join(lines)
