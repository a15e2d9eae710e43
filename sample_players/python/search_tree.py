"""Two searches for one move, over the information sets of one observer: a Monte Carlo tree search, and a race.

In the tree search, each iteration imagines the hidden part anew, and goes down the same tree along plans that are
possible in that world. It adds a node, and passes the worth of the new position up. Not every plan is possible in every
world. So the visits of a plan are compared with the number of visits in which it was possible.

Source: P. Cowling, E. Powley, D. Whitehouse, Information Set Monte Carlo Tree Search, IEEE Transactions on
Computational Intelligence and AI in Games 4 (2012), SO-ISMCTS. Weighing the bounds by the promise of a plan follows the
predictor of C. Rosin, Multi-armed bandits with episode context (2011); the form used here is our own.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

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


_key = msgspec.msgpack.Encoder().encode
"""Encodes a plan's moves as bytes, because not every move is hashable."""


@dataclass(slots=True)
class Node:
    """The results of one plan."""

    plan: Plan[Any]
    """The plan that led here; an empty one at the root."""
    visits: int = 0
    available: int = 0
    """Number of visits of the parent in which this plan was possible."""
    total: float = 0.0
    """Sum of the values of its visits, for the seat whose plan it is."""
    children: dict[bytes, "Node"] = field(default_factory=dict)
    listed: list[Plan[Any]] | None = None
    """The plans from here, if they are always the same."""


class Tree(MoveSearch):
    """A search for one move in a tree of plans."""

    def _begin(self, world: Any, plans: list[Plan[Any]]) -> None:
        self._worlds = [world]
        self._root = Node(Plan((), 1.0), listed=plans)

    def iterate(self, spent: float) -> None:
        """Go down the tree once, and up again."""
        node = self._selected(self._root, self._root.listed or [])
        state = self._world(node.visits)
        way: list[tuple[int, Node]] = []
        while True:
            way.append((self._game.to_move(state), node))
            state = after(self._game, state, node.plan.moves)
            outcome = self._game.outcome(state)
            if outcome is not None or not node.visits:
                break
            node = self._selected(node, self._plans(node, state))
        self._settle(way, self._values(state, outcome))

    def _world(self, number: int) -> Any:
        """Return a state of the root. All plans are tried in the same states in turn, so that luck does not decide."""
        if number == len(self._worlds):
            self._worlds.append(self._imagine())
        return self._worlds[number]

    def best(self) -> Moves:
        """Return the moves of the best plan among those with at least half as many visits as the most visited one."""
        tried = self._root.children.values()
        most = max((node.visits for node in tried), default=0)
        if not most:
            return (self._root.listed or [])[0].moves
        trusting = self._knowledge.trusting

        def _worth(node: Node) -> float:
            return node.total / node.visits + trusting * math.log(node.plan.weight)

        best = max((node for node in tried if 2 * node.visits >= most), key=_worth)
        return best.plan.moves

    def _plans(self, node: Node, state: Any) -> list[Plan[Any]]:
        if node.listed is not None:
            return node.listed
        plans = self._knowledge.plans(state)
        if self._knowledge.is_open:
            node.listed = plans
        return plans

    def _selected(self, node: Node, plans: list[Plan[Any]]) -> Node:
        """Return the child with the highest bound; this may be a new child."""
        nodes = []
        for plan in plans:
            child = node.children.setdefault(_key(plan.moves), Node(plan))
            child.plan = plan
            child.available += 1
            nodes.append((child, plan.weight))
        visits = sum(child.visits for child, _ in nodes)
        usual = sum(child.total for child, _ in nodes) / visits if visits else 0.5
        exploring, trusting = self._knowledge.exploring, self._knowledge.trusting

        def _bound(pair: tuple[Node, float]) -> float:
            child, weight = pair
            mean = child.total / child.visits if child.visits else usual
            doubt = math.sqrt(math.log(1 + child.available) / (1 + child.visits))
            return mean + trusting * math.log(weight) + exploring * weight * doubt

        return max(nodes, key=_bound)[0]

    @staticmethod
    def _settle(way: list[tuple[int, Node]], values: Values) -> None:
        for seat, node in way:
            node.visits += 1
            node.total += values[seat]


# A race of plans: all are tried in the same imagined worlds, and the worse half drops out repeatedly.
#
# If much is hidden, results vary more from world to world than from plan to plan. So it is better to try every plan in
# many worlds than to look far ahead in few. Bad plans are found early; separating the best two takes most of the time.
#
# Source: Z. Karnin, T. Koren, O. Somekh, Almost Optimal Exploration in Multi-Armed Bandits, ICML 2013, sequential
# halving. Using the same worlds for all plans is our own addition.


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
