"""The course's strategies dag and ldasg, and the random player of the Q game.

dag ("dumb and greedy") and ldasg ("less dumb and smart greedy") differ only in the choice of a spot for the tile.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from referee.games.base import Game
from referee.games.q.tiles import BY_NAME, NAMES, Board, Cell, Tile, frontier, in_line, neighbour_count, spots

Placed = tuple[Cell, Tile]


def board_of(view: Any) -> dict[Cell, Tile]:
    """Return the map of a view: (row, column) -> tile."""
    return {(row, column): BY_NAME[name] for row, column, name in view["map"]}


def hand_of(view: Any) -> list[Tile]:
    """Return the hand of a view, in tile order: by shape, then by colour."""
    return sorted(BY_NAME[name] for name in view["hand"])


def place(placed: Sequence[Placed]) -> dict[str, Any]:
    """Return the move that lays tiles, one after the other, as plain data."""
    return {"action": "place", "tiles": [[row, column, NAMES[tile]] for (row, column), tile in placed]}


def exchange_or_pass(view: Any) -> dict[str, Any]:
    """Return an exchange as plain data if the pile allows it, else a pass."""
    can_exchange = len(view["hand"]) <= view["tiles_left"]
    return {"action": "exchange" if can_exchange else "pass"}


PickSpot = Callable[[Board, Sequence[Cell]], Cell]
"""Function (map, spots of a tile in row-column order) -> the spot to take."""


def first_spot(_board: Board, cells: Sequence[Cell]) -> Cell:
    """Pick the first spot in row-column order, as dag does."""
    return cells[0]


def most_constrained_spot(board: Board, cells: Sequence[Cell]) -> Cell:
    """Pick the spot with the most occupied neighbours, the first one of equals, as ldasg does."""
    return max(cells, key=lambda cell: (neighbour_count(board, cell), -cell[0], -cell[1]))


def step(board: Board, hand: Sequence[Tile], pick: PickSpot) -> Placed | None:
    """Choose one placement: the smallest tile of the hand that fits anywhere.

    Args:
        board: the map.
        hand: tiles in tile order.
        pick: picks one of the tile's spots.

    Returns:
        The spot and the tile, or None if no tile fits.
    """
    free = frontier(board)
    for tile in dict.fromkeys(hand):
        cells = spots(board, tile, free)
        if cells:
            return pick(board, cells), tile
    return None


def collect(board: Board, hand: Sequence[Tile], pick: PickSpot) -> list[Placed]:
    """Repeat the step until no tile fits or the next tile would not be in line; return the placements so far."""
    extended, rest = dict(board), list(hand)
    placed: list[Placed] = []
    while (found := step(extended, rest, pick)) is not None:
        cell, tile = found
        if not in_line([*(earlier for earlier, _ in placed), cell]):
            break
        placed.append(found)
        extended[cell] = tile
        rest.remove(tile)
    return placed


def strategy(pick: PickSpot) -> Callable[[Any], Any]:
    """Return the choose function of dag or ldasg."""

    def _choose(view: Any) -> Any:
        placed = collect(board_of(view), hand_of(view), pick)
        return place(placed) if placed else exchange_or_pass(view)

    return _choose


def make_dag(*_match: Any) -> Callable[[Any], Any]:
    """Make dag for one match."""
    return strategy(first_spot)


def make_ldasg(*_match: Any) -> Callable[[Any], Any]:
    """Make ldasg for one match."""
    return strategy(most_constrained_spot)


def make_random(_game: Game[Any, Any, Any], _options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the random player for one match; the same seed gives the same choices."""
    chance = random.Random(seed)

    def _choose(view: Any) -> Any:
        if chance.random() < 0.05:
            return exchange_or_pass(view)
        board, hand = board_of(view), hand_of(view)
        chance.shuffle(hand)
        placed = _scatter(board, hand[: chance.randint(1, max(len(hand), 1))], chance)
        return place(placed) if placed else exchange_or_pass(view)

    return _choose


def _scatter(board: dict[Cell, Tile], wanted: Sequence[Tile], chance: random.Random) -> list[Placed]:
    """Lay tiles on random spots, all in one line; a tile that fits nowhere is left out."""
    placed: list[Placed] = []
    for tile in wanted:
        taken = [cell for cell, _ in placed]
        cells = [cell for cell in spots(board, tile, frontier(board)) if in_line([*taken, cell])]
        if cells:
            cell = chance.choice(cells)
            placed.append((cell, tile))
            board[cell] = tile
    return placed
