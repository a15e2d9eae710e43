"""Finds good placements of the Q game quickly, by a beam search along rows and columns.

All tiles of a turn lie in one line. So the points of a tile across that line depend only on the map before the turn,
and are computed once. When a tile is added, only the line itself is examined again.
"""

from collections import Counter
from typing import NamedTuple

from referee.games.q.forms import Options, Place, Placement
from referee.games.q.tiles import BETWEEN, KINDS, NAMES, Board, Cell, Tile, open_spots, run_points, touches

Placed = tuple[tuple[Cell, Tile], ...]
WIDE = 300
"""A width that nearly always finds the most points; it takes about 40 ms on a slow machine for a hand of six."""
_ALL_KINDS = (1 << KINDS) - 1
_ALONG = ((0, 1), (1, 0))
"""(rows, columns) of one step along a row and along a column."""


class Rated(NamedTuple):
    """A placement and its points."""

    points: int
    placed: Placed
    """The tiles, in an order in which they can be laid."""


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
        options: options of the game, which have the bonuses.
        width: how many placements of each length are extended.
    """

    def __init__(self, board: Board, hand: tuple[Tile, ...], options: Options, width: int) -> None:
        self._before = board
        self._board = dict(board)
        self._hand = hand
        self._options = options
        self._width = width
        self._spots = dict(open_spots(board, set(hand)))
        self._lines: tuple[dict[int, list[Cell]], dict[int, list[Cell]]] = ({}, {})
        for cell in self._spots:
            for axis in (0, 1):
                self._lines[axis].setdefault(cell[axis], []).append(cell)
        self._known: dict[tuple[Cell, Tile, int], int] = {}

    def all(self) -> list[Rated]:
        """Return all placements found, those with the most points first."""
        level, seen = self._singles(), set[frozenset[tuple[Cell, Tile]]]()
        found: dict[frozenset[tuple[Cell, Tile]], Rated] = {}
        while level:
            for partial in level:
                found.setdefault(frozenset(partial.placed), Rated(partial.points, partial.placed))
            longer: list[_Partial] = []
            for partial in self._promising(level):
                longer += (further for further in self._extended(partial) if _add_new(further, seen))
            level = longer
        return sorted(found.values(), key=_by_points)

    def _promising(self, level: list[_Partial]) -> list[_Partial]:
        """Return the placements to extend: those with the most points, but only few in each line."""
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
        """Return the placements of single tiles; each comes twice, to be extended along its row and its column."""
        singles: list[_Partial] = []
        rests = [(tile, _without(self._hand, tile)) for tile in sorted(set(self._hand))]
        for cell, kinds in self._spots.items():
            for tile, rest in rests:
                if kinds >> tile & 1:
                    points = 1 + self._run_points(cell, tile, 0) + self._run_points(cell, tile, 1)
                    points += 0 if rest else self._options.finish_bonus
                    singles += (_Partial(points, ((cell, tile),), rest, axis) for axis in (0, 1))
        return singles

    def _extended(self, partial: _Partial) -> list[_Partial]:
        """Return all placements that add one tile to a placement, in its line."""
        axis, board = partial.axis, self._board
        board.update(partial.placed)
        found = []
        rests = [(tile, _without(partial.rest, tile)) for tile in dict.fromkeys(partial.rest)]
        held = sum(1 << tile for tile, _ in rests)
        for cell, kinds in self._cells(partial):
            if not kinds & held:
                continue
            before, after = _runs(board, cell, axis)
            joined = self._counted(partial, cell, before, after)
            for tile, rest in rests:
                if kinds >> tile & 1 and _fits(tile, before, after):
                    points = partial.points + 1 + self._points([*before, tile, *after]) - joined
                    points += self._run_points(cell, tile, 1 - axis) + (0 if rest else self._options.finish_bonus)
                    found.append(_Partial(points, (*partial.placed, (cell, tile)), rest, axis))
        for cell, _ in partial.placed:
            del board[cell]
        return found

    def _counted(self, partial: _Partial, cell: Cell, before: list[Tile], after: list[Tile]) -> int:
        """Return the points that were already counted for the runs next to a cell, because they hold new tiles."""
        at, along = cell[1 - partial.axis], [place[1 - partial.axis] for place, _ in partial.placed]
        points = 0
        if any(at - len(before) <= place < at for place in along):
            points += self._points(before)
        if any(at < place <= at + len(after) for place in along):
            points += self._points(after)
        return points

    def _cells(self, partial: _Partial) -> list[tuple[Cell, int]]:
        """Return the free cells of the line that touch a tile, each with the kinds that fit, ignoring new tiles."""
        axis = partial.axis
        down, right = _ALONG[axis]
        board, spots = self._board, self._spots
        cells = [(cell, spots[cell]) for cell in self._lines[axis].get(partial.placed[0][0][axis], ())]
        for (row, column), _ in partial.placed:
            cells += (
                (cell, _ALL_KINDS)
                for cell in ((row - down, column - right), (row + down, column + right))
                if not touches(self._before, cell)
            )
        return [(cell, kinds) for cell, kinds in dict(cells).items() if cell not in board]

    def _run_points(self, cell: Cell, tile: Tile, axis: int) -> int:
        """Return the points of the run through a new tile along an axis, without the other new tiles."""
        key = (cell, tile, axis)
        points = self._known.get(key)
        if points is None:
            before, after = _runs(self._board, cell, axis)
            points = self._known[key] = self._points([*before, tile, *after])
        return points

    def _points(self, run: list[Tile]) -> int:
        return run_points(run, self._options.q_bonus)


def laid(placed: Placed) -> Place:
    """Return the move that lays tiles, one after the other."""
    return Place([Placement(row, column, NAMES[tile]) for (row, column), tile in placed])


def _runs(board: Board, cell: Cell, axis: int) -> tuple[list[Tile], list[Tile]]:
    """Return the tiles on both sides of a free cell along an axis, each beginning with the nearest one."""
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
    """Return whether a tile agrees with its neighbours along one axis."""
    return bool(BETWEEN[before[0] if before else KINDS][after[0] if after else KINDS] >> tile & 1)


def _without(hand: tuple[Tile, ...], tile: Tile) -> tuple[Tile, ...]:
    at = hand.index(tile)
    return hand[:at] + hand[at + 1 :]


def _add_new(partial: _Partial, seen: set[frozenset[tuple[Cell, Tile]]]) -> bool:
    key = frozenset(partial.placed)
    if key in seen:
        return False
    seen.add(key)
    return True


def _by_points(rated: Rated | _Partial) -> int:
    return -rated.points
