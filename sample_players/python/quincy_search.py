"""The search's knowledge of Quincy: the most promising moves, and the winner if all seats play on greedily."""

from collections.abc import Iterable
from typing import Any

from referee.games.quincy.board import BITS, IS_WILD, LINES_TO_WIN, NUMBERS, REACH, Squares, survey
from referee.games.quincy.forms import Discard, Move, Remove, State

from .quincy_playouts import ALL_FOURS, WIN, Stones, winner
from .search_knowledge import Knowledge, Plan, Values, weighed

_WORTH = (0.0, 0.6, 6.0, 36.0, 0.0)
"""Worth of a four (four squares side by side) by the number of own stones, if the others have none there. A full line
counts separately."""
_THEIRS = (0.0, 1.2, 4.8, 43.0, 0.0)
"""Cost of such a four if it is the others'."""
_AFTER_A_LINE, _AFTER_THEIRS = 1.4, 1.5
"""Factors for the fours of a side that has a line already, since its next line wins: the own side, and the others."""
_LINE_WORTH = 350.0
_BLANK_COST = 35.0
"""Cost of playing a blank, which may be needed later. The double blank has two."""
_HELD, _GONE = 1.7, 0.4
"""Factors for each missing square of a four whose domino is in the own hand, or is gone, so that only a blank is
left."""
_OUT_OF_REACH = 0.45
"""Factor for each missing square of a four of the others, if its domino is gone or in the player's hand."""


def rating(state: State, move: Move) -> float:
    """Return the worth of a move to the seat to move, compared with its other moves.

    Args:
        state: state before the move.
        move: a legal move.
    """
    if isinstance(move, Discard):
        return WIN if state.pile else -WIN  # it costs nothing and gives a new domino; without a pile, it only costs one
    seat = state.order[0]
    team, played = seat % 2, NUMBERS[move.domino]
    own, other = state.stones[team], state.stones[1 - team]
    if isinstance(move, Remove):
        other ^= BITS[move.square]
    else:
        own |= BITS[move.square]
    lines = survey(own)[1]
    if lines >= LINES_TO_WIN:
        return WIN
    held = _squares(domino for domino in state.hands[seat] if domino != played)
    gone = _squares((played, *state.face_up))
    worth, cost = _fours(own, other, held, gone)
    if lines:
        worth *= _AFTER_A_LINE
    if survey(other)[1]:
        cost *= _AFTER_THEIRS
    return worth - cost + _LINE_WORTH * lines - _BLANK_COST * move.domino.count(0)


def _squares(dominoes: Iterable[int]) -> Squares:
    """Return the squares that dominoes without a blank name."""
    found = 0
    for domino in dominoes:
        if not IS_WILD[domino]:
            found |= REACH[domino]
    return found


def _fours(own: Squares, other: Squares, held: Squares, gone: Squares) -> tuple[float, float]:
    """Return the worth of the own fours on a board, and the cost of the others' fours.

    The dominoes of `held` squares are in the own hand, and nobody has those of `gone` ones.
    """
    empty = ~(own | other)
    held, gone = held & empty, gone & empty
    out_of_reach = held | gone
    worth = cost = 0.0
    for four in ALL_FOURS:
        mine, theirs = (own & four).bit_count(), (other & four).bit_count()
        if mine and not theirs:
            worth += _WORTH[mine] * _HELD ** (held & four).bit_count() * _GONE ** (gone & four).bit_count()
        elif theirs and not mine:
            cost += _THEIRS[theirs] * _OUT_OF_REACH ** (out_of_reach & four).bit_count()
    return worth, cost


_MOST_PLANS = 6
_HEAT = 20.0
"""Difference in rating that is clear when plans are weighed."""


class QuincyKnowledge(Knowledge[State, Move]):
    """Knowledge about Quincy."""

    trusting = 0.02
    is_race = True

    def __init__(self, *match: Any) -> None:
        super().__init__(*match)
        self._boards: dict[tuple[int, int], Stones] = {}
        """Boards after the player's own moves; they are the same in all worlds."""

    def plans(self, state: State) -> list[Plan[Move]]:
        """Return the moves with the highest ratings."""
        rated = [(rating(state, move), (move,)) for move in self.game.legal_moves(state)]
        return weighed(rated, _HEAT, _MOST_PLANS)

    def values(self, state: State) -> Values:
        """Return 1 for the team that wins if all seats play on greedily."""
        stones = self._boards.get(state.stones)
        if stones is None:
            stones = self._boards[state.stones] = Stones(state.stones)
        team = winner(state, stones)
        return [0.5 if team is None else float(seat % 2 == team) for seat in range(len(state.hands))]
