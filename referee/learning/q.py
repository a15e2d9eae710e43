"""The Q game as arrays. A move takes several steps: a tile, its square, then another tile or the end of the placement.

The map has no edges: an observation shows a window around its middle. All squares outside the window share one action,
which stands for the first of them where the tile fits.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..games.base import Step
from ..games.q.forms import State
from ..games.q.game import EXCHANGE, PASS, STOP, read_steps
from ..games.q.tiles import ALL_TILES, BY_NAME, COLORS, KINDS, SHAPES, Tile
from .base import Part, Vector, from_own, points
from .window import CELLS, WINDOW, Cell, WindowEncoding

# The map has a plane for each shape and each colour, not for each kind of tile: twelve planes instead of thirty-six.
# Whether tiles fit depends only on shape and colour. So a network need not learn which kinds have a colour in common.
_WORDS: dict[Step, int] = {PASS: 0, EXCHANGE: 1, STOP: 2}
_ACTIONS: dict[Step, int] = {**_WORDS, **{name: len(_WORDS) + kind for name, kind in BY_NAME.items()}}
_MARKED = len(SHAPES) + len(COLORS)
"""Plane of the tiles of the present move."""


def _planes(tile: Tile) -> tuple[int, int]:
    """Return the planes of a tile's shape and colour."""
    shape, color = divmod(tile, len(COLORS))
    return shape, len(SHAPES) + color


class QEncoding(WindowEncoding):
    """The arrays of the Q game."""

    game = "q"
    signs = np.array([[plane in _planes(tile) for plane in range(_MARKED + 1)] for tile in range(KINDS)], np.float32)
    choices = _ACTIONS

    def _parts(self) -> Iterable[Part]:
        planes = f"tiles by shape ({', '.join(SHAPES)}), then by colour ({', '.join(COLORS)}), then this move's tiles"
        yield Part("map", (_MARKED + 1, WINDOW, WINDOW), planes)
        yield Part(
            "hand", (KINDS,), "own tiles of each kind, without this move's tiles, divided by 6; by shape, then colour"
        )
        yield Part("tile", (KINDS,), "1 for the chosen tile, as long as it has no square")
        yield Part(
            "scores", (self.seats,), "points of each seat, divided by 100; own seat first, then in the order of turns"
        )
        yield Part("tiles_left", (1,), "tiles left to draw, divided by 1080")

    def _kinds(self) -> Iterable[Part]:
        yield Part("word", (len(_WORDS),), "pass, exchange, end the placement")
        yield Part("tile", (KINDS,), "choose a tile: by shape, then colour")
        yield Part(
            "square", (CELLS,), f"lay the chosen tile on a square of the window: row by row, {WINDOW} by {WINDOW}"
        )
        yield Part("elsewhere", (1,), "lay the chosen tile on the first square outside the window where it fits")

    def _board(self, state: State) -> Mapping[Cell, int]:
        return state.board

    def _mark(self, vector: Vector, state: State, seat: int, chosen: tuple[Any, ...]) -> None:
        """Mark the tiles of the present move."""
        for cell, tile in read_steps(chosen).items():
            at = self._window.index(cell)
            if at < CELLS:
                vector[[plane * CELLS + at for plane in (*_planes(tile), _MARKED)]] = 1

    def _last(self, state: State, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return all numbers except those of the map."""
        held, tile = [0] * KINDS, [0] * KINDS
        for kind in state.hands[seat]:
            held[kind] += 1
        for name in chosen[::2]:
            held[BY_NAME[name]] -= 1
        if len(chosen) % 2:
            tile[BY_NAME[chosen[-1]]] = 1
        scores = points(from_own(state.scores, seat))
        return [*(count / 6 for count in held), *tile, *scores, len(state.pile) / len(ALL_TILES)]
