"""What every search of one move has: the game, what is known of it, and worlds to imagine."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from referee.games.base import Game, Outcome

from .search_knowledge import Knowledge, Plan, Teams, Values, outcome_values


class MoveSearch(ABC):
    """The search of one move.

    Args:
        game: the rules.
        knowledge: of the game.
        imagine: returns a state that the seat to move may be in, another one each time.
        teams: as the game says.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        knowledge: Knowledge[Any, Any],
        imagine: Callable[[], Any],
        teams: Teams,
    ) -> None:
        self._game = game
        self._knowledge = knowledge
        self._imagine = imagine
        self._teams = teams
        world = imagine()
        self._begin(world, knowledge.plans(world))

    @abstractmethod
    def _begin(self, world: Any, plans: list[Plan[Any]]) -> None:
        """Set up what the search keeps.

        Args:
            world: the first one.
            plans: of the seat to move, the most promising one first.
        """

    @property
    @abstractmethod
    def is_decided(self) -> bool:
        """Whether there is but one plan."""

    @abstractmethod
    def iterate(self, spent: float) -> None:
        """Look once more.

        Args:
            spent: share of what there is to spend on the move, 0 to 1.
        """

    @abstractmethod
    def best(self) -> Any:
        """Return the first move of the plan that did best."""

    def _after(self, state: Any, plan: Plan[Any]) -> Any:
        """Return the state after all moves of a plan, their draws delivered."""
        for move in plan.moves:
            state = self._game.deliver(self._game.play(state, move))
        return state

    def _values(self, state: Any, outcome: Outcome | None) -> Values:
        """Return what a state is worth, by seat: what came of it, or else what is known."""
        return self._knowledge.values(state) if outcome is None else outcome_values(outcome, self._teams)
