"""Boards without edges: an observation shows only a window, and all squares outside it share one action.

The board of Q has no edge, but an array has. The window is centred on the tiles on the board, which fitted into it in
all games that were measured. A square outside it is still legal: the action `elsewhere` stands for it.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..games.base import Game, Step
from .base import Encoding, Vector

WINDOW = 31
"""Rows and columns of the window."""
CELLS = WINDOW * WINDOW
Cell = tuple[int, int]
"""(row, column)"""
_SLACK = WINDOW * (WINDOW // 2 + 1) + WINDOW // 2 + 1
"""Most places that the window moves in its row of numbers, in either direction, as long as all tiles fit: half of its
rows and half of a row, and a little more.
"""


class Window:
    """A square window on a board without edges, centred on what lies on the board.

    It follows one game: a board that continues the previous one is not drawn again. When the centre moves, all numbers
    move by the same distance, so the window only begins at another place in a longer row of numbers. That makes
    observing a position cheap enough to train with.

    Args:
        length: numbers of an observation: CELLS for each plane, and zeros behind them.
        signs: for each tile, its number in each plane.
    """

    def __init__(self, length: int, signs: NDArray[np.float32]) -> None:
        self._numbers, self._length, self._signs = np.zeros(length + 2 * _SLACK, np.float32), length, signs
        self._board: Mapping[Cell, int] | None = None
        self._cells: list[Cell] = []
        self._tiles: list[int] = []
        self._box = (0, 0, 0, 0)
        """Top row, left column, bottom row and right column of the tiles on the board."""
        self._corner: Cell = (0, 0)
        """The cell at the top left of the window."""
        self._begin_at(_SLACK)

    def _begin_at(self, place: int) -> None:
        """Let the window begin at a place in the row of numbers."""
        self._begin, planes = place, self._signs.shape[1]
        self.shown = self._numbers[place : place + self._length]
        """The window, and zeros after it."""
        self._planes = self.shown[: planes * CELLS].reshape(planes, CELLS)

    def _clear(self) -> None:
        """Show an empty board."""
        self._numbers[:] = 0
        self._begin_at(_SLACK)

    def follow(self, board: Mapping[Cell, int]) -> None:
        """Show a board: its tiles by cell, in the order in which they were laid."""
        if board is self._board:
            return
        cells, tiles, drawn = [*board], [*board.values()], len(self._cells)
        if not drawn or cells[:drawn] != self._cells or tiles[:drawn] != self._tiles:
            drawn = 0
            self._clear()
            self._box = (*cells[0], *cells[0]) if cells else (0, 0, 0, 0)
        self._board, self._cells, self._tiles = board, cells, tiles
        top, left, bottom, right = self._box
        new = cells[drawn:]
        if not drawn or any(not (top <= row <= bottom and left <= column <= right) for row, column in new):
            drawn = self._move(drawn)
            new = cells[drawn:]
        for cell, tile in zip(new, tiles[drawn:], strict=True):
            at = self.index(cell)
            if at < CELLS:
                self._planes[:, at] = self._signs[tile]

    def _move(self, known: int) -> int:
        """Centre the window, and return how many of the first cells are still drawn in it.

        Args:
            known: how many cells were drawn before.
        """
        rows, columns = zip(self._box[:2], self._box[2:], *self._cells[known:], strict=True)
        top, left, bottom, right = self._box = min(rows), min(columns), max(rows), max(columns)
        (row, column), half = self._corner, WINDOW // 2
        self._corner = (top + bottom) // 2 - half, (left + right) // 2 - half
        shift = (row - self._corner[0]) * WINDOW + column - self._corner[1]
        if not known or not shift:
            return known
        if max(bottom - top, right - left) >= WINDOW:
            self._clear()
            return 0
        self._begin_at(self._begin - shift)  # no tile leaves or enters the window: outside of it are only zeros
        return known

    def index(self, cell: Cell) -> int:
        """Return the index of a cell in the window, row by row; CELLS for every cell outside."""
        row, column = cell[0] - self._corner[0], cell[1] - self._corner[1]
        return row * WINDOW + column if 0 <= row < WINDOW and 0 <= column < WINDOW else CELLS


class WindowEncoding(Encoding):
    """The arrays of a game in which a tile is chosen, then its square on a board without edges.

    The window is the first part of an observation; the last two kinds of actions are `square` and `elsewhere`.
    """

    signs: ClassVar[NDArray[np.float32]]
    """For each tile, its number in each plane of the window."""
    choices: ClassVar[Mapping[Step, int]]
    """Actions of all steps that are not squares."""

    def __init__(self, game: Game[Any, Any, Any], options: Any, seats: int) -> None:
        super().__init__(game, options, seats)
        self._window = Window(self.length, self.signs)

    @abstractmethod
    def _board(self, state: Any) -> Mapping[Cell, int]:
        """Return the tiles on the board, in the order in which they were laid."""

    def _common(self, state: Any) -> Vector:
        """Return the window, and zeros for all other numbers."""
        self._window.follow(self._board(state))
        return self._window.shown

    def numbers(self, state: Any, steps: Sequence[Any]) -> Iterable[int]:
        """Return the actions of words and tiles, or of squares."""
        if not isinstance(steps[0], tuple):
            return map(self.choices.__getitem__, steps)
        self._window.follow(self._board(state))
        first = self._first["square"]
        return [first + self._window.index(cell) for cell in steps]
