"""Reads the move in an answer of a course player, for audits: without the code that took the answer."""

from typing import Any, Literal

import msgspec
from msgspec import Struct


class _Tile(Struct, forbid_unknown_fields=True):
    color: str
    shape: str


class _Spot(Struct, forbid_unknown_fields=True):
    row: int
    column: int


class _Placement(Struct, forbid_unknown_fields=True):
    coordinate: _Spot
    tile: _Tile = msgspec.field(name="1tile")


_ACTIONS = {"pass": {"action": "pass"}, "replace": {"action": "exchange"}}


def move_in_json(data: bytes) -> dict[str, Any] | None:
    """Return the plain move that bytes say as a JChoice; None if they are none.

    Source: The course CS4500 of Fall 2023, milestones 6 and 9: JChoice.
    """
    try:
        choice = msgspec.json.decode(data, type=Literal["pass", "replace"] | list[_Placement])
    except (ValueError, RecursionError):  # what msgspec raises is a ValueError, too
        return None
    if isinstance(choice, str):
        return _ACTIONS[choice]
    tiles = [
        [placement.coordinate.row, placement.coordinate.column, f"{placement.tile.color}-{placement.tile.shape}"]
        for placement in choice
    ]
    return {"action": "place", "tiles": tiles}
