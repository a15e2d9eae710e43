"""What pictures of boards that grow have in common: the grid, the numbers of rows and columns, how a seat stands."""

from collections.abc import Sequence

from .base import Outcome


def standing(order: Sequence[int], seat: int, outcome: Outcome | None) -> str:
    """Return in words how a seat stands: `out`, `to move`, `won`, or nothing.

    Args:
        order: the seats still in the game, the one to move first.
        seat: which.
        outcome: how the game ended, if it has.
    """
    if seat not in order:
        return "out"
    if outcome is None:
        return "to move" if order[0] == seat else ""
    return "won" if seat in outcome.ranking[0] else ""


def edges(rows: range, columns: range, side: int) -> list[str]:
    """Return the grid and the numbers on all four sides, as lines of SVG.

    Args:
        rows: those that are shown.
        columns: those that are shown.
        side: of a cell, in the picture's units; the cell (0, 0) has its corner at (0, 0).
    """
    left, right = columns[0] * side, (columns[-1] + 1) * side
    top, bottom = rows[0] * side, (rows[-1] + 1) * side
    grid = "".join(f"M{column * side} {top}V{bottom}" for column in (*columns, columns[-1] + 1))
    grid += "".join(f"M{left} {row * side}H{right}" for row in (*rows, rows[-1] + 1))
    lines = [f'<path d="{grid}" fill="none" stroke="currentColor" stroke-opacity=".13"/>']
    lines.append('<g font-size="14" fill="currentColor" fill-opacity=".7" text-anchor="middle">')
    for column in columns:
        middle = column * side + side // 2
        lines += (f'<text x="{middle}" y="{y}">{column}</text>' for y in (top - 10, bottom + 20))
    for row in rows:
        middle = row * side + side // 2 + 5
        lines += (f'<text x="{x}" y="{middle}">{row}</text>' for x in (left - 15, right + 15))
    return [*lines, "</g>"]
