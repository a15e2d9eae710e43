"""The plugin of the house players that come with the referee."""

from collections.abc import Iterable

from referee.hookspecs import HousePlayer, hookimpl

from .q_greedy import make_greedy
from .q_simple import make_dag, make_ldasg, make_random


@hookimpl
def referee_house_players() -> Iterable[HousePlayer]:
    """Return the house players of the Q game."""
    return [
        HousePlayer("random", ("q",), make_random, "Anything legal, by chance."),
        HousePlayer("dag", ("q",), make_dag, "The smallest tile that fits, on its first spot, again and again."),
        HousePlayer("ldasg", ("q",), make_ldasg, "As dag, but on the tile's spot with the most neighbours."),
        HousePlayer("greedy", ("q",), make_greedy, "The placement with the most points this turn."),
    ]
