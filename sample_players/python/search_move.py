"""The common part of all searches for one move: knowledge about the game, and imagined worlds."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from referee.games.base import Game, Outcome

from .search_knowledge import Knowledge, Plan, Values, outcome_values

Moves = tuple[Any, ...]
"""Moves of a plan."""


class MoveSearch(ABC):
    """A search for one move.

    Args:
        knowledge: knowledge about the game.
        imagine: returns a state that agrees with the view of the seat to move, a new one each time.
    """

    def __init__(self, knowledge: Knowledge[Any, Any], imagine: Callable[[], Any]) -> None:
        self._game = knowledge.game
        self._knowledge = knowledge
        self._imagine = imagine
        world = imagine()
        plans = knowledge.plans(world)
        self.is_decided = len(plans) == 1
        """True if there is only one plan."""
        self._begin(world, plans)

    @abstractmethod
    def _begin(self, world: Any, plans: list[Plan[Any]]) -> None:
        """Set up the search from the first world and the plans in it, the most promising plan first."""

    @abstractmethod
    def iterate(self, spent: float) -> None:
        """Run one more iteration.

        Args:
            spent: share of the budget that is used up, 0 to 1.
        """

    @abstractmethod
    def best(self) -> Moves:
        """Return the moves of the plan that did best."""

    def _values(self, state: Any, outcome: Outcome | None) -> Values:
        """Return the worth of a state by seat: its outcome, or else an estimate."""
        knowledge = self._knowledge
        return knowledge.values(state) if outcome is None else outcome_values(outcome, knowledge.teams)


def after(game: Game[Any, Any, Any], state: Any, moves: Moves) -> Any:
    """Return the state after moves, with their draws delivered."""
    for move in moves:
        state = game.deliver(game.play(state, move))
    return state
