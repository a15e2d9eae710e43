"""Moves of Quad-Ominos by steps: a tile as it is to lie, then its square.

A step is a word (`points`, `done`), the four numbers of a tile, or a square, `(row, column)`.
"""

from collections.abc import Sequence
from typing import Any

from ..base import Step
from ..drawing import square_name
from . import rounds, tiles
from .forms import Done, Lay, Move, Points
from .rounds import MIDDLE, State
from .tiles import FACE_BY_NAME, FACES, TILE_OF, TILES

_MOVES: dict[Step, Move] = {"points": Points(), "done": Done()}
_WORDS: dict[str, list[Step]] = {"bonus": ["points"], "extra": ["done"]}
"""By what the seat is asked for."""


def legal_steps(state: State, chosen: tuple[Any, ...]) -> Sequence[Step]:
    """Return what may be chosen after some steps of a move; see `Game.legal_steps`."""
    hand, table = state.hands[state.order[0]], state.table
    if state.step == "open":
        return [MIDDLE] if chosen else [TILES[tile] for tile in rounds.opening_quads(hand)]
    if chosen:
        face = FACE_BY_NAME[chosen[0]]
        cells = tiles.cells_for(table, face)
        if state.step != "bonus":
            return cells
        held = tiles.faces_of(hand)
        return [cell for cell in cells if tiles.can_follow(table, held, cell, face)]
    if state.step == "bonus":
        found = sorted({face for _, face in tiles.firsts_of_two(table, hand)})
    else:
        found = tiles.each_face(table.wanted() & tiles.faces_of(hand))
    return [*_WORDS.get(state.step, ()), *map(FACES.__getitem__, found)]


def places_of(step: Any) -> tuple[str, ...]:
    """Return what is touched to choose a step."""
    if not isinstance(step, str):
        return (square_name(*step),)
    if step not in FACE_BY_NAME:
        return (step,)
    return TILES[TILE_OF[FACE_BY_NAME[step]]], f"{step[:2]} over {step[:1:-1]}"


def move_of(chosen: tuple[Any, ...]) -> Move | None:
    """Return the move that steps make, or None while it is not whole."""
    if len(chosen) == 2:
        tile, (row, column) = chosen
        return Lay(row, column, tile)
    return _MOVES.get(chosen[0]) if chosen else None


def steps_of(move: Move) -> tuple[Step, ...]:
    """Return the steps that make a move."""
    if isinstance(move, Lay):
        return move.tile, (move.row, move.column)
    return ("points",) if isinstance(move, Points) else ("done",)
