"""Finds the programs of players as they are given: `house:NAME`, `cmd:COMMAND` or a folder; and builds them."""

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


class BadPlayer(PlayerError, BadRequest):
    """A player is given in a way in which none can be started for what is asked."""


class UnknownPlayer(BadPlayer):
    """A player that is no house player, and no folder that there is; the text says which one was probably meant."""


def find_players(game: str, players: Sequence[str], *, may_be_persons: bool = False) -> list[Launch]:
    """Return how to start players, with names that differ; a person keeps its own, if no other person has it.

    Args:
        game: name of the game.
        players: as they are given, by seat.
        may_be_persons: whether a person may be among them.

    Raises:
        BadPlayer: one of them can't be started or does not play the game.
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
        player: as it is given.
        game: that it is to play; None: whichever.
        name: of a command, which has none of its own.
        base: folder that the paths of folders begin at.
        known: the plugins; those of this installation, if none are given.

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
        remedy = nearest(launch.name, sorted(playing), before="house:")
        raise UnknownPlayer(f"there is no house player {launch.name!r}{remedy}")
    if launch.is_house and houses[launch.name].draws_chance:
        launch = replace(launch, matches=1)
    games = houses[launch.name].games if launch.is_house else launch.games
    if game and games and game not in games:
        who = player if launch.folder is None else f"{launch.folder / 'player.toml'}: {launch.name}"
        raise PlayerError(f"{who} plays {', '.join(games)}, not {game}")
    return launch


def find_person(player: str, *, may_be: bool) -> Launch | None:
    """Return the seat of a person; None if the player is none.

    Args:
        player: as it is given.
        may_be: whether it may be one.

    Raises:
        BadPlayer: it is one and may not be, or has no name that the wire takes.
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
    """Return what was probably meant by a folder that there is not; else what players there are."""
    if player in houses:
        return f'; did you mean "house:{player}"?'
    folders = [str(path.parent.relative_to(base)) for path in base.glob("*/player.toml")]
    forms = f"; a player is house:NAME ({', '.join(sorted(houses))}), cmd:COMMAND or a folder with player.toml"
    return near(player, [*folders, *(f"house:{name}" for name in houses)]) or forms


def find_folder(player: str) -> Path | None:
    """Return the folder that a player is given as; None: it is given as something else."""
    return Path(player) if parse_player(player).kind is PlayerKind.FOLDER else None


def _as_command(players: Sequence[str]) -> str:
    """Return how the words are to be given that were probably meant as one player's command; empty: there are none."""
    for place, player in enumerate(players):
        if find_folder(player) is not None and not Path(player).exists() and shutil.which(player):
            return f"; if this is one player's command, write cmd:{shlex.quote(shlex.join(players[place:]))}"
    return ""


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


def build(launches: Iterable[Launch], logs: Path, services: Services) -> None:
    """Build the players that are not as their last build left them, and say so.

    Args:
        launches: of the players.
        logs: folder of the records.
        services: what builds are held to, and who is told.

    Raises:
        PlayerError: one can't be built.
    """
    builds = Builds(logs / BUILDS, services.match.confinement)
    for launch in launches:
        if builds.build(launch):
            services.say(f"built {launch.name}")
