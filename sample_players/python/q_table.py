"""A Q view as the strategies want it: map, hand, pile size; and moves back into plain data."""

from collections.abc import Sequence
from typing import Any

from referee.games.q.tiles import BY_NAME, NAMES, Cell, Tile

Placed = tuple[Cell, Tile]


def board_of(view: Any) -> dict[Cell, Tile]:
    """Return the map of a view: (row, column) -> tile."""
    return {(row, column): BY_NAME[name] for row, column, name in view["map"]}


def hand_of(view: Any) -> list[Tile]:
    """Return the hand of a view, in tile order: by shape, then by colour."""
    return sorted(BY_NAME[name] for name in view["hand"])


def place(placed: Sequence[Placed]) -> dict[str, Any]:
    """Return the plain move that lays tiles, one after the other."""
    return {"action": "place", "tiles": [[row, column, NAMES[tile]] for (row, column), tile in placed]}


def exchange_or_pass(view: Any) -> dict[str, Any]:
    """Return the plain exchange if the pile allows it, else the plain pass."""
    can_exchange = len(view["hand"]) <= view["tiles_left"]
    return {"action": "exchange" if can_exchange else "pass"}
