"""The tiles and the map of the Q game: where a tile fits, and what a placement scores."""

# A tile is represented by its kind, a number from 0 to 35: shape * 6 + colour. So tiles are sorted by shape, then by
# colour. The cost of a check depends on the placed tiles and the runs that they touch, not on the size of the map. This
# matters to a player that looks ahead and checks thousands of moves.

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

SHAPES = ("star", "8star", "square", "circle", "clover", "diamond")
COLORS = ("red", "green", "blue", "yellow", "orange", "purple")
TILES_PER_KIND = 30
KINDS = 36
ALL_TILES = tuple(kind for kind in range(KINDS) for _ in range(TILES_PER_KIND))

Tile = int
Cell = tuple[int, int]
"""(row, column); the first tile of a game lies on (0, 0), rows grow downwards, columns to the right."""
Board = Mapping[Cell, Tile]
"""(row, column) -> tile; sparse, at most 1080 entries."""

NAMES = tuple(f"{COLORS[kind % 6]}-{SHAPES[kind // 6]}" for kind in range(KINDS))
BY_NAME = {name: kind for kind, name in enumerate(NAMES)}

NEIGHBOURS = ((-1, 0), (0, -1), (0, 1), (1, 0))
"""Steps to the four sides, in row-column order."""

_Q_LENGTH = 6
_SHAPE = tuple(kind // 6 for kind in range(KINDS))
_COLOR = tuple(kind % 6 for kind in range(KINDS))


def _between() -> tuple[tuple[int, ...], ...]:
    """Return a table of the tiles that fit between two neighbours, as bits; the last index stands for no neighbour."""
    bits = [1 << tile for tile in range(KINDS)]
    alike = {
        (of, value): sum(bit for bit, other in zip(bits, of, strict=True) if other == value)
        for of in (_SHAPE, _COLOR)
        for value in range(6)
    }
    one_side = [alike[_SHAPE, _SHAPE[kind]] | alike[_COLOR, _COLOR[kind]] for kind in range(KINDS)]

    # A tile has to agree with both neighbours in the same attribute. Between a red star and a red circle, only red
    # tiles fit. A green star agrees with one of them only, so it does not fit.
    def _both(one: Tile, other: Tile) -> int:
        shared = (alike[of, of[one]] for of in (_SHAPE, _COLOR) if of[one] == of[other])
        return reduce(or_, shared, 0)

    rows = [(*(_both(kind, other) for other in range(KINDS)), one_side[kind]) for kind in range(KINDS)]
    return (*rows, (*one_side, sum(bits)))


# To compare shapes and colours of two neighbours would be clearer, and the naive rules in the tests do so. But this
# table gives the answer for all 36 kinds at once, and a search needs it for every free cell.
BETWEEN = _between()
"""BETWEEN[one][other]: the kinds, as bits, that fit between two neighbours of one axis; KINDS stands for no neighbour.
"""


def misfit(board: Board, cell: Cell, tile: Tile) -> str | None:
    """Return the axis on which a tile disagrees with its neighbours.

    Args:
        board: the map before this tile.
        cell: a free (row, column).
        tile: the tile to be placed there.

    Returns:
        "row", "column", or None if the tile fits. Every tile fits on a cell without neighbours.

    Source: The Q Game, "Playing a Turn", second and third condition of a placement. The official page withdraws the
    second one ("all its immediate neighbors"). So row and column are checked separately, and may use different
    attributes.
    """
    row, column = cell
    look = board.get
    if not BETWEEN[look((row, column - 1), KINDS)][look((row, column + 1), KINDS)] >> tile & 1:
        return "row"
    if not BETWEEN[look((row - 1, column), KINDS)][look((row + 1, column), KINDS)] >> tile & 1:
        return "column"
    return None


def fitting_kinds(board: Board, cell: Cell) -> int:
    """Return the kinds that agree with all neighbours of a free cell, a bit for each."""
    row, column = cell
    look = board.get
    kinds = BETWEEN[look((row, column - 1), KINDS)][look((row, column + 1), KINDS)]
    return kinds and kinds & BETWEEN[look((row - 1, column), KINDS)][look((row + 1, column), KINDS)]


class Openings:
    """The openings of a map, computed on demand: players that look ahead need them, but the referee does not.

    They follow from the map, so all Openings compare as equal, and only the maps of two states decide.
    """

    __slots__ = ("_known", "_since")

    def __init__(self, known: dict[Cell, int] | None = None, since: tuple[Cell, ...] = ()) -> None:
        self._known = known
        self._since = since

    def __eq__(self, other: object) -> bool:
        """Return True for any other Openings."""
        return isinstance(other, Openings)

    def __hash__(self) -> int:
        """Return the same value for all openings."""
        return 0

    def __repr__(self) -> str:
        return "Openings()"

    def after(self, cells: Iterable[Cell]) -> "Openings":
        """Return the openings after tiles were laid on some cells."""
        return Openings() if self._known is None else Openings(self._known, (*self._since, *cells))

    def compute(self, board: Board) -> dict[Cell, int]:
        """Return the free cells next to the map where a tile fits -> the kinds that fit, as bits."""
        earlier = openings(board) if self._known is None else self._known
        self._known = update_openings(earlier, board, self._since) if self._since else earlier
        self._since = ()
        return self._known


def openings(board: Board) -> dict[Cell, int]:
    """Return the free cells next to the map where a tile fits -> the kinds that fit, as bits."""
    return dict(open_spots(board, range(KINDS)))


def update_openings(before: dict[Cell, int], board: Board, cells: Iterable[Cell]) -> dict[Cell, int]:
    """Update the openings after tiles were laid. Only the cells around the new tiles change."""
    after = before.copy()  # `{**before}` would insert every cell again, and take seven times as long
    for row, column in cells:
        after.pop((row, column), None)
        for cell in ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)):
            if cell not in board:
                kinds = fitting_kinds(board, cell)
                if kinds:
                    after[cell] = kinds
                else:
                    after.pop(cell, None)
    return after


def open_spots(board: Board, held: Iterable[Tile]) -> list[tuple[Cell, int]]:
    """Return the free cells where at least one of some tiles fits, in row-column order.

    Args:
        board: the map.
        held: the kinds of the tiles.

    Returns:
        Pairs of a cell and the kinds that fit there, as bits.
    """
    wanted = sum(1 << tile for tile in held)
    return sorted((cell, kinds) for cell in frontier(board) if (kinds := wanted & fitting_kinds(board, cell)))


def touches(board: Board, cell: Cell) -> bool:
    """Return whether a cell shares a side with a tile of the map."""
    row, column = cell
    return (
        (row - 1, column) in board
        or (row, column - 1) in board
        or (row, column + 1) in board
        or (row + 1, column) in board
    )


def neighbour_count(board: Board, cell: Cell) -> int:
    """Count the occupied neighbours of a cell, 0 to 4."""
    row, column = cell
    return sum((row + down, column + right) in board for down, right in NEIGHBOURS)


def frontier(board: Board) -> set[Cell]:
    """Return every free cell that shares a side with a tile of the map."""
    near: set[Cell] = set()
    add = near.add
    for row, column in board:
        add((row - 1, column))
        add((row, column - 1))
        add((row, column + 1))
        add((row + 1, column))
    return near - board.keys()


def spots(board: Board, tile: Tile, free: Iterable[Cell]) -> list[Cell]:
    """Return the cells of a map's frontier where a tile fits, in row-column order."""
    return sorted(cell for cell in free if misfit(board, cell, tile) is None)


def in_line(cells: Sequence[Cell]) -> bool:
    """Return whether all cells lie in one row or in one column."""
    return len({row for row, _ in cells}) == 1 or len({column for _, column in cells}) == 1


def _first_of_run(board: Board, cell: Cell, down: int, right: int) -> Cell:
    """Return the first cell of the contiguous run through a cell along one axis."""
    row, column = cell
    while (row - down, column - right) in board:
        row, column = row - down, column - right
    return row, column


def _run(board: Board, first: Cell, down: int, right: int) -> list[Tile]:
    """Return the tiles of the run that begins with a cell, in order."""
    row, column = first
    tiles = []
    while (tile := board.get((row, column))) is not None:
        tiles.append(tile)
        row, column = row + down, column + right
    return tiles


def run_points(run: Sequence[Tile], q_bonus: int) -> int:
    """Return the points of a run: a row or a column without gaps. A single tile is no run and scores nothing.

    Args:
        run: tiles of the run.
        q_bonus: points if the run is a Q.
    """
    if len(run) != _Q_LENGTH:
        return len(run) if len(run) > 1 else 0
    is_q = len({_SHAPE[tile] for tile in run}) == _Q_LENGTH or len({_COLOR[tile] for tile in run}) == _Q_LENGTH
    return _Q_LENGTH + (q_bonus if is_q else 0)


def placement_points(board: Board, cells: Sequence[Cell], q_bonus: int) -> int:
    """Score a placement, without the bonus for finishing.

    Args:
        board: the map with the placed tiles.
        cells: cells of the placed tiles.
        q_bonus: points for a completed Q.

    Returns:
        The sum of one point for each placed tile, the length of each run of two or more tiles with a new tile, and the
        bonus for each such run of exactly six tiles with all shapes or all colours. Each run counts once.

    Source: The Q Game, "Scoring a Turn".
    """
    points = len(cells)
    # A run is identified by its first cell, so that a run with several new tiles is counted once.
    for down, right in ((0, 1), (1, 0)):
        for first in {_first_of_run(board, cell, down, right) for cell in cells}:
            points += run_points(_run(board, first, down, right), q_bonus)
    return points
