"""The plugin contract: games, house players, pairing formats, dialects and observers that a package may add.

A plugin is a module or an object with some of the five functions below, each marked `@hookimpl`. A package names it
under the entry point group `referee` in its setup.cfg::

    [options.entry_points]
    referee =
        nim = referee_nim.plugin

Everything that is built in is added in the same way, so a plugin can do all that the referee itself does. The examples
below are whole plugins, and the test suite runs them.
"""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from .games.base import Game
    from .net.links.player_protocol import LinkKind
    from .observers import Observer
    from .record.audit.evidence import Wire
    from .tournament.pairing.base import PairingFormat

hookspec = pluggy.HookspecMarker("referee")
hookimpl = pluggy.HookimplMarker("referee")
"""Marks the functions of a plugin."""


@dataclass(frozen=True, slots=True)
class Later:
    """A function or a class that is imported when it is first called: commands that don't need it start sooner.

    >>> Later("math:sqrt")(9)
    3.0

    Args:
        home: where it is, as `package.module:name`.
        name: name of the game or of the pairing format that the class makes; a function needs none.
    """

    home: str
    name: str = ""

    def load(self) -> Any:
        """Import it."""
        return resolve_name(self.home)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Import it and call it."""
        return self.load()(*given, **named)


@dataclass(frozen=True, slots=True)
class HousePlayer:
    """A player program that comes with the referee or with a plugin.

    Args:
        name: name after `house:` on the command line; 1 to 20 letters, digits, - and _, the first one a letter or
            digit.
        games: names of the games it plays; empty: every game.
        make: called once per match with the game, its parsed options and a seed (32 bytes); returns the function from
            a view to a move, both as plain data (dicts, lists, strings, numbers), as messages hold them.
        summary: one sentence for `referee list`.
        draws_chance: whether its moves depend on the seed. Then it is started again for each match, even with
            `programs = "kept"`: a running program knows the seed of its first match only.
    """

    name: str
    games: tuple[str, ...]
    make: "Callable[[Game[Any, Any, Any], Any, bytes], Callable[[Any], Any]]"
    summary: str
    draws_chance: bool = True

    def load(self) -> None:
        """Import the code of `make`, if it is imported later."""
        if isinstance(self.make, Later):
            self.make.load()


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Result of a player's game with the referee of another project."""

    won: bool | None
    """Verdict of that referee; None if the connection ended before it came."""
    why: str
    """Reason why the connection ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A protocol that players or referees of another project speak instead of the referee's own."""

    name: str
    """Name after `--dialect` on the command line."""
    game: str
    """Name of the only game that it can express."""
    link: "LinkKind"
    """Makes the referee's end of a player's connection. Its players answer every call, so matches ask for
    confirmations."""
    name_pattern: str
    """Regular expression of the names that its players may have."""
    name_form: str
    """Description of such a name in words."""
    wire: "Callable[[], Wire]"
    """Returns an object that reads the bytes of its players in records, for audits."""
    join: Callable[..., Coroutine[Any, Any, Joined]]
    """Lets a player program play with a referee that speaks the dialect; see cs4500/joining.py for its arguments."""
    server: Callable[[bytes, Path, int | None], Any]
    """(configuration of the course's server, folder of the record, port that overrides it) -> parsed settings."""
    clients: Callable[[bytes, int | None], Any]
    """(configuration of the course's clients, port that overrides it) -> parsed settings; see cs4500/clients.py."""


@hookspec
def referee_games() -> "Iterable[Game[Any, Any, Any] | Later]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return the games that this plugin adds: objects, or classes that are imported later.

    >>> from referee.games.q.game import QGame
    >>> class ShortQ(QGame):
    ...     name, title = "short-q", "The Q game for two"
    ...     seats = range(2, 3)
    >>> @hookimpl
    ... def referee_games():
    ...     return [ShortQ()]
    >>> [game.title for game in referee_games()]
    ['The Q game for two']
    """


@hookspec
def referee_house_players() -> Iterable[HousePlayer]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the house players that this plugin adds.

    This one passes in every turn:

    >>> def make(game, options, seed):
    ...     return lambda view: {"action": "pass"}
    >>> @hookimpl
    ... def referee_house_players():
    ...     return [HousePlayer("lazy", ("q",), make, "Passes.", draws_chance=False)]
    >>> (lazy,) = referee_house_players()
    >>> choose = lazy.make(None, None, bytes(32))
    >>> choose({"seat": 0, "hand": []})
    {'action': 'pass'}
    """


@hookspec
def referee_formats() -> "Iterable[PairingFormat[Any] | Later]":  # type: ignore[empty-body]  # as above
    """Return the pairing formats that this plugin adds: objects, or classes that are imported later.

    >>> from referee.tournament.pairing.round_robin import RoundRobin
    >>> class Friendly(RoundRobin):
    ...     name, title = "friendly", "Everybody plays everybody, for fun"
    >>> @hookimpl
    ... def referee_formats():
    ...     return [Friendly()]
    >>> [form.name for form in referee_formats()]
    ['friendly']
    """


@hookspec
def referee_dialects() -> Iterable[Dialect]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the dialects that this plugin adds.

    A dialect is much work; the built-in one shows its parts:

    >>> from referee.dialects.cs4500.plugin import referee_dialects
    >>> [(dialect.name, dialect.game) for dialect in referee_dialects()]
    [('cs4500', 'q')]
    """


@hookspec
def referee_observers() -> "Iterable[Callable[[], Observer]]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return factories of this plugin's observers, such as their classes; each is called once per command that plays.

    >>> from referee.observers import Observer
    >>> class CountMoves(Observer):
    ...     def __init__(self):
    ...         self.moves = 0
    ...     def on_match_advanced(self, transition):
    ...         self.moves += 1
    >>> @hookimpl
    ... def referee_observers():
    ...     return [CountMoves]
    >>> [make().moves for make in referee_observers()]
    [0]
    """
