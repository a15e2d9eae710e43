"""Finds the programs of players as users give them (`house:NAME`, `cmd:COMMAND` or a folder), and builds them."""

import re
import shlex
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from protocol.limits import MAX_NAME_CHARS, NAME_FORM, NAME_PATTERN

from ..errors import BadRequest
from ..plugins import Registry, installed
from ..programs.build import BUILDS, Builds
from ..programs.player_spec import Launch, PlayerError, PlayerKind, PlayerSpec, parse_player
from ..text import near, nearest
from .services import Services

# A player is a text that a user typed, and most mistakes are made here: a house player without `house:`, a command
# without `cmd:`, a folder that is one level up. So every refusal looks for what was probably meant. The referee only
# suggests it, though: a tournament between the wrong programs is worse than an error.


class BadPlayer(PlayerError, BadRequest):
    """A player that can't be started here in the way in which it is given."""


class UnknownPlayer(BadPlayer):
    """There is no such house player or folder; the text names the most similar one."""


def find_players(game: str, players: Sequence[str], *, may_be_persons: bool = False) -> list[Launch]:
    """Return how to start players, with different names; a person keeps its name, if no other person has it.

    Args:
        game: name of the game.
        players: players by seat, as the user gave them.
        may_be_persons: whether a player may be a person.

    Raises:
        BadPlayer: one of them can't be started, or does not play the game.
    """
    try:
        launches = [
            find_person(player, may_be=may_be_persons) or find_player(player, game, name=f"player{seat}")
            for seat, player in enumerate(players, 1)
        ]
    except UnknownPlayer as error:
        raise UnknownPlayer(f"{error}{_as_command(players)}") from None
    except PlayerError as error:
        raise BadPlayer(str(error)) from None
    for launch in launches:
        if launch.folder and not re.match(NAME_PATTERN, launch.name):
            raise BadPlayer(f"{launch.folder / 'player.toml'}: name {launch.name!r} must be {NAME_FORM}")
    persons = Counter(launch.name for launch in launches if launch.person)
    given = [place for place, launch in enumerate(launches) if launch.person and persons[launch.name] == 1]
    names = distinct([launch.name for launch in launches], given)
    return [replace(launch, name=name) for launch, name in zip(launches, names, strict=True)]


def find_player(
    player: str, game: str | None, *, name: str, base: Path = Path(), known: Registry | None = None
) -> Launch:
    """Return how to start a player.

    Args:
        player: the player, as the user gave it.
        game: name of the game that it must play; None: any game.
        name: name for a command, which has none of its own.
        base: folder that relative paths begin at.
        known: the plugins; None: those of this installation.

    Raises:
        UnknownPlayer: there is no such house player or folder.
        PlayerError: it can't be started or does not play the game.
    """
    find_person(player, may_be=False)
    houses, spec = (known or installed()).players, parse_player(player)
    playing = [house.name for house in houses.values() if game is None or game in house.games or not house.games]
    if spec.kind is PlayerKind.FOLDER:
        if not (base / player).exists():
            raise UnknownPlayer(f"there is no folder {player!r}{_meant(player, base, playing)}")
        spec = PlayerSpec(spec.kind, str(base / player))
    launch = spec.launch(name)
    if launch.is_house and launch.name not in houses:
        # Only players of this game are suggested: another one would be refused in the next step.
        remedy = nearest(launch.name, sorted(playing), before="house:")
        raise UnknownPlayer(f"there is no house player {launch.name!r}{remedy}")
    if launch.is_house and houses[launch.name].draws_chance:
        launch = replace(launch, matches=1)
    games = houses[launch.name].games if launch.is_house else launch.games
    if game and games and game not in games:
        subject = player if launch.folder is None else f"{launch.folder / 'player.toml'}: {launch.name}"
        raise PlayerError(f"{subject} plays {', '.join(games)}, not {game}")
    return launch


def find_person(player: str, *, may_be: bool) -> Launch | None:
    """Return the seat of a person; None if the player is not a person.

    Args:
        player: the player, as the user gave it.
        may_be: whether it may be a person.

    Raises:
        BadPlayer: it is a person and may not be, or its name is not allowed by the protocol.
    """
    spec = parse_player(player)
    if spec.kind is not PlayerKind.PERSON:
        return None
    if not may_be:
        raise BadPlayer(f"{player} is a person; only `referee play` has a seat for one")
    launch = spec.launch()
    if not re.match(NAME_PATTERN, launch.name):
        raise BadPlayer(f"{player}: a person's name must be {NAME_FORM}")
    return launch


def _meant(player: str, base: Path, houses: Collection[str]) -> str:
    """Return a suggestion: the most similar player; if there is none, all forms of a player."""
    if player in houses:
        return f'; did you mean "house:{player}"?'
    folders = [str(path.parent.relative_to(base)) for path in base.glob("*/player.toml")]
    forms = f"; a player is house:NAME ({', '.join(sorted(houses))}), cmd:COMMAND or a folder with player.toml"
    return near(player, [*folders, *(f"house:{name}" for name in houses)]) or forms


def find_folder(player: str) -> Path | None:
    """Return the folder of a player; None if it is given as something else."""
    return Path(player) if parse_player(player).kind is PlayerKind.FOLDER else None


def _as_command(players: Sequence[str]) -> str:
    """Return how to write words that are probably the command of one player; empty if no word is a command."""
    for place, player in enumerate(players):
        if find_folder(player) is not None and not Path(player).exists() and shutil.which(player):
            return f"; if this is one player's command, write cmd:{shlex.quote(shlex.join(players[place:]))}"
    return ""


def distinct(names: Sequence[str], given: Collection[int] = ()) -> list[str]:
    """Return different names: equal ones get numbers, such that no name becomes that of another player.

    Args:
        names: names in the order of the players.
        given: indices of names that stay as they are; no two of these are equal.
    """
    fixed = {names[place] for place in given}
    counts = Counter(name for place, name in enumerate(names) if place not in given)
    taken, numbers = fixed | counts.keys(), Counter[str]()
    unique_names = []
    for place, name in enumerate(names):
        unique = name
        if place not in given and (counts[name] > 1 or name in fixed):
            while unique in taken:
                numbers[name] += 1
                number = str(numbers[name])
                unique = name[: MAX_NAME_CHARS - len(number)] + number
        taken.add(unique)
        unique_names.append(unique)
    return unique_names


def build(launches: Iterable[Launch], logs: Path, services: Services) -> None:
    """Build the players that have changed since their last build, and print their names.

    Args:
        launches: the players.
        logs: folder of the records.
        services: confinement of the builds, and the function that prints.

    Raises:
        PlayerError: one can't be built.
    """
    builds = Builds(logs / BUILDS, services.match.confinement)
    for launch in launches:
        if builds.build(launch):
            services.say(f"built {launch.name}")
