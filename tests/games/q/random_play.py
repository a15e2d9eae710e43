"""Random moves of Q, longer ones than the game itself lists."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from referee import chance
from referee.games.q import tiles
from referee.games.q.forms import Exchange, Move, Options, Pass, Place, Placement, State
from referee.games.q.game import QGame

GAME = QGame()
TOTAL = 1080
T = TypeVar("T")


class Unshuffled:
    """Leaves everything in its order."""

    def __call__(self, items: Sequence[T], /) -> list[T]:
        """Return the items as they are."""
        return list(items)

    def later(self, _deal: int) -> "Unshuffled":
        """Return the same."""
        return self


def dealt(key: bytes, seats: int, **options: Any) -> State:
    """Return a new game."""
    return GAME.new(Options(**options), seats, chance.Dealer(key))


def shortened(state: State, pile: int) -> State:
    """Return the state with `pile` tiles to hand out; the others are put back into the box."""
    kept = state.pile[:pile]
    return replaced(state, pile=kept, lost=state.lost + len(state.pile) - len(kept))


def replaced(state: State, **fields: Any) -> State:
    """Return the state with other values in some fields."""
    return State(**{**{name: getattr(state, name) for name in State.__struct_fields__}, **fields})


def guess(state: State, source: Random, count: int) -> Place:
    """Return a placement of `count` tiles around one spot of the frontier; single tiles are often legal.

    Mostly, the tiles are from the hand, and the cells are next to each other in one line.
    """
    hand = list(state.hands[state.order[0]])
    source.shuffle(hand)
    row, column = source.choice(sorted(tiles.frontier(state.board)))
    down, right = source.choice(((0, 1), (1, 0)))
    placed = []
    for index in range(count):
        tile = hand[index] if index < len(hand) and source.random() < 0.95 else source.randrange(tiles.KINDS)
        placed.append(Placement(row, column, tiles.NAMES[tile]))
        step = 1 if source.random() < 0.9 else 2
        row, column = row + down * step, column + right * step
        if source.random() < 0.05:
            down, right = right, down
    return Place(placed)


def grown(state: State, source: Random, count: int) -> Place | None:
    """Return a legal placement of up to so many tiles, found step by step; None if no tile fits."""
    hand = list(state.hands[state.order[0]])
    board = dict(state.board)
    placed: list[Placement] = []
    while hand and len(placed) < count:
        choices = [
            (tile, cell)
            for tile in sorted(set(hand))
            for cell in tiles.spots(board, tile, tiles.frontier(board))
            if tiles.in_line([*((spot.row, spot.column) for spot in placed), cell])
        ]
        if not choices:
            break
        tile, cell = source.choice(choices)
        hand.remove(tile)
        board[cell] = tile
        placed.append(Placement(*cell, tiles.NAMES[tile]))
    return Place(placed) if placed else None


def any_legal(state: State, source: Random) -> Move:
    """Return a legal move: mostly a placement of 1 to 3 tiles, seldom an exchange or a pass."""
    draw = source.random()
    if draw < 0.85:
        placement = grown(state, source, source.choice((1, 1, 1, 2, 2, 3)))
        if placement is not None:
            return placement
    if draw < 0.95 and len(state.hands[state.order[0]]) <= len(state.pile):
        return Exchange()
    return Pass()


def tile_count(state: State) -> int:
    """Count every tile wherever it is: in a game from the start, always 1080."""
    hands = sum(len(hand) for hand in state.hands)
    return len(state.board) + len(state.pile) + hands + len(state.arriving or ()) + state.lost
