"""Greedy for Quincy: the move that makes most of its square.

A square is worth what the fours through it are worth: four squares side by side that can still become a line, the more
the more stones they have. The numbers are guesses.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any

from referee.games.base import Game
from referee.games.quincy.board import BITS, LINE, LINES_TO_WIN, SQUARES, Domino, Squares, survey
from referee.games.quincy.forms import Add, Move, Remove, State

from .imagined import picking

WORTH = (0, 1, 6, 36, 36)
"""Of four squares that only one team has stones on, by their number; a whole line counts for itself."""
LINE_WORTH = 200
WIN = 100_000
DEFENCE = 0.9
"""To spoil a four of the opponents, compared with a four of one's own."""
LAST_DEFENCE = 3.0
"""The same once they have their first line: the next one wins."""
_WILD_COST = 12
"""A blank is kept for when it is needed; the double blank twice as much."""
_DOUBLE_GAIN = 2
"""A double is easily spoilt: it is played early."""


def _all_fours() -> dict[Squares, tuple[Squares, ...]]:
    """Return, by square, each four squares side by side that it is one of."""
    found: dict[Squares, list[Squares]] = {bit: [] for bit in BITS.values()}
    for row, column in SQUARES:
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            four = [BITS.get((row + step * down, column + step * right)) for step in range(LINE)]
            bits = [bit for bit in four if bit is not None]
            if len(bits) == LINE:
                for bit in bits:
                    found[bit].append(sum(bits))
    return {bit: tuple(fours) for bit, fours in found.items()}


FOURS = _all_fours()
ALL_FOURS = tuple(dict.fromkeys(chain.from_iterable(FOURS.values())))
"""Each once."""


def rating(state: State, move: Move) -> float:
    """Return what a move is worth to the seat to move.

    Args:
        state: before the move.
        move: a legal one.
    """
    team = state.order[0] % 2
    own, other = state.stones[team], state.stones[1 - team]
    worth = domino_worth(move.domino)
    if isinstance(move, Add):
        return worth + _adding(own, other, BITS[move.square])
    if isinstance(move, Remove):
        return worth + _removing(own, other, BITS[move.square])
    return WIN if state.pile else -WIN  # a new domino for nothing; without a pile, nothing for a domino


def domino_worth(domino: Domino) -> float:
    """Return what it is worth to play a domino, wherever its stone goes."""
    low, high = domino
    return _DOUBLE_GAIN * (low == high) - _WILD_COST * ((low == 0) + (high == 0))


def _adding(own: Squares, other: Squares, bit: Squares) -> float:
    """Return what an own stone on a square is worth."""
    lines = survey(own | bit)[1]
    if lines >= LINES_TO_WIN:
        return WIN
    gain: float = LINE_WORTH * (lines - survey(own)[1])
    defence = _defence(other)
    for four in FOURS[bit]:
        mine, theirs = (own & four).bit_count(), (other & four).bit_count()
        if not theirs:
            gain += WORTH[mine + 1] - WORTH[mine]
        elif not mine:
            gain += defence * WORTH[theirs]
    return gain


def _removing(own: Squares, other: Squares, bit: Squares) -> float:
    """Return what it is worth to take a stone of the opponents."""
    gain, defence = 0.0, _defence(other)
    for four in FOURS[bit]:
        mine, theirs = (own & four).bit_count(), (other & four).bit_count()
        if not mine:
            gain += defence * (WORTH[theirs] - WORTH[theirs - 1])
        elif theirs == 1:
            gain += WORTH[mine]
    return gain


def _defence(other: Squares) -> float:
    """Return what it is worth to spoil a four of the opponents."""
    return LAST_DEFENCE if survey(other)[1] else DEFENCE


def make_greedy(game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""

    def _pick(state: State) -> Move:
        moves: list[Move] = game.legal_moves(state)
        return max(moves, key=lambda move: rating(state, move))

    return picking(game, options, _pick)
