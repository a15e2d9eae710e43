"""The five cheats of the course's players. Each takes a view, and returns an illegal move, or None if there is none.

Source: The course CS4500 of Fall 2023, milestone 8, JCheat.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from sample_players.python.q_simple import Placed, board_of, hand_of, place

from ...games.q.tiles import KINDS, Cell, Tile, frontier, in_line, misfit, spots

Cheat = Callable[[Any], Any]
MAX_STEPS = 20_000
"""Most placements that are tried to find one that is out of line. A large hand finds one among the first few. Only a
small hand on a small map needs a full search, which has fewer placements than this."""


def place_apart(view: Any) -> Any:
    """Place a tile where it touches nothing."""
    board = board_of(view)
    row = max(row for row, _ in board) + 2
    tile = (hand_of(view) or [0])[0]
    return place([((row, 0), tile)])


def place_missing_tile(view: Any) -> Any:
    """Place a kind of tile that is not in the hand; prefer a kind that fits somewhere."""
    hand = set(hand_of(view))
    board = board_of(view)
    free = frontier(board)
    missing = [tile for tile in range(KINDS) if tile not in hand]
    for tile in missing:
        cells = spots(board, tile, free)
        if cells:
            return place([(cells[0], tile)])
    return place([(min(free), missing[0])]) if missing else None


def exchange_too_many(view: Any) -> Any:
    """Exchange more tiles than are left."""
    return {"action": "exchange"} if len(view["hand"]) > view["tiles_left"] else None


def place_misfit(view: Any) -> Any:
    """Place an own tile next to the map where it does not fit."""
    board = board_of(view)
    free = sorted(frontier(board))
    for tile in dict.fromkeys(hand_of(view)):
        for cell in free:
            if misfit(board, cell, tile) is not None:
                return place([(cell, tile)])
    return None


def place_out_of_line(view: Any) -> Any:
    """Place own tiles that each fit when placed, but do not lie in one row or column."""
    board = board_of(view)
    # Breadth first: the shortest placement out of line is the clearest example of this cheat.
    longer = _longer(board, hand_of(view), frontier(board))
    out_of_line = (placed for placed in islice(longer, MAX_STEPS) if not in_line([cell for cell, _ in placed]))
    return next(map(place, out_of_line), None)


def _longer(board: dict[Cell, Tile], hand: list[Tile], free: set[Cell]) -> Iterator[list[Placed]]:
    """Yield placements, the shortest first; continue each set of tiles on cells only once."""
    queue: deque[list[Placed]] = deque([[]])
    yielded: set[frozenset[Placed]] = set()
    while queue:
        for placed in _continuations(board, hand, free, queue.popleft()):
            yield placed
            if frozenset(placed) not in yielded:
                yielded.add(frozenset(placed))
                queue.append(placed)


def _continuations(
    board: dict[Cell, Tile], hand: list[Tile], free: set[Cell], placed: list[Placed]
) -> list[list[Placed]]:
    """Return the placements that are one tile longer."""
    extended, rest, spots_left = dict(board), list(hand), free
    for cell, tile in placed:
        extended[cell] = tile
        rest.remove(tile)
        spots_left = (spots_left - {cell}) | (frontier({cell: tile}) - extended.keys())
    return [[*placed, (cell, tile)] for tile in dict.fromkeys(rest) for cell in spots(extended, tile, spots_left)]


CHEATS: dict[str, Cheat] = {
    "non-adjacent-coordinate": place_apart,
    "tile-not-owned": place_missing_tile,
    "not-a-line": place_out_of_line,
    "bad-ask-for-tiles": exchange_too_many,
    "no-fit": place_misfit,
}
"""The course's name of a cheat -> its function."""
