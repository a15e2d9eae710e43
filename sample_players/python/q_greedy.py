"""Greedy for the Q game: the placement with the most points this turn, found by searching whole placements.

The search is bounded by a number of placements, not by a clock, so that the same view always gives the same move; the
bound keeps a turn well within 100 ms.
"""

from collections.abc import Callable
from typing import Any

from referee.games.base import Game
from referee.games.q.tiles import Cell, Tile, frontier, misfit, placement_points

from .q_table import Placed, board_of, exchange_or_pass, extend_frontier, hand_of, place

MAX_PLACEMENTS = 1500
"""Placements scored in one turn at most: about 40 ms on a slow machine, and more than a hand of six usually has."""


class Search:
    """The search of one turn.

    Args:
        board: the map; (row, column) -> tile.
        hand: own tiles.
        q_bonus: points for completing a Q.
        finish_bonus: points for placing the whole hand.
    """

    def __init__(self, board: dict[Cell, Tile], hand: list[Tile], q_bonus: int, finish_bonus: int) -> None:
        self._board = board
        self._hand = hand
        self._q_bonus = q_bonus
        self._finish_bonus = finish_bonus
        self._seen: set[frozenset[Placed]] = set()
        self._left = MAX_PLACEMENTS
        self.best: list[Placed] = []
        self.best_points = -1

    def run(self) -> list[Placed]:
        """Return the best placement found; empty if no tile fits anywhere."""
        self._extend([], frontier(self._board))
        return self.best

    def _extend(self, placed: list[Placed], free: set[Cell]) -> None:
        """Try every next tile, the most promising first, and go on from each."""
        found = []
        for cell in self._candidates(placed, free):
            for tile in dict.fromkeys(self._hand):
                if misfit(self._board, cell, tile) is None:
                    points = self._try(placed, cell, tile)
                    if points is None:
                        return
                    if points:
                        found.append((-points, cell, tile))
        for _, cell, tile in sorted(found):
            if self._left <= 0:
                return
            self._board[cell] = tile
            self._hand.remove(tile)
            self._extend([*placed, (cell, tile)], extend_frontier(free, self._board, cell))
            del self._board[cell]
            self._hand.append(tile)
            self._hand.sort()

    def _candidates(self, placed: list[Placed], free: set[Cell]) -> list[Cell]:
        if not placed:
            return sorted(free)
        rows = {cell[0] for cell, _ in placed}
        columns = {cell[1] for cell, _ in placed}
        return sorted(
            cell for cell in free if (len(rows) == 1 and cell[0] in rows) or (len(columns) == 1 and cell[1] in columns)
        )

    def _try(self, placed: list[Placed], cell: Cell, tile: Tile) -> int | None:
        """Score one more tile.

        Returns:
            Its points, 0 if the same placement was scored before, None if the bound is reached.
        """
        key = frozenset([*placed, (cell, tile)])
        if key in self._seen:
            return 0
        if self._left <= 0:
            return None
        self._left -= 1
        self._seen.add(key)
        self._board[cell] = tile
        points = placement_points(self._board, [*(earlier for earlier, _ in placed), cell], self._q_bonus)
        del self._board[cell]
        if len(self._hand) == 1:
            points += self._finish_bonus
        if points > self.best_points:
            self.best_points = points
            self.best = [*placed, (cell, tile)]
        return points


def make_greedy(_game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""

    def _choose(view: Any) -> Any:
        placed = Search(board_of(view), hand_of(view), options.q_bonus, options.finish_bonus).run()
        return place(placed) if placed else exchange_or_pass(view)

    return _choose
