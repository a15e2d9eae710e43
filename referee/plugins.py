"""Loads the plugins: the built-in ones, and all that are installed under the entry point group `referee`."""

# The result is a registry, which finds games, house players, formats and dialects by name. A plugin that can't be
# imported stops the referee: if it were left out silently, a tournament could start without an observer that somebody
# needs.

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pluggy

from . import builtin, hookspecs
from .errors import BadRequest, RefereeError
from .games.base import Game
from .hookspecs import Dialect, HousePlayer, Later
from .text import nearest
from .tournament.pairing.base import PairingFormat

if TYPE_CHECKING:
    from .observers import Observer
    from .record.audit.evidence import Wire

GROUP = "referee"
T = TypeVar("T")


class PluginError(RefereeError):
    """A plugin that can't be used; the text names it and says why."""


class UnknownName(PluginError, BadRequest):
    """No plugin has that name; the text suggests the most similar name, or lists all names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All plugins of this installation, by name. Games and formats are imported when they are looked up."""

    games: Mapping[str, Game[Any, Any, Any]]
    players: Mapping[str, HousePlayer]
    formats: Mapping[str, PairingFormat[Any]]
    dialects: Mapping[str, Dialect]
    observers: "tuple[Callable[[], Observer], ...]"
    """Factories of observers; each observer runs in its own thread, for one command."""

    def game(self, name: str) -> Game[Any, Any, Any]:
        """Find a game.

        Raises:
            UnknownName: no plugin has that name.
        """
        return _find(name, self.games, "game")

    def player(self, name: str) -> HousePlayer:
        """Find a house player.

        Raises:
            UnknownName: no plugin has that name.
        """
        return _find(name, self.players, "house player", "house:")

    def player_of(self, game: str, name: str) -> HousePlayer:
        """Find a house player that plays a game.

        Args:
            game: name of the game.
            name: name of the player; `house:` may stand before it.

        Raises:
            UnknownName: no plugin has that name, or it does not play the game.
        """
        players = {known.name: known for known in self.players.values() if game in (known.games or (game,))}
        wanted = name.removeprefix("house:")
        if wanted not in players:
            raise UnknownName(
                f"there is no house player {wanted!r} of {game}{nearest(wanted, sorted(players), 'house:')}"
            )
        return players[wanted]

    def format(self, name: str) -> PairingFormat[Any]:
        """Find a pairing format.

        Raises:
            UnknownName: no plugin has that name.
        """
        return _find(name, self.formats, "pairing format")

    def dialect(self, name: str) -> Dialect:
        """Find a dialect.

        Raises:
            UnknownName: no plugin has that name.
        """
        return _find(name, self.dialects, "dialect")

    def wire(self, name: str) -> "Wire":
        """Return the object that reads the bytes of a dialect's players in records.

        Raises:
            UnknownName: no dialect has that name.
        """
        return self.dialect(name).wire()


def load() -> Registry:
    """Load every plugin of this installation.

    Raises:
        PluginError: a plugin can't be imported, has an unknown or failing hook, or two plugins add the same name.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    manager.register(builtin, "builtin")
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    for entry in entries.values():
        plugin = _import_plugin(entry)
        with _naming(entry):
            manager.register(plugin, entry.name)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        with _naming(entries.get(manager.get_name(error.plugin) or "")):
            raise
    collect, hook = partial(_collect, entries), manager.hook
    return Registry(
        games=_Plugins(collect(hook.referee_games, Game, Later), "game", Game),
        players=_Plugins(collect(hook.referee_house_players, HousePlayer), "house player", HousePlayer),
        formats=_Plugins(collect(hook.referee_formats, PairingFormat, Later), "pairing format", PairingFormat),
        dialects=_Plugins(collect(hook.referee_dialects, Dialect), "dialect", Dialect),
        observers=tuple(make for make, _ in collect(hook.referee_observers, Callable)),
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
        UnknownName: nothing has that name.
        PluginError: a plugin can't be used.
    """
    return installed().game(name)


def find_format(name: str) -> PairingFormat[Any]:
    """Return the format of a tournament on record: one of this installation, or the format of comparisons.

    Raises:
        UnknownName: nothing has that name.
        PluginError: a plugin can't be used.
    """
    from .tournament.sprt import SprtMatch  # noqa: PLC0415  # the statistics of comparisons take long to import

    return SprtMatch() if name == SprtMatch.name else installed().format(name)


def _find(name: str, plugins: Mapping[str, T], kind: str, before: str = "") -> T:
    if name not in plugins:
        raise UnknownName(f"there is no {kind} {name!r}{nearest(name, sorted(plugins), before)}")
    return plugins[name]


def _import_plugin(entry: EntryPoint) -> object:
    with _naming(entry, f"can't be imported from {entry.value}: "):
        return entry.load()


@contextmanager
def _naming(entry: EntryPoint | None, trouble: str = "") -> Iterator[None]:
    """Turn any error into one that names the plugin and its package, and says what to do.

    Args:
        entry: where the plugin is installed; None for a built-in one, whose errors are left as they are.
        trouble: words before the error's own text, which say what failed.

    Raises:
        PluginError: the block failed.
    """
    try:
        yield
    except Exception as error:
        if entry is None:
            raise
        package = f" of the package {entry.dist.name}" if entry.dist else ""
        cause = f"{type(error).__name__}: {error}"
        if isinstance(error, pluggy.PluginValidationError):  # its text ends with the plugin's path on this machine
            cause = str(error).partition(" in plugin ")[0]
        text = f"plugin {entry.name!r}{package}: {trouble}{' '.join(cause.split())}"
        raise PluginError(f"{text}; fix it, or uninstall it") from error


def _collect(
    entries: Mapping[str, EntryPoint], hook: pluggy.HookCaller, *classes: Any
) -> Iterator[tuple[Any, EntryPoint | None]]:
    """Yield everything that the plugins add by one hook, and where each is installed; the built-in ones come last.

    pluggy would call all plugins at once, and an error would not say which of them failed.

    Args:
        entries: name of a plugin that is not built in -> where it is installed.
        hook: the hook.
        classes: classes of the values, the usual one first.

    Raises:
        PluginError: a plugin's function fails, or returns something else.
    """
    for implementation in reversed(hook.get_hookimpls()):
        add: Any = implementation.function
        entry = entries.get(implementation.plugin_name)
        with _naming(entry, f"{hook.name} failed: "):
            for value in (added := list(add())):
                _check_class(value, *classes)
        yield from ((value, entry) for value in added)


def _check_class(value: object, *classes: Any) -> None:
    if not isinstance(value, classes):
        raise TypeError(f"it adds an object of the class {type(value).__name__}, not {classes[0].__name__}")


class _Plugins(Mapping[str, T]):
    """Plugins of one kind, by name. One that is to be imported later is imported when it is looked up.

    Args:
        added: each plugin, and where it is installed; None for a built-in one.
        kind: their kind in words.
        wanted: their class.

    Raises:
        PluginError: two plugins have the same name.
    """

    def __init__(self, added: Iterable[tuple[Any, EntryPoint | None]], kind: str, wanted: Any) -> None:
        self._wanted = wanted
        self._added: dict[str, tuple[Any, EntryPoint | None]] = {}
        for value, entry in added:
            if value.name in self._added:
                raise PluginError(f"two plugins add a {kind} named {value.name!r}; uninstall one of them")
            self._added[value.name] = value, entry

    def __getitem__(self, name: str) -> T:
        """Return the plugin of a name.

        Raises:
            KeyError: there is none.
            PluginError: it can't be imported, or is something else.
        """
        value, entry = self._added[name]
        if isinstance(value, Later):
            with _naming(entry, f"can't be imported from {value.home}: "):
                plugin = value()
                _check_class(plugin, self._wanted)
                if plugin.name != name:
                    raise ValueError(f"it is named {plugin.name!r}, not {name!r}")
            self._added[name] = plugin, entry
            return cast("T", plugin)
        return cast("T", value)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a plugin of that name; nothing is imported."""
        return name in self._added

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._added)

    def __len__(self) -> int:
        """Return the number of plugins."""
        return len(self._added)
