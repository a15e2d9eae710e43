"""The search's knowledge of Quincy: the most promising moves, and the winner if all seats play on greedily."""

from typing import Any

from referee.games.quincy.forms import Move, State

from .quincy_judgement import rating
from .quincy_playouts import Stones, winner
from .search_knowledge import Knowledge, Plan, Values, weighed

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
