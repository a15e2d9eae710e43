"""Quincy as arrays. A move is one step, so each pair of a domino and a square that it names is an action."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..games.quincy import board as b
from ..games.quincy.forms import Add, Discard, Move, Remove, State
from .base import Encoding, Part, Vector, from_own

_ADDS: list[Move] = [move for moves in b.map_reach(Add) for _, move in moves]
_REMOVES: list[Move] = [
    move for moves, is_wild in zip(b.map_reach(Remove), b.IS_WILD, strict=True) if is_wild for _, move in moves
]
_DISCARDS: list[Move] = [Discard(domino) for domino in b.DOMINOES]
MOVES = (*_ADDS, *_REMOVES, *_DISCARDS)
"""Moves by action: ordered by domino, smaller end first, and then by square, row by row."""
_ACTIONS = {move: action for action, move in enumerate(MOVES)}


_STRIDE = 10 * b.SIZE
"""Number of bits of a set of squares."""
_BITS = 4 * _STRIDE + 2 * len(b.DOMINOES)
"""Number of bits of four sets of squares, the dominoes of a hand, and those face up, in the order of an observation."""
_BYTES = (_BITS + 7) // 8
_SHOWN = np.array([bit for bit in range(_BITS) if bit >= 4 * _STRIDE or bit % 10 < b.SIZE])
"""Indices of the bits that an observation has: all except the tenth of each row of squares."""
_HELD = tuple(1 << 4 * _STRIDE + domino for domino in b.ALL_DOMINOES)
_FACE_UP = tuple(bit << len(b.DOMINOES) for bit in _HELD)
"""Bit of each domino that is face up."""


class QuincyEncoding(Encoding):
    """The arrays of Quincy."""

    game = "quincy"

    def _parts(self) -> Iterable[Part]:
        board = "squares with own stones, opponents' stones, own lines, opponents' lines; rows from the top"
        yield Part("board", (4, b.SIZE, b.SIZE), board)
        yield Part("hand", (len(b.DOMINOES),), "own dominoes: 0-0, 0-1 ... 0-9, 1-1 ... 9-9")
        yield Part("face_up", (len(b.DOMINOES),), "dominoes that were played or discarded")
        yield Part(
            "hand_sizes",
            (self.seats,),
            "dominoes of each seat, divided by 5; own seat first, then in the order of turns",
        )
        yield Part("pile", (1,), "dominoes left to draw, divided by 45")
        yield Part("same_turn", (1,), "1 if the seat to move has discarded in this turn")

    def _kinds(self) -> Iterable[Part]:
        order = "by domino 0-0, 0-1 ... 9-9, then row by row, only squares that the domino names"
        yield Part("add", (len(_ADDS),), f"play a domino and add a stone: {order}")
        yield Part("remove", (len(_REMOVES),), f"play a blank and remove a stone: {order}")
        yield Part("discard", (len(_DISCARDS),), "discard a domino: 0-0, 0-1 ... 9-9")

    def _mark(self, vector: Vector, state: State, seat: int, chosen: tuple[Any, ...]) -> None:
        """Mark stones, lines and dominoes."""
        own, other = seat % 2, 1 - seat % 2
        stones, lines = state.stones, state.unbreakable
        bits = stones[own] | stones[other] << _STRIDE | lines[own] << 2 * _STRIDE | lines[other] << 3 * _STRIDE
        for domino in state.hands[seat]:
            bits |= _HELD[domino]
        for domino in state.face_up:
            bits |= _FACE_UP[domino]
        marks = np.unpackbits(np.frombuffer(bits.to_bytes(_BYTES, "little"), np.uint8), bitorder="little")
        vector[: len(_SHOWN)] = marks[_SHOWN]

    def _last(self, state: State, seat: int, chosen: tuple[Any, ...]) -> list[float]:
        """Return the numbers of dominoes, and whether the same turn goes on."""
        sizes = [len(hand) / 5 for hand in from_own(state.hands, seat)]
        return [*sizes, len(state.pile) / 45, state.same_turn]

    def numbers(self, state: State, steps: Sequence[Any]) -> Iterable[int]:
        """Return the numbers of moves."""
        return map(_ACTIONS.__getitem__, steps)
