"""What the search knows of Quincy: how the greedy player rates moves, and what a team's stones promise.

A four is four squares side by side; one without a stone of the opponents promises the more, the more stones are on it.
The numbers keep to the proportions of the greedy player's, as logarithms of the odds to win. Weights that were fitted
to its games, and looked at the hands too, told who would win better and chose moves worse.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from referee.games.base import Game
from referee.games.quincy import State
from referee.games.quincy_board import BITS, IS_WILD, Squares, survey
from referee.games.quincy_forms import Move

from .quincy_greedy import rating
from .search_knowledge import Knowledge, Plan, Teams, Values, outcome_values, sigmoid, weighed

_MOST_PLANS = 10
_HEAT = 20.0
"""Points of the greedy player's rating."""
_REPLIES = 2
"""Moves that the greedy player would make, played before a position is judged."""
_LINE = 2.0
_WILD = 0.15
"""Of a domino with a blank."""
_OPEN = (0.01, 0.06, 0.36)
"""Of each four without a stone of the opponents, by its stones: one, two, three."""
_TO_MOVE = 0.1
_ALL: Squares = sum(BITS.values())
_STARTS = tuple((step, _ALL & _ALL >> step & _ALL >> 2 * step & _ALL >> 3 * step) for step in (1, 10, 11, 9))
"""Each step to the next square along a row, a column or a diagonal, and where a four can begin."""


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


class QuincyKnowledge(Knowledge[State, Move]):
    """What is known of Quincy.

    Args:
        game: the rules.
        teams: as the game says; empty if every seat plays for itself.
    """

    exploring = 0.1
    trusting = 0.05
    is_deep = False

    def __init__(self, game: Game[Any, Any, Any], teams: Teams) -> None:
        self._game = game
        self._teams = teams

    def plans(self, state: State) -> list[Plan[Move]]:
        """Return the moves that the greedy player rates highest."""
        rated = [(rating(state, move), (move,)) for move in self._game.legal_moves(state)]
        return weighed(rated, _HEAT, _MOST_PLANS)

    def values(self, state: State) -> Values:
        """Return what both teams' stones and dominoes promise after the next moves, and that it is one team's turn."""
        for _ in range(_REPLIES):
            move = max(self._game.legal_moves(state), key=partial(rating, state))
            state = self._game.deliver(self._game.play(state, move))
            outcome = self._game.outcome(state)
            if outcome is not None:
                return outcome_values(outcome, self._teams)
        lead = _promise(state, 0) - _promise(state, 1)
        lead += _TO_MOVE if state.order[0] % 2 == 0 else -_TO_MOVE
        chance = sigmoid(lead)
        return [chance if seat % 2 == 0 else 1 - chance for seat in range(len(state.hands))]


def _promise(state: State, team: int) -> float:
    """Return what a team's stones promise."""
    own = state.stones[team]
    empty = _ALL & ~(own | state.stones[1 - team])
    worth = _LINE * survey(own)[1]
    for step, starts, groups in _fours(own):
        whole = starts & _whole(own | empty, step)
        worth += sum((whole & group).bit_count() * each for group, each in zip(groups, _OPEN, strict=True))
    wilds = sum(IS_WILD[domino] for seat in range(team, len(state.hands), 2) for domino in state.hands[seat])
    return worth + _WILD * wilds
