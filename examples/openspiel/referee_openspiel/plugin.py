"""The parts that this package adds to the referee. The entry point in setup.cfg names this module."""

from collections.abc import Iterable
from typing import Any

from referee import hookimpl
from referee.games.base import Game
from referee.hookspecs import HousePlayer

from .catalogue import is_open, list_fit
from .game import SpielGame
from .players import make_mcts


@hookimpl
def referee_games() -> Iterable[Game[Any, Any, Any]]:
    """Return the games that can be played."""
    return [SpielGame(kind) for kind in list_fit()]


@hookimpl
def referee_house_players() -> Iterable[HousePlayer]:
    """Return a house player for the open games: the library's own tree search."""
    games = tuple(f"openspiel:{kind.short_name}" for kind in list_fit() if is_open(kind))
    return [HousePlayer("mcts", games, make_mcts, "Monte Carlo tree search of OpenSpiel, 500 simulations a move.")]
