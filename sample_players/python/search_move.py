"""What every search of one move has: what is known of the game, and worlds to imagine."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from referee.games.base import Outcome

from .search_knowledge import Knowledge, Plan, Values, outcome_values


class MoveSearch(ABC):
    """The search of one move.

    Args:
        knowledge: of the game.
        imagine: returns a state that the seat to move may be in, another one each time.
        among: moves to choose from; empty: those of the plans that are known.
    """

    def __init__(self, knowledge: Knowledge[Any, Any], imagine: Callable[[], Any], among: Sequence[Any] = ()) -> None:
        self._game = knowledge.game
        self._knowledge = knowledge
        self._imagine = imagine
        world = imagine()
        plans = [Plan((move,), 1.0) for move in among] or knowledge.plans(world)
        self.is_decided = len(plans) == 1
        """Whether there is but one plan."""
        self._begin(world, plans)

    @abstractmethod
    def _begin(self, world: Any, plans: list[Plan[Any]]) -> None:
        """Set up what the search keeps: the first world, and the plans in it, the most promising one first."""

    @abstractmethod
    def iterate(self, spent: float) -> None:
        """Look once more.

        Args:
            spent: share of what there is to spend on the move, 0 to 1.
        """

    @abstractmethod
    def best(self) -> Any:
        """Return the first move of the plan that did best."""

    @abstractmethod
    def worth(self, move: Any) -> float:
        """Return what a move has been worth so far, of those that a plan begins with: the share of a win, 0 to 1."""

    def _after(self, state: Any, plan: Plan[Any]) -> Any:
        """Return the state after all moves of a plan, their draws delivered."""
        for move in plan.moves:
            state = self._game.deliver(self._game.play(state, move))
        return state

    def _values(self, state: Any, outcome: Outcome | None) -> Values:
        """Return what a state is worth, by seat: what came of it, or else what is known."""
        knowledge = self._knowledge
        return knowledge.values(state) if outcome is None else outcome_values(outcome, knowledge.teams)
