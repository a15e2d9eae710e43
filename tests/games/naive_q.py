"""The rules of a placement once more, written from their description alone. Knows no engine; slow and plain.

A tile is its name, `colour-shape`; a map is a dict from (row, column) to a tile.
"""

from collections.abc import Iterable, Sequence

Cell = tuple[int, int]
Board = dict[Cell, str]
Placed = tuple[int, int, str]
"""Row, column, tile."""


def attributes(tile: str) -> tuple[str, str]:
    """Return a tile's colour and shape."""
    color, shape = tile.split("-")
    return color, shape


def sides(cell: Cell) -> list[Cell]:
    """Return the four cells beside a cell."""
    row, column = cell
    return [(row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column)]


def axis_fits(tile: str, neighbours: Iterable[str]) -> bool:
    """Tell whether all neighbours of one axis have the tile's colour, or all have its shape."""
    color, shape = attributes(tile)
    pairs = [attributes(neighbour) for neighbour in neighbours]
    return all(other[0] == color for other in pairs) or all(other[1] == shape for other in pairs)


def may_lie(board: Board, cell: Cell, tile: str) -> bool:
    """Tell whether a tile may be laid on a cell: free, beside the map, fitting in its row and in its column."""
    beside = sides(cell)
    if cell in board or not any(side in board for side in beside):
        return False
    row = [board[side] for side in beside[:2] if side in board]
    column = [board[side] for side in beside[2:] if side in board]
    return axis_fits(tile, row) and axis_fits(tile, column)


def owns(hand: Sequence[str], placed: Sequence[Placed]) -> bool:
    """Tell whether a hand holds the placed tiles, each as often as it is placed."""
    wanted = [tile for _, _, tile in placed]
    return all(wanted.count(tile) <= hand.count(tile) for tile in wanted)


def is_line(placed: Sequence[Placed]) -> bool:
    """Tell whether all placed tiles lie in one row or one column."""
    return len({row for row, _, _ in placed}) == 1 or len({column for _, column, _ in placed}) == 1


def result(board: Board, hand: Sequence[str], placed: Sequence[Placed]) -> Board | None:
    """Return the map after a placement; None if the placement is illegal."""
    if not placed or not owns(hand, placed) or not is_line(placed):
        return None
    after = dict(board)
    for row, column, tile in placed:
        if not may_lie(after, (row, column), tile):
            return None
        after[row, column] = tile
    return after


def runs(board: Board) -> list[list[Cell]]:
    """Return every maximal run of the whole map, of rows and of columns."""
    found = []
    for row, column in board:
        if (row, column - 1) not in board:
            run = [(row, column)]
            while (row, run[-1][1] + 1) in board:
                run.append((row, run[-1][1] + 1))
            found.append(run)
        if (row - 1, column) not in board:
            run = [(row, column)]
            while (run[-1][0] + 1, column) in board:
                run.append((run[-1][0] + 1, column))
            found.append(run)
    return found


def score(after: Board, hand: Sequence[str], placed: Sequence[Placed], q_bonus: int, finish_bonus: int) -> int:
    """Return the points of a legal placement.

    Args:
        after: the map with the placement.
        hand: before the placement.
        placed: the placement.
        q_bonus: for each completed Q.
        finish_bonus: for laying the whole hand.
    """
    new = {(row, column) for row, column, _ in placed}
    points = len(placed)
    for run in runs(after):
        if len(run) < 2 or not new & set(run):
            continue
        points += len(run)
        colors, shapes = zip(*(attributes(after[cell]) for cell in run), strict=True)
        if len(run) == 6 and (len(set(colors)) == 6 or len(set(shapes)) == 6):
            points += q_bonus
    return points + (finish_bonus if len(placed) == len(hand) else 0)
