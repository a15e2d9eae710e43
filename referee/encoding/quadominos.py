"""Quad-Ominos as arrays: a tile as it is to lie, then its square.

The table has no edges: an observation shows a window around its middle. Squares beyond it have one action together,
which takes the first of them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ..games.base import Step
from ..games.quadominos.forms import View
from ..games.quadominos.tiles import BY_NAME, FACE_BY_NAME, FACES, TILES
from .base import WINDOW, Encoding, Part, Sparse, Window, from_own, points

_WORDS: dict[Step, int] = {"points": 0, "done": 1}
_ACTIONS: dict[Step, int] = {**_WORDS, **{name: len(_WORDS) + face for name, face in FACE_BY_NAME.items()}}
"""Of all steps but squares."""
_TASKS = ("open", "lay", "bonus", "second", "extra")
_CELLS = WINDOW * WINDOW
_SHOWN = {name: (1.0, *(int(number) / 5 for number in name)) for name in FACES}
"""By the numbers of a tile as it lies: that it is one, and its corners."""


class QuadOminosEncoding(Encoding):
    """The arrays of Quad-Ominos."""

    game = "quadominos"

    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""
        clockwise = "clockwise from the top left"
        yield Part(
            "table", (5, WINDOW, WINDOW), f"places with a tile; the number of each of its corners by 5, {clockwise}"
        )
        yield Part("hand", (len(TILES),), "own tiles, by their numbers ascending: 0000, 0001 ... 5555, without 0245")
        yield Part("tile", (5,), f"1 if a tile was chosen and has no place yet; its numbers by 5, {clockwise}")
        yield Part("task", (len(_TASKS),), f"what the seat to move is asked for: {', '.join(_TASKS)}")
        yield Part("additional", (1,), "additional tiles that it may still lay, by 2")
        yield Part("scores", (self.seats,), "points of each seat by 100, the own first, then in the order of turns")
        yield Part("hand_sizes", (self.seats,), "tiles of each seat by 30, in the same order")
        yield Part("well", (1,), "tiles left to draw, by 125")
        yield Part("round", (1,), "the number of the round by 100, at most 10")

    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""
        order = "0000; 0001, 0010, 0100, 1000; 0002 ... 5555: by tile, then turned"
        yield Part("word", (len(_WORDS),), "take 25 points, lay no more additional tiles")
        yield Part("tile", (len(FACES),), f"choose a tile as it is to lie, clockwise from the top left: {order}")
        yield Part("square", (_CELLS,), f"lay it: on each place of the window, row by row; {WINDOW} of {WINDOW}")
        yield Part("elsewhere", (1,), "lay it on the first place beyond the window where it fits")

    def _values(self, view: View, chosen: tuple[Any, ...]) -> Iterable[tuple[str, Any]]:
        """Yield the parts with their values."""
        window = Window(view.board)
        places: list[int] = []
        values: list[float] = []
        for row, column, name in view.board:
            at = window.index(row, column)
            if at < _CELLS:
                places += range(at, 5 * _CELLS, _CELLS)
                values += _SHOWN[name]
        yield "table", Sparse(places, values)
        yield "hand", Sparse([BY_NAME[name] for name in view.hand])
        if chosen:
            yield "tile", _SHOWN[chosen[0]]
        yield "task", Sparse([_TASKS.index(view.step)])
        yield "additional", view.additional / 2
        yield "scores", points(from_own(view.scores, view.seat))
        yield "hand_sizes", [size / 30 for size in from_own(view.hand_sizes, view.seat)]
        yield "well", view.well / len(TILES)
        yield "round", min(view.round / 100, 10)

    def numbers(self, view: View, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of words and tiles, or of squares."""
        if isinstance(steps[0], tuple):
            first, window = self._first["square"], Window(view.board)
            return [first + window.index(row, column) for row, column in steps]
        return map(_ACTIONS.__getitem__, steps)
