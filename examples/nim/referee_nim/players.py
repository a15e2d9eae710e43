"""House players of Nim."""

import random
from collections.abc import Callable
from functools import reduce
from operator import xor
from typing import Any

from referee.games.base import Game

Choose = Callable[[Any], Any]


def make_perfect(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Choose:
    """Make the player that leaves heaps whose exclusive or is 0, whenever that is possible."""
    return _perfect_move


def make_careless(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Choose:
    """Make the player that takes one object from any heap; the same seed makes the same choices."""
    chance = random.Random(seed)
    return lambda view: {"heap": chance.choice(_not_empty(view["heaps"])), "take": 1}


def _perfect_move(view: Any) -> Any:
    heaps = view["heaps"]
    total = reduce(xor, heaps)
    for heap, size in enumerate(heaps):
        if size ^ total < size:
            return {"heap": heap, "take": size - (size ^ total)}
    return {"heap": _not_empty(heaps)[0], "take": 1}


def _not_empty(heaps: list[int]) -> list[int]:
    return [heap for heap, size in enumerate(heaps) if size]
