"""Good placements of the Q game, quickly: a beam search along rows and columns. Knows tiles; refuses to know turns.

All tiles of a turn lie in one line. So what a tile earns across that line depends on the map before the turn alone, is
looked up once, and only the line itself is looked at again when a tile is added to it.
"""

from collections import Counter
from typing import NamedTuple

from referee.games.q_tiles import Board, Cell, Tile, frontier

Placed = tuple[tuple[Cell, Tile], ...]
_Q_LENGTH = 6
_ALONG = ((0, 1), (1, 0))
"""(rows, columns) of one step along a row and along a column."""


class Rated(NamedTuple):
    """A placement and what it scores."""

    points: int
    placed: Placed
    """In an order in which they can be laid."""


class _Partial(NamedTuple):
    points: int
    placed: Placed
    rest: tuple[Tile, ...]
    axis: int


class Placements:
    """The placements of one hand.

    Args:
        board: the map.
        hand: the tiles.
        q_bonus: points for completing a Q.
        finish_bonus: points for placing the whole hand.
        width: how many placements of each length are extended.
    """

    def __init__(self, board: Board, hand: tuple[Tile, ...], q_bonus: int, finish_bonus: int, width: int) -> None:
        self._board = dict(board)
        self._hand = hand
        self._q_bonus = q_bonus
        self._finish_bonus = finish_bonus
        self._width = width
        self._free = sorted(frontier(board))
        self._lines: tuple[dict[int, list[Cell]], dict[int, list[Cell]]] = ({}, {})
        for cell in self._free:
            for axis in (0, 1):
                self._lines[axis].setdefault(cell[axis], []).append(cell)
        self._known: dict[tuple[Cell, Tile, int], int | None] = {}

    def all(self) -> list[Rated]:
        """Return the placements that were found, those with the most points first."""
        level, seen = self._singles(), set[frozenset[tuple[Cell, Tile]]]()
        found: dict[frozenset[tuple[Cell, Tile]], Rated] = {}
        while level:
            for partial in level:
                found.setdefault(frozenset(partial.placed), Rated(partial.points, partial.placed))
            longer: list[_Partial] = []
            for partial in self._promising(level):
                longer += (one for one in self._extended(partial) if _is_new(one, seen))
            level = longer
        return sorted(found.values(), key=_by_points)

    def _promising(self, level: list[_Partial]) -> list[_Partial]:
        """Return the placements that are extended: those with the most points, few of each line."""
        kept: list[_Partial] = []
        per_line = max(2, self._width // 6)
        lines: Counter[tuple[int, int]] = Counter()
        for partial in sorted(level, key=_by_points):
            line = partial.axis, partial.placed[0][0][partial.axis]
            if lines[line] < per_line:
                lines[line] += 1
                kept.append(partial)
        return kept[: self._width]

    def _singles(self) -> list[_Partial]:
        """Return what single tiles score, each once for its row and once for its column, as they can be extended."""
        singles: list[_Partial] = []
        for cell in self._free:
            for tile in sorted(set(self._hand)):
                runs = self._run_points(cell, tile, 0), self._run_points(cell, tile, 1)
                if runs[0] is None or runs[1] is None:
                    continue
                rest = _without(self._hand, tile)
                points = 1 + runs[0] + runs[1] + (0 if rest else self._finish_bonus)
                singles += (_Partial(points, ((cell, tile),), rest, axis) for axis in (0, 1))
        return singles

    def _extended(self, partial: _Partial) -> list[_Partial]:
        """Return a placement with each one more tile in its line."""
        axis, board = partial.axis, self._board
        board.update(partial.placed)
        found = []
        for cell in self._cells(partial):
            before, after = _runs(board, cell, axis)
            joined = self._counted(partial, cell, before, after)
            for tile in dict.fromkeys(partial.rest):
                if not _fits(tile, before, after):
                    continue
                across = self._run_points(cell, tile, 1 - axis)
                if across is None:
                    continue
                rest = _without(partial.rest, tile)
                points = partial.points + 1 + across + self._points([*before, tile, *after]) - joined
                points += 0 if rest else self._finish_bonus
                found.append(_Partial(points, (*partial.placed, (cell, tile)), rest, axis))
        for cell, _ in partial.placed:
            del board[cell]
        return found

    def _counted(self, partial: _Partial, cell: Cell, before: list[Tile], after: list[Tile]) -> int:
        """Return what the runs beside a cell of the line score already, as they hold new tiles."""
        at, along = cell[1 - partial.axis], [one[1 - partial.axis] for one, _ in partial.placed]
        points = 0
        if any(at - len(before) <= one < at for one in along):
            points += self._points(before)
        if any(at < one <= at + len(after) for one in along):
            points += self._points(after)
        return points

    def _cells(self, partial: _Partial) -> list[Cell]:
        """Return the free cells of the line that touch a tile, the placed ones included."""
        axis = partial.axis
        down, right = _ALONG[axis]
        cells = {*self._lines[axis].get(partial.placed[0][0][axis], ())}
        for (row, column), _ in partial.placed:
            cells.add((row - down, column - right))
            cells.add((row + down, column + right))
        return [cell for cell in cells if cell not in self._board]

    def _run_points(self, cell: Cell, tile: Tile, axis: int) -> int | None:
        """Return what the run through a new tile along an axis scores, before any other; None if it does not fit."""
        key = (cell, tile, axis)
        if key not in self._known:
            before, after = _runs(self._board, cell, axis)
            self._known[key] = self._points([*before, tile, *after]) if _fits(tile, before, after) else None
        return self._known[key]

    def _points(self, run: list[Tile]) -> int:
        if len(run) < 2:
            return 0
        if len(run) != _Q_LENGTH:
            return len(run)
        is_q = len({tile // 6 for tile in run}) == _Q_LENGTH or len({tile % 6 for tile in run}) == _Q_LENGTH
        return len(run) + (self._q_bonus if is_q else 0)


def _runs(board: Board, cell: Cell, axis: int) -> tuple[list[Tile], list[Tile]]:
    """Return the tiles on both sides of a free cell along an axis, each from the nearest one on."""
    down, right = _ALONG[axis]
    look = board.get
    row, column = cell
    before, after = [], []
    while (tile := look((row := row - down, column := column - right))) is not None:
        before.append(tile)
    row, column = cell
    while (tile := look((row := row + down, column := column + right))) is not None:
        after.append(tile)
    return before, after


def _fits(tile: Tile, before: list[Tile], after: list[Tile]) -> bool:
    """Tell whether a tile agrees with its neighbours along one axis, all in shape or all in colour."""
    one = before[0] if before else after[0] if after else tile
    other = after[0] if after else one
    return one // 6 == tile // 6 == other // 6 or one % 6 == tile % 6 == other % 6


def _without(hand: tuple[Tile, ...], tile: Tile) -> tuple[Tile, ...]:
    at = hand.index(tile)
    return hand[:at] + hand[at + 1 :]


def _is_new(partial: _Partial, seen: set[frozenset[tuple[Cell, Tile]]]) -> bool:
    key = frozenset(partial.placed)
    if key in seen:
        return False
    seen.add(key)
    return True


def _by_points(rated: Rated | _Partial) -> int:
    return -rated.points
