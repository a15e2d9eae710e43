"""The whole plugin contract: what a package may add to the referee.

Built-in games and house players come through this door too. A plugin is a module or object with functions marked
`@referee.hookimpl`, named under the entry point group `referee`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from .games.base import Game
    from .pairing.base import PairingFormat

hookspec = pluggy.HookspecMarker("referee")
hookimpl = pluggy.HookimplMarker("referee")


@dataclass(frozen=True, slots=True)
class HousePlayer:
    """A player program that comes with the referee or with a plugin.

    Args:
        name: what stands behind `house:` on the command line; 1 to 20 letters, digits, - and _, the first one a
            letter or digit.
        games: names of the games it plays.
        make: called once per match with the game, its parsed options and a seed (32 bytes); returns the function from
            a view to a move, both plain (dicts, lists, strings, numbers), as they stand on the wire.
        summary: one sentence for `referee list`.
    """

    name: str
    games: tuple[str, ...]
    make: "Callable[[Game[Any, Any, Any], Any, bytes], Callable[[Any], Any]]"
    summary: str


@hookspec
def referee_games() -> "Iterable[Game[Any, Any, Any]]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return the games that this plugin adds."""


@hookspec
def referee_house_players() -> Iterable[HousePlayer]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the house players that this plugin adds."""


@hookspec
def referee_formats() -> "Iterable[PairingFormat[Any]]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return the pairing formats that this plugin adds."""
