"""The plugin of the house players that come with the referee; the code of each is imported only when it plays."""

from collections.abc import Callable, Iterable
from typing import Any

from referee import builtin
from referee.games.base import Game
from referee.hookspecs import HousePlayer, Later, hookimpl

_SEARCH = "Looks ahead, for 0.5 s a move."
_DAG = "Lays the smallest tile that fits on its first spot, again and again."
_LDASG = "Like dag, but on the tile's spot with the most neighbours."


def _later(home: str) -> Later:
    return Later(f"sample_players.python.{home}")


def make_random(game: Game[Any, Any, Any], options: Any, seed: bytes) -> Callable[[Any], Any]:
    """Make the random player for one match; in the Q game, most of its moves lay several tiles."""
    make = _later("q_simple:make_random" if game.name == "q" else "any_random:make_random")
    choose: Callable[[Any], Any] = make(game, options, seed)
    return choose


@hookimpl
def referee_house_players() -> Iterable[HousePlayer]:
    """Return the house players: two for all games, one for the built-in games, and the course's two for the Q game."""
    games = tuple(game.name for game in builtin.referee_games())
    return [
        HousePlayer("random", (), make_random, "Plays any legal move, at random."),
        HousePlayer("greedy", (), _later("greedy:make_greedy"), "Plays for this turn only.", draws_chance=False),
        HousePlayer("search", games, _later("search:make_search"), _SEARCH),
        HousePlayer("dag", ("q",), _later("q_simple:make_dag"), _DAG, draws_chance=False),
        HousePlayer("ldasg", ("q",), _later("q_simple:make_ldasg"), _LDASG, draws_chance=False),
    ]
