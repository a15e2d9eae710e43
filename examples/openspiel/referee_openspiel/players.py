"""The library's Monte Carlo tree search as a house player."""

import random
from collections.abc import Callable
from typing import Any

import msgspec

from referee.chance import Dealer
from referee.games.base import Game

SIMULATIONS = 500
_ROLLOUTS = 1
_EXPLORATION = 2.0


def make_mcts(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the searching player for one match; the same seed gives the same choices.

    A choice depends only on the seed and the view. So a program that is started again in the middle of a match makes
    the same choices as the first one.
    """
    # Importing the library's Python part takes half a second, so it is imported only when this player plays.
    import numpy as np  # noqa: PLC0415
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator  # noqa: PLC0415

    def _choose(view: Any) -> Any:
        typed = msgspec.convert(view, game.view_type, strict=True)
        state = game.imagine(options, typed, Dealer(bytes(32)))
        chance = np.random.RandomState(
            random.Random(seed + msgspec.msgpack.encode(view)).getrandbits(32)
        )  # the library needs this type
        evaluator = RandomRolloutEvaluator(_ROLLOUTS, chance)
        bot = MCTSBot(state.native.get_game(), _EXPLORATION, SIMULATIONS, evaluator, random_state=chance)
        return int(bot.step(state.native.clone()))

    return _choose
