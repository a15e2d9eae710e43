"""Converts views of Q to the types of the strategies (map, hand), and moves back to plain data."""

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
    """Return the move that lays tiles, one after the other, as plain data."""
    return {"action": "place", "tiles": [[row, column, NAMES[tile]] for (row, column), tile in placed]}


def exchange_or_pass(view: Any) -> dict[str, Any]:
    """Return an exchange as plain data if the pile allows it, else a pass."""
    can_exchange = len(view["hand"]) <= view["tiles_left"]
    return {"action": "exchange" if can_exchange else "pass"}
