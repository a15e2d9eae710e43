"""Loads what implements hookspecs: what is built in and everything installed under the entry point group `referee`.

Knows names and duplicates. Refuses to know what a game, a player or a format does.
"""

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from . import hookspecs
from .errors import RefereeError
from .games import builtin as builtin_games
from .games.base import Game
from .hookspecs import HousePlayer
from .pairing import builtin as builtin_formats
from .pairing.base import PairingFormat

GROUP = "referee"


class PluginError(RefereeError):
    """A plugin that cannot be used; the text names it and says why."""


class Registry:
    """All games, house players and pairing formats of this installation, by name."""

    def __init__(
        self,
        games: dict[str, Game[Any, Any, Any]],
        players: dict[str, HousePlayer],
        formats: dict[str, PairingFormat[Any]],
    ) -> None:
        self.games = games
        self.players = players
        self.formats = formats

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

    def format(self, name: str) -> PairingFormat[Any]:
        """Find a pairing format.

        Raises:
            PluginError: none has that name; the text lists those there are.
        """
        if name not in self.formats:
            raise PluginError(f"there is no pairing format {name!r}; there are: {', '.join(sorted(self.formats))}")
        return self.formats[name]


def load() -> Registry:
    """Load every plugin of this installation.

    Raises:
        PluginError: a plugin can't be imported or has an unknown hook, or two add the same name.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    manager.register(builtin_games, "builtin games")
    manager.register(builtin_formats, "builtin formats")
    for entry in entry_points(group=GROUP):
        manager.register(_imported(entry), entry.name)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(f"plugin {error.plugin!r}: {error}") from None
    return Registry(
        _by_name(manager.hook.referee_games(), "game"),
        _by_name(manager.hook.referee_house_players(), "house player"),
        _by_name(manager.hook.referee_formats(), "pairing format"),
    )


def _imported(entry: EntryPoint) -> object:
    """Import a plugin.

    Raises:
        PluginError: it can't be; the text names it and its package.
    """
    try:
        return entry.load()
    except Exception as error:
        package = f" of the package {entry.dist.name}" if entry.dist else ""
        text = f"plugin {entry.name!r}{package} can't be imported from {entry.value}"
        raise PluginError(f"{text}: {type(error).__name__}: {error}; mend it, or uninstall it") from error


def _by_name(plugins: Iterable[Iterable[Any]], kind: str) -> dict[str, Any]:
    """Return what all plugins add, by name.

    Raises:
        PluginError: two add the same name.
    """
    table: dict[str, Any] = {}
    for added in plugins:
        for value in added:
            if value.name in table:
                raise PluginError(f"two plugins add a {kind} named {value.name!r}")
            table[value.name] = value
    return table
