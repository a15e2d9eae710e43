"""What the search knows of Quincy: which moves look good, and what a team's stones and dominoes promise.

A four is four squares side by side; what it promises depends on how many stones a team has on it, and on whether the
rest can be filled from the hands, with what is still to be drawn, or with blanks alone. The numbers are fitted to games
of the greedy player against itself, some of its moves left to chance: they are logarithms of the odds to win.
"""

from collections.abc import Iterator
from typing import Any

from referee.games.base import Game
from referee.games.quincy import State
from referee.games.quincy_board import BITS, IS_WILD, REACH, Squares, survey
from referee.games.quincy_forms import Add, Move

from .quincy_greedy import rating
from .search_knowledge import Knowledge, Plan, Values, sigmoid, weighed

_MOST_PLANS = 10
_HEAT = 20.0
_MAKES_LINE, _STOPS_LINE, _STOPS_LAST, _MAKES_THREE, _STOPS_THREE = 100.0, 50.0, 150.0, 25.0, 15.0
_WILD_COST = -12.0
"""What looks promising; the scale is that of the greedy player's rating."""
_LINE = 1.25
_FINISHED_BY_HAND = 0.9
"""Of a domino without a blank that could make a line."""
_FINISHED_BY_BLANK = 0.12
_WILD = 0.25
"""Of a domino with a blank."""
_BY_HAND = (0.24, 0.7, 0.0)
"""Of each four that can be filled from the hands, by its stones: one, two, three."""
_BY_DRAWING = (0.037, 0.054, 0.0)
"""The same of those that can be filled with what is still to be drawn, too."""
_OPEN = (0.0, 0.04, 0.17)
"""The same of those without a stone of the opponents."""
_TO_MOVE = 0.1
_STEPS = (1, 10, 11, 9)
"""To the next square along a row, a column and both diagonals, as quincy_board numbers squares."""
_ALL: Squares = sum(BITS.values())
_STARTS = tuple((step, _ALL & _ALL >> step & _ALL >> 2 * step & _ALL >> 3 * step) for step in _STEPS)
"""Each step, and where a four can begin."""
_NAMED = tuple(0 if is_wild else reach for reach, is_wild in zip(REACH, IS_WILD, strict=True))
"""By domino: where it may add a stone, if it has no blank."""


def _fours(own: Squares) -> Iterator[tuple[int, Squares, tuple[Squares, Squares, Squares]]]:
    """Yield each step, where fours begin, and where those with one, two and three own stones do."""
    for step, starts in _STARTS:
        second, third, fourth = own >> step, own >> 2 * step, own >> 3 * step
        left, right, left_both, right_both = own ^ second, third ^ fourth, own & second, third & fourth
        none_left, none_right = ~(own | second), ~(third | fourth)
        one = (left & none_right) | (right & none_left)
        two = (left & right) | (left_both & none_right) | (right_both & none_left)
        yield step, starts, (one, two, (left & right_both) | (right & left_both))


def _whole(squares: Squares, step: int) -> Squares:
    """Return where fours begin that are all among some squares."""
    pairs = squares & squares >> step
    return pairs & pairs >> 2 * step


def finishers(own: Squares, empty: Squares) -> Squares:
    """Return the empty squares that would make or lengthen a line."""
    found = 0
    for step in _STEPS:
        before, after = own << step, own >> step
        two_before, two_after = before & own << 2 * step, after & own >> 2 * step
        found |= two_before & (own << 3 * step | after) | two_after & (own >> 3 * step | before)
    return found & empty


def beside_pairs(own: Squares, empty: Squares) -> Squares:
    """Return the empty squares of fours that have two own stones and none of the opponents."""
    found = 0
    for step, starts, (_, two, _) in _fours(own):
        open_two = two & starts and two & starts & _whole(own | empty, step)
        found |= open_two | open_two << step | open_two << 2 * step | open_two << 3 * step
    return found & empty


class QuincyKnowledge(Knowledge[State, Move]):
    """What is known of Quincy.

    Args:
        game: the rules.
    """

    exploring = 0.1

    def __init__(self, game: Game[Any, Any, Any]) -> None:
        self._game = game

    def plans(self, state: State) -> list[Plan[Move]]:
        """Return the moves that look best: those that make or stop lines, or threes."""
        team = state.order[0] % 2
        own, other = state.stones[team], state.stones[1 - team]
        empty = _ALL & ~(own | other)
        classes = (
            (finishers(own, empty), _MAKES_LINE),
            (finishers(other, empty), _STOPS_LAST if survey(other)[1] else _STOPS_LINE),
            (beside_pairs(own, empty), _MAKES_THREE),
            (beside_pairs(other, empty), _STOPS_THREE),
        )

        def _rating(move: Move) -> float:
            if not isinstance(move, Add):
                return rating(state, move)
            low, high = move.domino
            worth = _WILD_COST * ((low == 0) + (high == 0))
            return worth + sum(points for squares, points in classes if squares & BITS[move.square])

        return weighed([(_rating(move), (move,)) for move in self._game.legal_moves(state)], _HEAT, _MOST_PLANS)

    def values(self, state: State) -> Values:
        """Return what both teams' stones and dominoes promise, and that it is one team's turn."""
        drawable = _named(state.pile)
        lead = _promise(state, 0, drawable) - _promise(state, 1, drawable)
        lead += _TO_MOVE if state.order[0] % 2 == 0 else -_TO_MOVE
        chance = sigmoid(lead)
        return [chance if seat % 2 == 0 else 1 - chance for seat in range(len(state.hands))]


def _named(dominoes: tuple[int, ...]) -> Squares:
    """Return the squares that dominoes without a blank name."""
    squares = 0
    for domino in dominoes:
        squares |= _NAMED[domino]
    return squares


def _promise(state: State, team: int, drawable: Squares) -> float:
    """Return what a team's stones and dominoes promise.

    Args:
        state: of a game that is not over.
        team: whose.
        drawable: what the dominoes of the pile name.
    """
    own = state.stones[team]
    held = tuple(domino for seat in range(team, len(state.hands), 2) for domino in state.hands[seat])
    empty = _ALL & ~(own | state.stones[1 - team])
    by_hand = _named(held) & empty
    by_drawing = by_hand | drawable & empty
    wilds = sum(IS_WILD[domino] for domino in held)
    ends = finishers(own, empty)
    worth = _LINE * survey(own)[1] + _WILD * wilds
    if ends & by_hand:
        worth += _FINISHED_BY_HAND
    if ends and wilds:
        worth += _FINISHED_BY_BLANK
    for step, starts, groups in _fours(own):
        for squares, worths in ((by_hand, _BY_HAND), (by_drawing, _BY_DRAWING), (empty, _OPEN)):
            whole = starts & _whole(own | squares, step)
            if whole:
                worth += sum((whole & group).bit_count() * each for group, each in zip(groups, worths, strict=True))
    return worth
