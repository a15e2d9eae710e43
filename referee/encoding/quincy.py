"""Quincy as arrays. A move is one step, so each domino on each square that it names is an action."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ..games.quincy import board as b
from ..games.quincy.forms import Add, Discard, Move, Remove, State
from .base import Encoding, Part, from_own

_ADDS: list[Move] = [move for moves in b.by_bit(Add) for _, move in moves]
_REMOVES: list[Move] = [
    move for moves, is_wild in zip(b.by_bit(Remove), b.IS_WILD, strict=True) if is_wild for _, move in moves
]
_DISCARDS: list[Move] = [Discard(domino) for domino in b.DOMINOES]
MOVES = (*_ADDS, *_REMOVES, *_DISCARDS)
"""By action: by domino, smaller end first, and then by square, row by row."""
_ACTIONS = {move: action for action, move in enumerate(MOVES)}


@cache
def _places(row: int, squares: b.Squares) -> tuple[int, ...]:
    """Return where an observation has some squares of a row.

    Args:
        row: all planes counted through.
        squares: as those of the topmost row of the board.
    """
    return tuple(row * b.SIZE + at for at in range(b.SIZE) if squares >> at & 1)


class QuincyEncoding(Encoding):
    """The arrays of Quincy."""

    game = "quincy"

    def _parts(self) -> Iterable[Part]:
        """Yield the parts of an observation."""
        board = "squares with own stones, with the opponents', with own stones in lines, with theirs; rows from the top"
        yield Part("board", (4, b.SIZE, b.SIZE), board)
        yield Part("hand", (len(b.DOMINOES),), "own dominoes: 0-0, 0-1 ... 0-9, 1-1 ... 9-9")
        yield Part("face_up", (len(b.DOMINOES),), "dominoes that were played or discarded")
        yield Part("hand_sizes", (self.seats,), "dominoes of each seat by 5, the own first, then in the order of turns")
        yield Part("pile", (1,), "dominoes left to draw, by 45")
        yield Part("same_turn", (1,), "1 if the seat to move has discarded in this turn")

    def _kinds(self) -> Iterable[Part]:
        """Yield the kinds of actions."""
        order = "by domino 0-0, 0-1 ... 9-9, then by square row by row, of those that the domino names"
        yield Part("add", (len(_ADDS),), f"play a domino and add a stone: {order}")
        yield Part("remove", (len(_REMOVES),), f"play a blank and remove a stone: {order}")
        yield Part("discard", (len(_DISCARDS),), "discard a domino: 0-0, 0-1 ... 9-9")

    def _ones(self, state: State, seat: int, chosen: tuple[Any, ...]) -> list[int]:
        """Return where stones and dominoes are."""
        own, other = seat % 2, 1 - seat % 2
        planes = (state.stones[own], state.stones[other], state.unbreakable[own], state.unbreakable[other])
        found: list[int] = []
        for plane, squares in enumerate(planes):
            for row in range(b.SIZE if squares else 0):
                found += _places(plane * b.SIZE + row, squares >> 10 * row & b.ROW)
        hand, face_up = self._at["hand"], self._at["face_up"]
        found += [hand + domino for domino in state.hands[seat]]
        found += [face_up + domino for domino in state.face_up]
        return found

    def _last(self, state: State, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return how many dominoes there are, and whose turn goes on."""
        sizes = [len(hand) / 5 for hand in from_own(state.hands, seat)]
        return [*sizes, len(state.pile) / 45, state.same_turn]

    def numbers(self, state: State, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of moves."""
        return map(_ACTIONS.__getitem__, steps)
