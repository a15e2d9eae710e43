"""The worth of moves to the greedy player of Quincy, computed from scratch for each: slow, and easy to check."""

from referee.games.quincy.board import BITS, LINES_TO_WIN, NUMBERS, Squares, survey
from referee.games.quincy.forms import Add, Move, Remove, State
from sample_players.python.quincy_playouts import (
    ALL_FOURS,
    DEFENCE,
    DOMINO_WORTH,
    LAST_DEFENCE,
    LINE_WORTH,
    WIN,
    WORTH,
)

FOURS = {bit: [four for four in ALL_FOURS if four & bit] for bit in BITS.values()}


def rating(state: State, move: Move) -> float:
    """Return what a move is worth to the seat to move."""
    team = state.order[0] % 2
    own, other = state.stones[team], state.stones[1 - team]
    worth = DOMINO_WORTH[NUMBERS[move.domino]]
    if isinstance(move, Add):
        return worth + _adding(own, other, BITS[move.square])
    if isinstance(move, Remove):
        return worth + _removing(own, other, BITS[move.square])
    return WIN if state.pile else -WIN  # a new domino for nothing; without a pile, nothing for a domino


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
