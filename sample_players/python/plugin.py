"""The plugin of the house players that come with the referee."""

from collections.abc import Callable, Iterable
from typing import Any

from referee import hookimpl
from referee.games.base import Game
from referee.hookspecs import HousePlayer

from . import any_random, q_greedy, q_simple, quadominos_greedy, quincala_greedy, quincy_greedy, search

Make = Callable[[Game[Any, Any, Any], Any, bytes], Callable[[Any], Any]]
GREEDY: dict[str, Make] = {
    "q": q_greedy.make_greedy,
    "quincy": quincy_greedy.make_greedy,
    "quincala": quincala_greedy.make_greedy,
    "quadominos": quadominos_greedy.make_greedy,
}
RANDOM: dict[str, Make] = {
    "q": q_simple.make_random,
    "quincy": any_random.make_random,
    "quincala": any_random.make_random,
    "quadominos": any_random.make_random,
}


_SEARCH = f"Looks ahead from what it knows; {search.BUDGET_S} s a move."


def _by_game(makers: dict[str, Make]) -> Make:
    return lambda game, options, seed: makers[game.name](game, options, seed)


@hookimpl
def referee_house_players() -> Iterable[HousePlayer]:
    """Return the house players: three for every game, and the course's two for the Q game."""
    return [
        HousePlayer("random", tuple(RANDOM), _by_game(RANDOM), "Anything legal, by chance."),
        HousePlayer("greedy", tuple(GREEDY), _by_game(GREEDY), "What looks best this turn."),
        HousePlayer("search", tuple(search.KNOWLEDGE), search.make_search, _SEARCH),
        HousePlayer("dag", ("q",), q_simple.make_dag, "The smallest tile that fits, on its first spot; repeated."),
        HousePlayer("ldasg", ("q",), q_simple.make_ldasg, "As dag, but on the tile's spot with the most neighbours."),
    ]
