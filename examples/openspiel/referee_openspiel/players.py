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

    A choice depends on the seed and the view alone, so that a program which is started again in the middle of a match
    goes on as the first one would have.
    """
    # The library's Python part imports for half a second: that is only spent where this player plays.
    import numpy as np  # noqa: PLC0415
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator  # noqa: PLC0415

    def _choose(view: Any) -> Any:
        typed = msgspec.convert(view, game.view_type, strict=True)
        state = game.imagine(options, typed, Dealer(bytes(32)))
        chance = np.random.RandomState(
            random.Random(seed + msgspec.msgpack.encode(view)).getrandbits(32)
        )  # what the library takes
        evaluator = RandomRolloutEvaluator(_ROLLOUTS, chance)
        bot = MCTSBot(state.native.get_game(), _EXPLORATION, SIMULATIONS, evaluator, random_state=chance)
        return int(bot.step(state.native.clone()))

    return _choose
