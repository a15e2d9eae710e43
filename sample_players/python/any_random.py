"""A random player for any game: plays one of the legal moves of a state that agrees with the view."""

import random
from collections.abc import Callable
from typing import Any

import msgspec

from referee.games.base import Game

from .imagined import Shuffler, plain, view_of


def make_random(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the random player for one match; the same seed gives the same choices.

    A choice depends only on the seed and the view. So a program that is started again in the middle of a match makes
    the same choices as the first one.
    """

    def _choose(view: Any) -> Any:
        chance = random.Random(seed + msgspec.msgpack.encode(view))
        state = game.imagine(options, view_of(game, view), Shuffler(chance))
        return plain(chance.choice(game.legal_moves(state)))

    return _choose
