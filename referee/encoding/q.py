"""The Q game as arrays: a tile, its square, then another tile or the end of the placement.

The map has no edges: an observation shows a window around its middle. Squares beyond it have one action together, which
takes the first of them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..games.base import Step
from ..games.q.forms import View
from ..games.q.steps import EXCHANGE, PASS, STOP
from ..games.q.tiles import ALL_TILES, BY_NAME, COLORS, KINDS, SHAPES
from .base import WINDOW, Encoding, Part, Sparse, Window, from_own, points

_WORDS: dict[Step, int] = {PASS: 0, EXCHANGE: 1, STOP: 2}
_ACTIONS: dict[Step, int] = {**_WORDS, **{name: len(_WORDS) + kind for name, kind in BY_NAME.items()}}
"""Of all steps but squares."""
_CELLS = WINDOW * WINDOW


class QEncoding(Encoding):
    """The arrays of the Q game."""

    game = "q"

    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""
        planes = f"tiles by shape ({', '.join(SHAPES)}), by colour ({', '.join(COLORS)}), and those of the move so far"
        yield Part("map", (len(SHAPES) + len(COLORS) + 1, WINDOW, WINDOW), planes)
        yield Part("hand", (KINDS,), "own tiles of each kind by 6, without those of the move so far: by shape, colour")
        yield Part("tile", (KINDS,), "the tile that was chosen and has no square yet")
        yield Part("scores", (self.seats,), "points of each seat by 100, the own first, then in the order of turns")
        yield Part("tiles_left", (1,), "tiles left to hand out, by 1080")

    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""
        yield Part("word", (len(_WORDS),), "pass, exchange, end the placement")
        yield Part("tile", (KINDS,), "choose a tile: by shape, then colour")
        yield Part("square", (_CELLS,), f"lay it: on each square of the window, row by row; {WINDOW} of {WINDOW}")
        yield Part("elsewhere", (1,), "lay it on the first square beyond the window where it fits")

    def _values(self, view: View, chosen: tuple[Any, ...]) -> Iterable[tuple[str, Any]]:
        """Yield the parts with their values."""
        window = Window(view.map)
        placed = [(row, column, name) for name, (row, column) in zip(chosen[::2], chosen[1::2], strict=False)]
        ones: list[int] = []
        for row, column, name in (*view.map, *placed):
            at = window.index(row, column)
            if at < _CELLS:
                shape, color = divmod(BY_NAME[name], len(COLORS))
                ones += (shape * _CELLS + at, (len(SHAPES) + color) * _CELLS + at)
        marked = (window.index(row, column) for row, column, _ in placed)
        ones += ((len(SHAPES) + len(COLORS)) * _CELLS + at for at in marked if at < _CELLS)
        yield "map", Sparse(ones)
        held = Counter(map(BY_NAME.__getitem__, view.hand))
        held.subtract(BY_NAME[name] for name in chosen[::2])
        yield "hand", [held[kind] / 6 for kind in range(KINDS)]
        yield "tile", Sparse([BY_NAME[chosen[-1]]] if len(chosen) % 2 else [])
        yield "scores", points(from_own(view.scores, view.seat))
        yield "tiles_left", view.tiles_left / len(ALL_TILES)

    def numbers(self, view: View, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of words and tiles, or of squares."""
        if isinstance(steps[0], tuple):
            first, window = self._first["square"], Window(view.map)
            return [first + window.index(row, column) for row, column in steps]
        return map(_ACTIONS.__getitem__, steps)
