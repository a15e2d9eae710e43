"""Greedy for the Q game: the placement with the most points this turn.

The search is bounded by a number of placements, not by a clock, so that the same view always gives the same move; the
bound keeps a turn well within 100 ms.
"""

from collections.abc import Callable
from typing import Any

from referee.games.base import Game

from .q_placements import WIDE, Placements
from .q_table import board_of, exchange_or_pass, hand_of, place


def make_greedy(_game: Game[Any, Any, Any], options: Any, _seed: bytes) -> Callable[[Any], Any]:
    """Make the greedy player for one match."""

    def _choose(view: Any) -> Any:
        found = Placements(board_of(view), tuple(hand_of(view)), options, WIDE).all()
        return place(found[0].placed) if found else exchange_or_pass(view)

    return _choose
