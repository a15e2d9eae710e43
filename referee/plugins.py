"""Loads what implements hookspecs: built-in games and everything installed under the entry point group `referee`.

Knows names and duplicates. Refuses to know what a game or a player does.
"""

from typing import Any

import pluggy

from . import hookspecs
from .games import builtin
from .games.base import Game
from .hookspecs import HousePlayer

GROUP = "referee"


class PluginError(Exception):
    """A plugin that cannot be used; the text names it and says why."""


class Registry:
    """All games and house players of this installation, by name."""

    def __init__(self, games: dict[str, Game[Any, Any, Any]], players: dict[str, HousePlayer]) -> None:
        self.games = games
        self.players = players

    def game(self, name: str) -> Game[Any, Any, Any]:
        """Find a game.

        Raises:
            PluginError: none has that name; the text lists those there are.
        """
        if name not in self.games:
            raise PluginError(f"there is no game {name!r}; there are: {', '.join(sorted(self.games))}")
        return self.games[name]

    def player(self, name: str) -> HousePlayer:
        """Find a house player.

        Raises:
            PluginError: none has that name; the text lists those there are.
        """
        if name not in self.players:
            raise PluginError(f"there is no house player {name!r}; there are: {', '.join(sorted(self.players))}")
        return self.players[name]


def load() -> Registry:
    """Load every plugin of this installation.

    Raises:
        PluginError: a plugin has an unknown hook, or two add the same name.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    manager.register(builtin, "builtin")
    manager.load_setuptools_entrypoints(GROUP)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(f"plugin {error.plugin!r}: {error}") from None
    games: dict[str, Game[Any, Any, Any]] = {}
    players: dict[str, HousePlayer] = {}
    for found in manager.hook.referee_games():
        for game in found:
            _add(games, game.name, game, "game")
    for listed in manager.hook.referee_house_players():
        for player in listed:
            _add(players, player.name, player, "house player")
    return Registry(games, players)


def _add(table: dict[str, Any], name: str, value: Any, kind: str) -> None:
    if name in table:
        raise PluginError(f"two plugins add a {kind} named {name!r}")
    table[name] = value
