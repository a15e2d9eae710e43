"""Runs one house player as a program of its own: `python -m referee.house NAME`. What `house:NAME` starts."""

import itertools
import os
import sys
from collections.abc import Callable
from typing import Any

from protocol.client import ClientError, ProtocolError, run
from protocol.messages import Terms

from .chance import derive
from .plugins import PluginError, load


def main(arguments: list[str]) -> int:
    """Play until the referee closes.

    Args:
        arguments: the house player's name.

    Returns:
        0, or 1 if the player could not play on.
    """
    if len(arguments) != 1:
        print("usage: python -m referee.house NAME", file=sys.stderr)
        return 2
    try:
        registry = load()
        player = registry.player(arguments[0])
    except PluginError as error:
        print(f"house player: {error}", file=sys.stderr)
        return 2
    seed = bytes.fromhex(os.environ.get("REFEREE_PLAYER_SEED", "")) or os.urandom(32)

    numbers = itertools.count()

    def _make(offer: Terms) -> Callable[[Any], Any]:
        game, number = registry.game(offer.game), next(numbers)
        own = derive(seed, f"match:{number}") if number else seed  # else each match would have the chance of the first
        return player.make(game, game.parse_options(offer.options), own)

    try:
        run(make=_make, name=os.environ.get("REFEREE_NAME", player.name), say=None)
    except (ClientError, ProtocolError, OSError) as error:
        print(f"house player {player.name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
