"""Random for any game: one of the legal moves of a state that fits the view."""

import random
from collections.abc import Callable
from typing import Any

import msgspec

from referee.games.base import Game

from .imagined import Shuffler, plain, view_of


def make_random(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the random player for one match; the same seed gives the same choices.

    A choice depends on seed and view alone: a program that is started again in the middle of a match, goes on as the
    first one would have.
    """

    def _choose(view: Any) -> Any:
        chance = random.Random(seed + msgspec.msgpack.encode(view))
        state = game.imagine(options, view_of(game, view), Shuffler(chance))
        return plain(chance.choice(game.legal_moves(state)))

    return _choose
