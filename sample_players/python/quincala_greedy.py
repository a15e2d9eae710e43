"""Greedy for Quincala Mixing: the end of its own turn that is worth most.

The search is bounded by a number of steps, not by a clock, so that the same view always gives the same move; the bound
keeps a move well within 100 ms.
"""

from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any

from referee.games.base import Game
from referee.games.quincala.game import Move
from referee.games.quincala.turns import State

from .imagined import picking
from .quincala_ends import rated_places, turn_ends, turn_steps

MAX_STEPS = 1000
"""Legs that are tried at most: about 30 ms."""


def _picked(state: State) -> Move:
    """Return the next step of the turn."""
    if state.phase == "place":
        return max(rated_places(state), key=itemgetter(0))[1]
    return turn_steps(state, max(turn_ends(state, MAX_STEPS), key=attrgetter("worth")))[0]


def make_greedy(game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""
    return picking(game, options, _picked)
