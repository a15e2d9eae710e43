"""The games: finds the legal moves from the view alone, and rates each of them.

The function of each game takes a view and returns pairs (value, move), where a simple heuristic gives the value.
`referee list GAME` prints a game's rules; `referee list GAME --schema` prints the form of its views and moves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

View = Mapping[str, Any]
Rated = tuple[int, dict[str, Any]]
"""(value, move)."""
Cell = tuple[int, int]
"""(row, column)."""
SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))
LINES = ((0, 1), (1, 0), (1, 1), (1, -1))


def free_cells(board: Mapping[Cell, Any]) -> list[Cell]:
    """Return the free cells next to an occupied cell, each once."""
    near = ((row + down, column + right) for row, column in board for down, right in SIDES)
    return [cell for cell in dict.fromkeys(near) if cell not in board]


# --- q: place tiles in a line, exchange the hand, or pass


def q(view: View) -> list[Rated]:
    """Return a pass, an exchange if it is allowed, and placements along a row or a column."""
    board = {(row, column): tile for row, column, tile in view["map"]}
    moves: list[Rated] = [(-2, {"action": "pass"})]
    if len(view["hand"]) <= view["tiles_left"]:
        moves.append((-1, {"action": "exchange"}))
    for cell, tile in product(free_cells(board), sorted(set(view["hand"]))):
        if fits(board, cell, tile):
            moves += [placement(board, view["hand"], cell, tile, axis) for axis in ((0, 1), (1, 0))]
    return moves


def near(board: Mapping[Cell, str], cell: Cell) -> list[list[str]]:
    """Return the neighbours of a cell: those in its row, and those in its column."""
    row, column = cell
    pairs = (((row, column - 1), (row, column + 1)), ((row - 1, column), (row + 1, column)))
    return [[board[other] for other in pair if other in board] for pair in pairs]


def fits(board: Mapping[Cell, str], cell: Cell, tile: str) -> bool:
    """Return whether a tile agrees with its neighbours along each axis: all in colour or all in shape."""
    color, shape = tile.split("-")
    return all(
        all(other.startswith(f"{color}-") for other in others) or all(other.endswith(f"-{shape}") for other in others)
        for others in near(board, cell)
    )


def placement(board: Mapping[Cell, str], hand: Sequence[str], first: Cell, tile: str, axis: Cell) -> Rated:
    """Lay a first tile, then more of the hand next to it, along one axis in both directions."""
    after, rest, laid = {**board, first: tile}, list(hand), [first]
    rest.remove(tile)
    for sign in (1, -1):
        row, column = first
        chosen: str | None = tile
        while chosen is not None:
            while (row, column) in after:
                row, column = row + sign * axis[0], column + sign * axis[1]
            chosen = next((other for other in rest if fits(after, (row, column), other)), None)
            if chosen is not None:
                rest.remove(chosen)
                laid.append((row, column))
                after[row, column] = chosen
    touched = sum(len(others) for cell in laid for others in near(after, cell))
    return len(laid) + touched, {"action": "place", "tiles": [[*cell, after[cell]] for cell in laid]}


# --- quincy: play a domino, and with it add a stone or remove one


def quincy(view: View) -> list[Rated]:
    """Return every legal move."""
    board = {(r, c): stone for r, line in enumerate(view["board"], 1) for c, stone in enumerate(line, 1)}
    unbreakable = {tuple(square) for line in view["lines"] for square in line["squares"]}
    moves: list[Rated] = []
    for domino in view["hand"]:
        found = []
        for square in filter(reach(*domino), board):
            if board[square] == ".":
                found.append((worth(board, square), {"action": "add", "domino": domino, "square": square}))
            elif domino[0] == 0 and board[square] != view["stone"] and square not in unbreakable:
                found.append((worth(board, square), {"action": "remove", "domino": domino, "square": square}))
        moves += found or [(-1, {"action": "discard", "domino": domino})]  # only an unplayable domino may be discarded
    return moves


def reach(low: int, high: int) -> Callable[[Cell], bool]:
    """Return a test whether a domino names a square; a blank stands for any number."""
    if low:
        return lambda square: square in ((low, high), (high, low))
    return lambda square: not high or high in square


def worth(board: Mapping[Cell, str], square: Cell) -> int:
    """Return the worth of a square: high if fours through it have many stones of one colour, own or not."""
    found = 0
    for (down, right), start in product(LINES, range(-3, 1)):
        others = [(square[0] + i * down, square[1] + i * right) for i in range(start, start + 4) if i]
        stones = [board.get(other) for other in others]
        if None not in stones and not {"A", "B"} <= set(stones):
            found += 4 ** (3 - stones.count("."))
    return found


# --- quincala: place the pieces of the hand, then move a tower leg by leg

Towers = Mapping[Cell, Sequence[str]]


def quincala(view: View) -> list[Rated]:
    """Return every legal step of a turn."""
    own, other = "wb" if view["seat"] == 0 else "bw"
    board: Towers = {(row, column): pieces for row, column, pieces in view["board"]}
    if view["phase"] == "place":
        forward = 1 if own == "w" else -1  # pieces meet near the other player
        hand = dict.fromkeys(view["hands"][view["seat"]])
        dots = [
            (r, c) for r, line in enumerate(view["layout"], 1) for c, dot in enumerate(line, 1) if dot in (own, "x")
        ]
        free = [dot for dot in dots if dot not in board]
        return [(forward * dot[0], {"action": "place", "piece": piece, "dot": dot}) for piece in hand for dot in free]
    if view["phase"] == "move":
        whole = [cell for cell, pieces in board.items() if all(piece[0] == own for piece in pieces)]
        return [rated for cell in whole for rated in legs(view, board, cell, board[cell])]
    here = tuple(view["path"][-1])
    mine = [piece for piece in board[here] if piece[0] == own]  # the smallest piece comes first; the largest stays
    stop = (2 * (mixed(board, own) - mixed(board, other)) + 1, {"action": "stop"})  # so it goes on only for a gain
    return [stop, *legs(view, board, here, mine[:-1])]


def legs(view: View, board: Towers, start: Cell, moving: Sequence[str]) -> Iterator[Rated]:
    """Yield the legs of some pieces: straight over free dots, with at most as many steps as pieces."""
    own, other = "wb" if view["seat"] == 0 else "bw"
    immune = {(row, column): sizes(pieces) for row, column, pieces in view["immune"]}
    layout = {(r, c) for r, line in enumerate(view["layout"], 1) for c, dot in enumerate(line, 1) if dot != " "}
    for down, right in (*LINES, *((-down, -right) for down, right in LINES)):
        for step in range(1, len(moving) + 1):
            end = start[0] + step * down, start[1] + step * right
            if end not in layout:
                break
            tower = board.get(end, ())
            if not immune.get(end, set()) & sizes(moving):
                stay = [piece for piece in board[start] if piece not in moving]
                left = [piece for piece in tower if piece[1] not in sizes(moving)]
                after = {**board, start: stay, end: [*left, *moving]}
                value = 2 * (mixed(after, own) - mixed(after, other))
                yield value, {"action": "leg", "start": start, "end": end}
            if tower:
                break


def sizes(pieces: Sequence[str]) -> set[str]:
    """Return the sizes of some pieces."""
    return {piece[1] for piece in pieces}


def mixed(board: Towers, color: str) -> int:
    """Count the sizes of a colour that are in towers of both colours; with all sizes it wins."""
    towers = [pieces for pieces in board.values() if len({piece[0] for piece in pieces}) > 1]
    return len(sizes([piece for pieces in towers for piece in pieces if piece[0] == color]))


# # --- quadominos: lay a tile whose corners agree with all corners that they meet


def quadominos(view: View) -> list[Rated]:
    """Return every legal move, except two additional tiles as a bonus."""
    if view["step"] == "open":  # with the highest quad, or with the quad-zero, which earns points and two more tiles
        quads = [tile for tile in view["hand"] if len(set(tile)) == 1]
        return [(total(tile) or 25, lay((0, 0), tile)) for tile in quads if tile in (max(quads), "0000")]
    if view["step"] == "bonus":
        return [(25, {"action": "points"})]  # two more tiles may score more: try it
    board = {(row, column): tile for row, column, tile in view["board"]}
    numbers = {
        corner: number for cell, tile in board.items() for corner, number in zip(corners(cell), tile, strict=True)
    }
    moves: list[Rated] = [(-1, {"action": "done"})] if view["step"] == "extra" else []
    for cell in free_cells(board):
        wanted = [numbers.get(corner) for corner in corners(cell)]
        bonus = 25 if view["step"] == "lay" and wanted.count(None) <= 1 else 0
        moves += [
            (total(tile) + bonus, lay(cell, turned))
            for tile in view["hand"]
            for turned in turns(tile)
            if all(want in (None, number) for want, number in zip(wanted, turned, strict=True))
        ]
    return moves


def turns(tile: str) -> list[str]:
    """Return the different rotations of a tile."""
    return list(dict.fromkeys(tile[i:] + tile[:i] for i in range(4)))


def corners(cell: Cell) -> tuple[Cell, ...]:
    """Return the corners of a cell clockwise from its top left one, each named by the cell at its bottom right."""
    row, column = cell
    return (row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)


def total(tile: str) -> int:
    """Return the points of a tile."""
    return sum(map(int, tile))


def lay(cell: Cell, tile: str) -> dict[str, Any]:
    """Return the move that lays a tile."""
    return {"action": "lay", "row": cell[0], "column": cell[1], "tile": tile}


MOVES: Mapping[str, Callable[[View], list[Rated]]] = {
    "q": q,
    "quincy": quincy,
    "quincala": quincala,
    "quadominos": quadominos,
}
