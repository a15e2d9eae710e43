"""Players on the command line: house players, commands and folders. Knows how each is started; starts none."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import rich_click as click
from msgspec.structs import replace

from protocol.limits import MAX_NAME_CHARS, NAME_FORM, NAME_PATTERN

from ...launch import Launch, PlayerError, command_launch, house_launch, read_folder
from ...plugins import PluginError, Registry


def find_launches(game: str, players: Sequence[str], known: Registry) -> list[Launch]:
    """Turn the players of a command line into programs to start, with names that differ.

    Args:
        game: name of the game.
        players: `house:NAME`, `cmd:COMMAND` or a folder, by seat.
        known: the plugins.

    Raises:
        click.UsageError: one of them can't be started or does not play the game.
    """
    try:
        launches = [find_launch(game, player, seat, known) for seat, player in enumerate(players)]
        for launch in launches:
            _check_name(launch)
    except (PlayerError, PluginError) as error:
        raise click.UsageError(str(error)) from None
    names = distinct([launch.name for launch in launches])
    return [replace(launch, name=name) for launch, name in zip(launches, names, strict=True)]


def distinct(names: Sequence[str], given: Collection[int] = ()) -> list[str]:
    """Return names that differ: with a number where they are not alone, which makes none of another one's name.

    Args:
        names: in the order of the players.
        given: places of those that stay as they are; they differ.
    """
    fixed = {names[place] for place in given}
    counts = Counter(name for place, name in enumerate(names) if place not in given)
    taken, numbers = fixed | counts.keys(), Counter[str]()
    found = []
    for place, name in enumerate(names):
        unique = name
        if place not in given and (counts[name] > 1 or name in fixed):
            while unique in taken:
                numbers[name] += 1
                number = str(numbers[name])
                unique = name[: MAX_NAME_CHARS - len(number)] + number
        taken.add(unique)
        found.append(unique)
    return found


def find_launch(game: str, player: str, seat: int, known: Registry) -> Launch:
    """Turn one player of a command line into a program to start, by whatever name.

    Args:
        game: name of the game.
        player: `house:NAME`, `cmd:COMMAND` or a folder.
        seat: its seat; a command is called after it.
        known: the plugins.

    Raises:
        PlayerError: it can't be started or does not play the game.
        PluginError: there is no such house player.
    """
    kind, sign, rest = player.partition(":")
    if sign and kind == "house":
        games = known.player(rest).games
        if game not in games:
            raise PlayerError(f"house:{rest} plays {', '.join(games)}, not {game}")
        return house_launch(rest)
    if sign and kind == "cmd":
        return command_launch(rest, f"player{seat + 1}")
    folder = Path(player)
    if not folder.exists():
        hint = f"a player is house:NAME ({', '.join(sorted(known.players))}), cmd:COMMAND or a folder with player.toml"
        raise PlayerError(f"there is no folder {player!r}; {hint}")
    launch = read_folder(folder)
    if launch.games and game not in launch.games:
        raise PlayerError(f"{folder / 'player.toml'}: {launch.name} plays {', '.join(launch.games)}, not {game}")
    return launch


def _check_name(launch: Launch) -> None:
    """Refuse what no player may be called.

    Raises:
        PlayerError: the name of a folder's player.toml is none; other players have names of the referee's.
    """
    if launch.folder and not re.match(NAME_PATTERN, launch.name):
        raise PlayerError(f"{launch.folder / 'player.toml'}: name {launch.name!r} must be {NAME_FORM}")
