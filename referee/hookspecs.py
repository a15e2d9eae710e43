"""The whole plugin contract: what a package may add to the referee.

Everything that is built in is added this way, too. A plugin is a module or object with functions marked
`@referee.hookimpl`, named under the entry point group `referee`.
"""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
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
class HousePlayer:
    """A player program that comes with the referee or with a plugin.

    Args:
        name: what stands behind `house:` on the command line; 1 to 20 letters, digits, - and _, the first one a
            letter or digit.
        games: names of the games it plays.
        make: called once per match with the game, its parsed options and a seed (32 bytes); returns the function from
            a view to a move, both plain (dicts, lists, strings, numbers), as they stand on the wire.
        summary: one sentence for `referee list`.
        draws_chance: whether its moves depend on the seed. Then it is started again for each match, even with
            `programs = "kept"`: a running program knows the seed of its first match only.
    """

    name: str
    games: tuple[str, ...]
    make: "Callable[[Game[Any, Any, Any], Any, bytes], Callable[[Any], Any]]"
    summary: str
    draws_chance: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """How a player's game at the referee of another project ended."""

    won: bool | None
    """What that referee said; None if the connection ended before it did."""
    why: str
    """Why the connection ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A wire that other people's players or referees speak in place of the referee's own."""

    name: str
    """What stands behind `--dialect`."""
    game: str
    """The one game that it can speak of."""
    link: "LinkKind"
    """Makes the referee's end of a player's connection; every call of it is answered, so matches demand answers."""
    name_pattern: str
    """Regular expression of the names that its players may have."""
    name_form: str
    """The same in words: what such a name has."""
    wire: "Wire"
    """Reads the bytes that records keep of its players, for audits."""
    join: Callable[..., Coroutine[Any, Any, Joined]]
    """Lets a player program play at a referee that speaks the dialect; see cs4500/joining.py for its arguments."""
    server: Callable[[bytes, Path, int | None], Any]
    """(configuration of the course's server, folder of the record, port that wins) -> what it asks for."""
    clients: Callable[[bytes, int | None], Any]
    """(configuration of the course's clients, port that wins) -> what it asks for; see cs4500/clients.py."""


@hookspec
def referee_games() -> "Iterable[Game[Any, Any, Any]]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return the games that this plugin adds."""


@hookspec
def referee_house_players() -> Iterable[HousePlayer]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the house players that this plugin adds."""


@hookspec
def referee_formats() -> "Iterable[PairingFormat[Any]]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return the pairing formats that this plugin adds."""


@hookspec
def referee_dialects() -> Iterable[Dialect]:  # type: ignore[empty-body]  # a hookspec has no body
    """Return the dialects that this plugin adds."""


@hookspec
def referee_observers() -> "Iterable[Callable[[], Observer]]":  # type: ignore[empty-body]  # a hookspec has no body
    """Return what makes this plugin's observers, each called once per command that plays; their classes will do."""
