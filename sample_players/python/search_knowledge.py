"""The search's questions about a game: which plans are worth trying, and how good is a position?

A plan is a move, or several moves of the same turn. Values have a number for each seat, from 0 to 1: 1 for a sole
winner, 0.5 if all share the only rank.
"""

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from referee.games.base import Game, Outcome

S = TypeVar("S")
M = TypeVar("M")

Values = Sequence[float]
"""Values by seat; those of dropped seats mean nothing."""
Teams = tuple[tuple[int, ...], ...]
MAX_ROLLOUT = 2000
"""Most moves of a random game, because not every game ends by itself; an unfinished one counts as a draw."""


class Plan(NamedTuple, Generic[M]):
    """One or more moves of a seat in one turn."""

    moves: tuple[M, ...]
    """The moves, at least one; nothing hidden is revealed between them."""
    weight: float
    """Promise of the plan, above 0; 1 for the best one of its position."""


class Knowledge(ABC, Generic[S, M]):
    """Knowledge about one game, in addition to its rules.

    Args:
        game: the rules.
        options: the match's.
        teams: teams of the game; empty if every seat plays for itself.
        chance: random numbers for the player's choices.
    """

    exploring: ClassVar[float] = 0.0
    """Weight of plans that were seldom tried, compared with plans that did well, in a tree; theory says sqrt(1/2)."""
    trusting: ClassVar[float] = 0.0
    """Value that a plan loses for a weight below 1, for each unit of the weight's logarithm."""
    is_open: ClassVar[bool] = False
    """True if there is nothing hidden and no chance, so that each node of the tree is always the same position."""
    is_race: ClassVar[bool] = False
    """True to compare plans in as many worlds as possible (Race), and judge them by `values`, instead of a tree."""

    def __init__(self, game: Game[Any, Any, Any], options: Any, teams: Teams, chance: random.Random) -> None:
        self.game = game
        self.options = options
        self.teams = teams
        self.chance = chance

    @abstractmethod
    def plans(self, state: S) -> list[Plan[M]]:
        """Return the plans of the seat to move, the most promising first; there is at least one."""

    @abstractmethod
    def values(self, state: S) -> Values:
        """Return the worth, by seat, of a position that is not over."""


class NoKnowledge(Knowledge[Any, Any]):
    """Knows only the rules: all legal moves are equal plans, and the rest of the game is played at random."""

    exploring = 0.7

    def plans(self, state: Any) -> list[Plan[Any]]:
        """Return each legal move, in random order."""
        moves = self.game.legal_moves(state)
        self.chance.shuffle(moves)
        return [Plan((move,), 1.0) for move in moves]

    def values(self, state: Any) -> Values:
        """Play at random to the end."""
        game = self.game
        for _ in range(MAX_ROLLOUT):
            outcome = game.outcome(state)
            if outcome is not None:
                return outcome_values(outcome, self.teams)
            state = game.deliver(game.play(state, self.chance.choice(game.legal_moves(state))))
        return (0.5,) * game.seat_count(state)


def outcome_values(outcome: Outcome, teams: Teams) -> list[float]:
    """Return the worth of an outcome: the share of the others that rank behind; those of equal rank count half.

    Args:
        outcome: outcome of the game.
        teams: seats that win and lose together, which count as one; empty if every seat plays for itself.
    """
    side_of = {seat: number for number, team in enumerate(teams) for seat in team}
    sides: list[list[int]] = []
    for group in outcome.ranking:
        known = {side for level in sides for side in level}
        sides.append(list(dict.fromkeys(side for seat in group if (side := side_of.get(seat, seat)) not in known)))
    others = sum(map(len, sides)) - 1
    worth: dict[int, float] = {}
    behind = others + 1
    for level in sides:
        behind -= len(level)
        worth.update(dict.fromkeys(level, (behind + (len(level) - 1) / 2) / others if others else 1.0))
    return [worth.get(side_of.get(seat, seat), 0.0) for seat in range(len(outcome.scores))]


def lead_values(points: Sequence[float], order: Sequence[int], scale: float) -> list[float]:
    """Return the worth of points: the mean chance to stay ahead of each other seat.

    Args:
        points: points by seat.
        order: the seats in the game.
        scale: lead in points that wins in 73 % of cases.
    """
    values = [0.0] * len(points)
    for seat in order:
        chances = [sigmoid((points[seat] - points[other]) / scale) for other in order if other != seat]
        values[seat] = sum(chances) / len(chances) if chances else 1.0
    return values


def sigmoid(lead: float) -> float:
    """Return the chance to win with a lead: 0.5 for no lead, near 1 for a lead far above 1."""
    return 1 / (1 + math.exp(-max(min(lead, 30.0), -30.0)))


def weighed(rated: Sequence[tuple[float, tuple[M, ...]]], heat: float, most: int) -> list[Plan[M]]:
    """Return rated moves as plans, the best ones first.

    Args:
        rated: (rating, moves).
        heat: a plan whose rating is this much below the best one has a weight of 37 %.
        most: most plans to keep.
    """
    best = sorted(rated, key=lambda pair: -pair[0])[:most]
    return [Plan(moves, math.exp(max((rating - best[0][0]) / heat, -5.0))) for rating, moves in best]
