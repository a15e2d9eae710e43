"""A race of plans for one move: all are tried in the same imagined worlds, and the worse half drops out repeatedly.

If much is hidden, results vary more from world to world than from plan to plan. So it is better to try every plan in
many worlds than to look far ahead in few. Bad plans are found early; separating the best two takes most of the time.

Source: Z. Karnin, T. Koren, O. Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013, sequential
halving. Using the same worlds for all plans is our own addition.
"""

import math
from dataclasses import dataclass
from typing import Any

from .search_knowledge import Plan
from .search_move import Moves, MoveSearch, after


@dataclass(slots=True)
class _Runner:
    plan: Plan[Any]
    total: float = 0.0
    worlds: int = 0

    def worth(self, trusting: float) -> float:
        """Return the mean value, minus a penalty for a plan of little promise."""
        mean = self.total / self.worlds if self.worlds else 0.5
        return mean + trusting * math.log(self.plan.weight)


class Race(MoveSearch):
    """A search for one move as a race of its plans."""

    def _begin(self, world: Any, plans: list[Plan[Any]]) -> None:
        self._world = world
        self._seat = self._game.to_move(world)
        self._runners = [_Runner(plan) for plan in plans]
        self._laps = math.ceil(math.log2(len(self._runners)))
        self._lap = 0
        self._next = 0

    def iterate(self, spent: float) -> None:
        """Try the next plan in the present world; after the last, drop plans if it is time, and imagine a new world.

        Args:
            spent: share of the budget that is used up, 0 to 1.
        """
        runner = self._runners[self._next]
        state = after(self._game, self._world, runner.plan.moves)
        runner.total += self._values(state, self._game.outcome(state))[self._seat]
        runner.worlds += 1
        self._next += 1
        if self._next == len(self._runners):
            self._next = 0
            self._world = self._imagine()
            if spent * self._laps >= self._lap + 1:
                self._lap += 1
                self._runners = self._ranked()[: (len(self._runners) + 1) // 2]

    def best(self) -> Moves:
        """Return the moves of the plan that is in front."""
        return self._ranked()[0].plan.moves

    def _ranked(self) -> list[_Runner]:
        trusting = self._knowledge.trusting
        return sorted(self._runners, key=lambda runner: -runner.worth(trusting))
