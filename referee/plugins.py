"""Loads the plugins: what is built in, and everything installed under the entry point group `referee`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from . import hookspecs
from .errors import BadRequest, RefereeError
from .games import builtin as builtin_games
from .games.base import Game
from .hookspecs import Dialect, HousePlayer
from .record.audit.evidence import Wire
from .text import nearest
from .tournament.pairing import builtin as builtin_formats
from .tournament.pairing.base import PairingFormat
from .tournament.sprt import SprtMatch

if TYPE_CHECKING:
    from .observers import Observer

GROUP = "referee"
T = TypeVar("T")


class PluginError(RefereeError):
    """A plugin that cannot be used; the text names it and says why."""


class UnknownName(PluginError, BadRequest):
    """No plugin has the name that was asked for; the text has the one that was probably meant, or all there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All that this installation has, by name."""

    games: dict[str, Game[Any, Any, Any]]
    players: dict[str, HousePlayer]
    formats: dict[str, PairingFormat[Any]]
    dialects: dict[str, Dialect]
    observers: "tuple[Callable[[], Observer], ...]"
    """Each makes an observer for one command, in a thread of its own."""

    def game(self, name: str) -> Game[Any, Any, Any]:
        """Find a game.

        Raises:
            UnknownName: none has that name.
        """
        return _named(name, self.games, "game")

    def player(self, name: str) -> HousePlayer:
        """Find a house player.

        Raises:
            UnknownName: none has that name.
        """
        return _named(name, self.players, "house player", "house:")

    def format(self, name: str) -> PairingFormat[Any]:
        """Find a pairing format.

        Raises:
            UnknownName: none has that name.
        """
        return _named(name, self.formats, "pairing format")

    def dialect(self, name: str) -> Dialect:
        """Find a dialect.

        Raises:
            UnknownName: none has that name.
        """
        return _named(name, self.dialects, "dialect")

    def wire(self, name: str) -> Wire:
        """Return what reads the bytes that records keep of a dialect's players.

        Raises:
            UnknownName: no dialect has that name.
        """
        return self.dialect(name).wire


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
    hook = manager.hook
    return Registry(
        games=_by_name(hook.referee_games(), "game"),
        players=_by_name(hook.referee_house_players(), "house player"),
        formats=_by_name(hook.referee_formats(), "pairing format"),
        dialects=_by_name(hook.referee_dialects(), "dialect"),
        observers=tuple(make for added in hook.referee_observers() for make in added),
    )


@cache
def installed() -> Registry:
    """Return the plugins of this installation, loaded once in each process.

    Raises:
        PluginError: as for load.
    """
    return load()


def find_game(name: str) -> Game[Any, Any, Any]:
    """Return a game of this installation.

    Raises:
        UnknownName: there is none of that name.
        PluginError: a plugin can't be used.
    """
    return installed().game(name)


def find_format(name: str) -> PairingFormat[Any]:
    """Return the format of a tournament that was played: one of this installation, or that of comparisons.

    Raises:
        UnknownName: there is none of that name.
        PluginError: a plugin can't be used.
    """
    return SprtMatch() if name == SprtMatch.name else installed().format(name)


def _named(name: str, known: Mapping[str, T], kind: str, before: str = "") -> T:
    if name not in known:
        raise UnknownName(f"there is no {kind} {name!r}{nearest(name, sorted(known), before)}")
    return known[name]


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
