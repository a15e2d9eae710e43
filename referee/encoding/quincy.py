"""Quincy as arrays. A move is one step, so each domino on each square that it names is an action."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..games.quincy import board as b
from ..games.quincy.forms import Add, Discard, Move, Remove, View
from .base import Encoding, Part, Sparse, from_own

_ADDS: list[Move] = [move for moves in b.by_bit(Add) for _, move in moves]
_REMOVES: list[Move] = [
    move for moves, is_wild in zip(b.by_bit(Remove), b.IS_WILD, strict=True) if is_wild for _, move in moves
]
_DISCARDS: list[Move] = [Discard(domino) for domino in b.DOMINOES]
MOVES = (*_ADDS, *_REMOVES, *_DISCARDS)
"""By action: by domino, smaller end first, and then by square, row by row."""
_ACTIONS = {move: action for action, move in enumerate(MOVES)}


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

    def _values(self, view: View, chosen: tuple[Any, ...]) -> Iterable[tuple[str, Any]]:
        """Yield the parts with their values."""
        signs, own = "".join(view.board), view.stone
        size = b.SIZE * b.SIZE
        stones = [(0 if sign == own else size) + at for at, sign in enumerate(signs) if sign != "."]
        lines = [
            (2 if line.stone == own else 3) * size + (row - 1) * b.SIZE + column - 1
            for line in view.lines
            for row, column in line.squares
        ]
        yield "board", Sparse(stones + lines)
        yield "hand", Sparse([b.NUMBERS[domino] for domino in view.hand])
        yield "face_up", Sparse([b.NUMBERS[domino] for domino in view.face_up])
        yield "hand_sizes", [size / 5 for size in from_own(view.hand_sizes, view.seat)]
        yield "pile", view.pile / 45
        yield "same_turn", view.same_turn

    def numbers(self, view: View, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of moves."""
        return map(_ACTIONS.__getitem__, steps)
