"""Random for any game: one of the legal moves of a state that fits the view. Knows no game."""

import random
from collections.abc import Callable
from typing import Any

from referee.games.base import Game

from .imagined import Shuffler, plain, view_of


def make_random(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the random player for one match; the same seed gives the same choices."""
    chance = random.Random(seed)

    def _choose(view: Any) -> Any:
        state = game.imagine(options, view_of(game, view), Shuffler(chance))
        return plain(chance.choice(game.legal_moves(state)))

    return _choose
