"""A Monte Carlo tree search for one move, over the information sets of one observer.

Each iteration imagines the hidden part anew, and goes down the same tree along plans that are possible in that world.
It adds a node, and passes the worth of the new position up. Not every plan is possible in every world. So the visits of
a plan are compared with the number of visits in which it was possible.

Source: P. Cowling, E. Powley, D. Whitehouse, Information Set Monte Carlo Tree Search, IEEE Transactions on
Computational Intelligence and AI in Games 4 (2012), SO-ISMCTS. Weighing the bounds by the promise of a plan follows the
predictor of C. Rosin, Multi-armed bandits with episode context (2011); the form used here is our own.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .search_knowledge import Plan, Values
from .search_move import Moves, MoveSearch, after

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
