"""Players in this process: functions from a view to a move, and house players."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from protocol.limits import NAME_FORM, NAME_PATTERN

from ..app.players import BadPlayer, UnknownPlayer, distinct, find_player
from ..errors import BadRequest
from ..games.arguments import describe, read_list
from ..games.base import Game, seats_text
from ..plugins import installed
from ..programs.player_spec import PlayerError

Choose = Callable[[Any], Any]
"""A function from a view to a move, both plain data: dicts, lists, strings, numbers."""
Player = Choose | str
"""A function from a view to a move, or `house:NAME`."""


_HERE = "a player in this process is a function from a view to a move, or 'house:NAME'"


class SeatedPlayer(Struct, frozen=True):
    """A player on its seat."""

    name: str
    given: str
    """The player as it was given, for the record."""
    begin: Callable[[Any, bytes], Choose]
    """Called once for each match, with the options and a seed; returns the function that chooses the moves."""


def seat_players(
    game: Game[Any, Any, Any], players: Sequence[Player], names: Sequence[str] | None
) -> list[SeatedPlayer]:
    """Return the players by seat, with names that differ.

    Args:
        game: the game.
        players: players by seat.
        names: names by seat; None: the players' own names.

    Raises:
        BadRequest: the number of players is wrong, a player can't play in this process, or a name is wrong.
    """
    players = read_list("players", players, "a list of one for each seat")
    if len(players) not in game.seats:
        raise BadRequest(f"{game.name} takes {seats_text(game.seats)} players, not {len(players)}")
    seated = [_seat(game, player, f"player{seat}") for seat, player in enumerate(players, 1)]
    shown = distinct([player.name for player in seated]) if names is None else _check_names(names, len(seated))
    return [SeatedPlayer(name, player.given, player.begin) for name, player in zip(shown, seated, strict=True)]


def _check_names(names: Sequence[str], count: int) -> Sequence[str]:
    what = f"a list with a name for each of the {count} players, all different"
    listed = read_list("names", names, what)
    for name in listed:
        if not isinstance(name, str) or not re.match(NAME_PATTERN, name):
            raise BadRequest(f"the name {describe(name)} must be {NAME_FORM}")
    if len(listed) != count or len(set(listed)) != count:
        raise BadRequest(f"names is {what}, not {listed}")
    return listed


def _seat(game: Game[Any, Any, Any], player: Player, name: str) -> SeatedPlayer:
    # A class is callable, so it would be taken for a function, and cause a puzzling error in the middle of the match.
    if isinstance(player, type):
        raise BadPlayer(_refuse_class(player))
    if callable(player):
        function_name = getattr(player, "__name__", type(player).__name__)
        shown = function_name if re.match(NAME_PATTERN, function_name) else name
        return SeatedPlayer(shown, f"python:{function_name}", lambda _options, _seed: player)
    if not isinstance(player, str):
        raise BadPlayer(f"a player is a function from a view to a move, or 'house:NAME', not {describe(player)}")
    try:
        launch = find_player(player, game.name, name=name)
    except UnknownPlayer as error:
        has_remedy = str(error).endswith("?")
        raise BadPlayer(str(error) if has_remedy else f"{error}; {_HERE}") from None
    except PlayerError as error:
        raise BadPlayer(str(error)) from None
    if not launch.is_house:
        raise BadPlayer(f"{player!r} is a program of its own, which `referee play {game.name}` starts; {_HERE}")
    house = installed().player(launch.name)
    return SeatedPlayer(launch.name, player, lambda options, seed: house.make(game, options, seed))


def _refuse_class(given: type) -> str:
    """Return the error for a class given as a player: calling it with a view would make an object, not a move."""
    is_called = any("__call__" in vars(base) for base in given.__mro__)
    meant = f"{given.__name__}()" if is_called else f"a method of an object, such as {given.__name__}().METHOD"
    return f"{given.__name__} is a class, and a player is a function from a view to a move; give {meant}"
