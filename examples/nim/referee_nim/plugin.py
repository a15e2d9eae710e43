"""The parts that this package adds to the referee. The entry point in setup.cfg names this module."""

from collections.abc import Callable, Iterable
from typing import Any

from referee import hookimpl
from referee.games.base import Game
from referee.hookspecs import HousePlayer
from referee.observers import Observer

from .game import NimGame
from .observer import HeapLog
from .players import make_careless, make_perfect


@hookimpl
def referee_games() -> Iterable[Game[Any, Any, Any]]:
    """Return the game."""
    return [NimGame()]


@hookimpl
def referee_house_players() -> Iterable[HousePlayer]:
    """Return the house players; no other package may use their names."""
    return [
        HousePlayer("perfect", ("nim",), make_perfect, "Wins whenever it can."),
        HousePlayer("careless", ("nim",), make_careless, "Takes one object from any heap."),
    ]


@hookimpl
def referee_observers() -> Iterable[Callable[[], Observer]]:
    """Return the class of the observer, which makes it."""
    return [HeapLog]
