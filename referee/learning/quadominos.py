"""Quad-Ominos as arrays. A tile is laid in two steps: first the tile with its rotation, then its square.

The table has no edges: an observation shows a window around its middle. All squares outside the window share one
action, which stands for the first of them where the tile fits.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..games.base import Step
from ..games.quadominos.rounds import State
from ..games.quadominos.tiles import FACE_BY_NAME, FACES, TILES
from .base import Part, Vector, from_own, points
from .window import CELLS, WINDOW, Cell, WindowEncoding

_WORDS: dict[Step, int] = {"points": 0, "done": 1}
_ACTIONS: dict[Step, int] = {**_WORDS, **{name: len(_WORDS) + face for name, face in FACE_BY_NAME.items()}}
_TASKS = ("open", "lay", "bonus", "second", "extra")
_ASKED = {task: [float(task == other) for other in _TASKS] for task in _TASKS}
_NO_TILE = (0.0,) * 5
_SHOWN = [(1.0, *(int(number) / 5 for number in name)) for name in FACES]
"""Numbers of each face: a 1, which means that there is a tile, then its corners, divided by 5."""


class QuadOminosEncoding(WindowEncoding):
    """The arrays of Quad-Ominos."""

    game = "quadominos"
    signs = np.array(_SHOWN, np.float32)
    choices = _ACTIONS
    _known: State | None = None
    """State of the last observation."""
    _knower = -1
    """Seat of the last observation."""

    def _parts(self) -> Iterable[Part]:
        clockwise = "clockwise from the top left"
        yield Part(
            "table",
            (5, WINDOW, WINDOW),
            f"1 for each place with a tile; then the number at each corner, divided by 5, {clockwise}",
        )
        yield Part("hand", (len(TILES),), "own tiles, in ascending order: 0000, 0001 ... 5555, without 0245")
        yield Part("tile", (5,), f"1 if a chosen tile has no place yet; its numbers divided by 5, {clockwise}")
        yield Part("task", (len(_TASKS),), f"what the seat to move must do: {', '.join(_TASKS)}")
        yield Part("additional", (1,), "additional tiles that the seat to move may still lay, divided by 2")
        yield Part(
            "scores", (self.seats,), "points of each seat, divided by 100; own seat first, then in the order of turns"
        )
        yield Part("hand_sizes", (self.seats,), "tiles of each seat, divided by 30, in the same order")
        yield Part("well", (1,), "tiles left to draw, divided by 125")
        yield Part("round", (1,), "the number of the round, divided by 100, at most 10")

    def _kinds(self) -> Iterable[Part]:
        order = "0000; 0001, 0010, 0100, 1000; 0002 ... 5555: by tile, then rotation"
        yield Part("word", (len(_WORDS),), "take 25 points, stop laying additional tiles")
        yield Part("tile", (len(FACES),), f"choose a tile and its rotation, clockwise from the top left: {order}")
        yield Part(
            "square", (CELLS,), f"lay the chosen tile on a place of the window: row by row, {WINDOW} by {WINDOW}"
        )
        yield Part("elsewhere", (1,), "lay the chosen tile on the first place outside the window where it fits")

    def _board(self, state: State) -> Mapping[Cell, int]:
        return state.table.board

    def _mark(self, vector: Vector, state: State, seat: int, chosen: tuple[Any, ...]) -> None:
        """Mark the seat's tiles."""
        held, _ = self._of_both_steps(state, seat)
        vector[held] = 1

    def _last(self, state: State, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return all numbers except those of the table and the hand."""
        _, rest = self._of_both_steps(state, seat)
        return [*(_SHOWN[FACE_BY_NAME[chosen[0]]] if chosen else _NO_TILE), *rest]

    def _of_both_steps(self, state: State, seat: int) -> tuple[NDArray[np.intp], list[float]]:
        """Return the indices of the seat's tiles, and the numbers after the chosen tile.

        They are the same for both steps of a move, so they are computed once.
        """
        if state is not self._known or seat != self._knower:
            self._known, self._knower = state, seat
            first = self._at["hand"]
            self._both = (
                np.array([first + tile for tile in state.hands[seat]], np.intp),
                [
                    *_ASKED[state.step],
                    state.additional / 2,
                    *points(from_own(state.scores, seat)),
                    *[len(hand) / 30 for hand in from_own(state.hands, seat)],
                    len(state.well) / len(TILES),
                    min(state.round / 100, 10),
                ],
            )
        return self._both
