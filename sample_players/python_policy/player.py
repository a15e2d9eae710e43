"""A player that uses the policy which `train.py` has trained for the game and its number of seats.

    python3 player.py

If nothing was trained for a game, it plays any legal move.
"""

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    import numpy as np
    from network import Floats, Network

    from protocol.client import run
    from protocol.messages import Terms
    from referee.learning import Policy, chooser, encoding_of
except ModuleNotFoundError as missing:
    sys.exit(
        f"ModuleNotFoundError: {missing}. This is {sys.executable}; run it with the Python that has the referee: "
        "activate its virtual environment, or name its python3 in player.toml"
    )

CHANCE = random.Random(os.environ.get("REFEREE_PLAYER_SEED"))
"""Random numbers; matches with the same seed get the same numbers, so that a match can be repeated."""


def begin(offer: Terms) -> Callable[[Any], Any]:
    """Return the function that chooses the moves of an offered match."""
    encoding = encoding_of(offer.game, len(offer.names), offer.options)
    path = Path(__file__).with_name(f"{offer.game}-{encoding.seats}.npz")
    return chooser(encoding, trained(Network.load(path)) if path.exists() else anything)


def trained(network: Network) -> Policy:
    """Return the policy that takes the action which a network prefers."""

    def best(observation: Floats, mask: Any) -> int:
        """Return the most likely action."""
        return int(np.argmax(network.chances(observation, mask)))

    return best


def anything(_observation: Floats, mask: Any) -> int:
    """Choose any legal action."""
    return int(CHANCE.choice(np.flatnonzero(mask)))


if __name__ == "__main__":
    run(make=begin)
