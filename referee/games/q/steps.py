"""Moves of the Q game by steps: a tile, its square, then another tile or `stop`.

A step is a word (`pass`, `exchange`, `stop`), a tile's name, or a square, `(row, column)`. What fits where is in the
state; after a placed tile, only the squares in its row and its column are looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..base import Step
from .forms import Exchange, Move, Pass, Place, Placement, State
from .tiles import BETWEEN, BY_NAME, KINDS, NAMES, NEIGHBOURS, Board, Cell, Tile

PASS, EXCHANGE, STOP = "pass", "exchange", "stop"
_MOVES: Mapping[Step, Move] = {PASS: Pass(), EXCHANGE: Exchange()}


def legal_steps(state: State, chosen: tuple[Any, ...]) -> Sequence[Step]:
    """Return what may be chosen after some steps of a move; see `Game.legal_steps`."""
    hand = state.hands[state.order[0]]
    if not chosen:
        words = [PASS, EXCHANGE] if len(hand) <= len(state.pile) else [PASS]
        return [*words, *_fitting(hand, state.openings.values())]
    placed = laid(chosen)
    spots = _in_line(state, placed) if placed else state.openings
    if len(chosen) % 2:
        bit = 1 << BY_NAME[chosen[-1]]
        return [cell for cell, kinds in spots.items() if kinds & bit]
    rest = list(hand)
    for tile in placed.values():
        rest.remove(tile)
    return [STOP, *_fitting(rest, spots.values())]


def laid(chosen: tuple[Any, ...]) -> dict[Cell, Tile]:
    """Return the tiles that have been given a cell by steps."""
    return {cell: BY_NAME[name] for name, cell in zip(chosen[::2], chosen[1::2], strict=False)}


def move_of(chosen: tuple[Any, ...]) -> Move | None:
    """Return the move that steps make, or None while it is not whole."""
    if chosen and chosen[-1] == STOP:
        pairs = zip(chosen[:-1:2], chosen[1::2], strict=True)
        return Place([Placement(row, column, name) for name, (row, column) in pairs])
    return _MOVES.get(chosen[0]) if chosen else None


def steps_of(move: Move) -> tuple[Step, ...]:
    """Return the steps that make a move."""
    if isinstance(move, Place):
        return (*(step for spot in move.tiles for step in (spot.tile, (spot.row, spot.column))), STOP)
    return (PASS,) if isinstance(move, Pass) else (EXCHANGE,)


def _fitting(hand: Iterable[Tile], spots: Iterable[int]) -> list[str]:
    """Return the names of the tiles that fit on any of some spots, each once, in tile order."""
    held = sorted(set(hand))
    wanted, found = sum(1 << tile for tile in held), 0
    for kinds in spots:
        found |= kinds & wanted
        if found == wanted:
            break
    return [NAMES[tile] for tile in held if found >> tile & 1]


def _in_line(state: State, placed: Mapping[Cell, Tile]) -> dict[Cell, int]:
    """Return the free cells in line with placed tiles where any tile fits, each with the kinds that do."""
    rows, columns = {row for row, _ in placed}, {column for _, column in placed}
    only_row = next(iter(rows)) if len(rows) == 1 else None
    only_column = next(iter(columns)) if len(columns) == 1 else None
    spots = {
        cell: kinds
        for cell, kinds in state.openings.items()
        if (cell[0] == only_row or cell[1] == only_column) and cell not in placed
    }
    for row, column in placed:
        for down, right in NEIGHBOURS:
            cell = row + down, column + right
            is_in_line = cell[0] == only_row or cell[1] == only_column
            if is_in_line and cell not in placed and cell not in state.board:
                spots[cell] = _kinds_at(state.board, placed, cell)
    return spots


def _kinds_at(board: Board, placed: Mapping[Cell, Tile], cell: Cell) -> int:
    """Return the kinds that fit on a cell, some tiles lying beside the map's own."""
    row, column = cell
    left, right, above, below = (
        placed.get(side, board.get(side, KINDS))
        for side in ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))
    )
    return BETWEEN[left][right] & BETWEEN[above][below]
