"""The plugin of the house players that come with the referee."""

from collections.abc import Callable, Iterable
from typing import Any

from referee import hookimpl
from referee.games.base import Game
from referee.hookspecs import HousePlayer

from . import any_random, greedy, q_simple, search

_SEARCH = f"Looks ahead from what it knows; {search.BUDGET_S} s a move."

_DAG = "The smallest tile that fits, on its first spot; repeated."
_LDASG = "As dag, but on the tile's spot with the most neighbours."


def make_random(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the random player for one match; at the Q game, most of its moves lay several tiles."""
    make = q_simple.make_random if game.name == "q" else any_random.make_random
    return make(game, options, seed)


@hookimpl
def referee_house_players() -> Iterable[HousePlayer]:
    """Return the house players: two for every game, one for the built-in ones, the course's two for the Q game."""
    games = tuple(greedy.PICKS)
    return [
        HousePlayer("random", (), make_random, "Anything legal, by chance."),
        HousePlayer("greedy", (), greedy.make_greedy, "What looks best this turn.", draws_chance=False),
        HousePlayer("search", games, search.make_search, _SEARCH),
        HousePlayer("dag", ("q",), q_simple.make_dag, _DAG, draws_chance=False),
        HousePlayer("ldasg", ("q",), q_simple.make_ldasg, _LDASG, draws_chance=False),
    ]
