"""Measures the strength of a program after `referee check`, with some quick games against house players.

`referee compare` plays the games. Each comparison has a process of its own, because Twisted's reactor can run only once
in a process, and so that a comparison that takes too long can be stopped. The numbers are the same as in every
comparison (see app/comparison.py). Twenty games say little, so a result is never shown without its interval.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ..app.comparison import Comparison, compare_pairs
from ..app.players import find_player
from ..errors import RefereeError
from ..files.scratch import scratch
from ..plugins import Registry
from ..programs.build import BUILDS
from ..programs.processes import OwnProcess
from .common import count_processors

OPPONENTS = ("house:random", "house:greedy")
PAIRS = 10
"""Pairs of games against each opponent. In a pair, the same deal is played twice, with the seats swapped."""
PART_S = 10.0
"""Longest time for the games against one opponent, in seconds."""
TOTAL_S = 60.0
"""Longest time for all games of a player, in seconds. Time that one opponent leaves unused goes to the next."""
GRACE_S = 3.0
"""Seconds between asking a comparison to stop and killing it; the comparison ends its programs in this time."""
_UNDECIDED = 0.0001
"""Error rate of the comparison's test: so small that the test hardly ever decides before all pairs are played."""
_PLAYED = (0, 1)
"""Exit statuses of a comparison that played its games, whether its test decided or not."""


class Strength(Comparison, frozen=True, kw_only=True):
    """Result of a player, B, in one game against one opponent."""

    game: str
    """Name of the game."""
    opponent: str
    """The opponent as a player spec, such as `house:random`."""
    expelled: int
    """Number of games in which the player was expelled."""
    turn_ms: float
    """Average time of a turn of the player, in milliseconds; 0 if no game was finished."""
    planned: int = 2 * PAIRS
    """Number of games that were planned."""
    limit_s: float = PART_S
    """Time limit for the games, in seconds."""


class Trial(Struct, frozen=True, kw_only=True):
    """How the strength of a player is measured."""

    command: Sequence[str]
    """Command that compares two players, with its options."""
    player: str
    """The player as a player spec."""
    logs: Path
    """Folder of records; its builds are used again."""


def find_games(player: str, games: Sequence[str], registry: Registry) -> list[str]:
    """Return the games for two in which a player's strength is measured.

    Args:
        player: the player as a player spec.
        games: names of the games that the user asked for; empty: all games that the player plays.
        registry: the plugins.

    Raises:
        PlayerError: there is no such player, or its folder is wrong.
    """
    launch = find_player(player, None, name="player", known=registry)
    named = registry.player(launch.name).games if launch.is_house else launch.games
    return [name for name in (games or named or registry.games) if 2 in registry.games[name].seats]


def measure(trial: Trial, games: Sequence[str], clock: Callable[[], float] = time.monotonic) -> Iterator[Strength]:
    """Yield the strength of a player for each game and opponent, as soon as it is known.

    Args:
        trial: the player, and how it is compared.
        games: names of games for two.
        clock: returns monotonic seconds.

    Raises:
        RefereeError: the games could not be played.
        OSError: the machine failed.
    """
    opponents = [opponent for opponent in OPPONENTS if opponent != trial.player]
    parts = [(game, opponent) for game in games for opponent in opponents]
    end_s = clock() + TOTAL_S
    for number, (game, opponent) in enumerate(parts):
        limit_s = min(PART_S, max(end_s - clock(), 0.0) / (len(parts) - number))
        with scratch("strength") as folder:
            strength = play_games(trial, game, opponent, folder, limit_s)
        yield strength


def play_games(trial: Trial, game: str, opponent: str, folder: Path, limit_s: float) -> Strength:
    """Play against one opponent until all games are over or the time is up.

    Args:
        trial: the player, and how it is compared.
        game: name of the game.
        opponent: the opponent as a player spec.
        folder: empty folder for the records.
        limit_s: longest time, in seconds.

    Raises:
        RefereeError: the games could not be played.
        OSError: the machine failed.
    """
    (folder / BUILDS).mkdir()
    for stamp in (trial.logs / BUILDS).glob("*.built"):  # use the builds of the check again
        shutil.copyfile(stamp, folder / BUILDS / stamp.name)
    # `compare` always runs a test, which could stop the games early. With tiny error rates the test hardly ever
    # decides, so all games are played.
    test = ("--pairs", str(PAIRS), "--alpha", str(_UNDECIDED), "--beta", str(_UNDECIDED))
    tables = ("--tables", str(count_processors()))
    options = ("--game", game, *test, *tables, "--logs", str(folder), "--json")
    argv = (*trial.command, *options, "--", opponent, trial.player)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as errors:
        # Give the process files, not pipes: a pipe that nobody reads would fill and block it.
        process = OwnProcess(argv, output=out, errors=errors)
        try:
            is_late = process.wait(limit_s) is None
        finally:
            process.end(GRACE_S)
    if process.wait() not in _PLAYED:
        if is_late:  # the comparison was stopped before it had begun
            return _summarise(game, opponent, compare_pairs(opponent, trial.player, ()), (), limit_s)
        trouble = (folder / "err").read_text(errors="replace").strip()
        raise RefereeError(f"{game} against {opponent} could not be played: {trouble}")
    *events, end = map(json.loads, (folder / "out").read_bytes().splitlines())
    matches = [event for event in events if event["event"] == "match-closed"]
    if not matches and not is_late:
        raise RefereeError(f"{game} against {opponent} was not played: {end['not_starting'] or 'it was stopped'}")
    # Leave the test out, so that the verdict follows from the interval.
    result = compare_pairs(end["a"], end["b"], end["outcomes_of_b"])
    return _summarise(game, opponent, result, matches, limit_s)


def _summarise(
    game: str, opponent: str, result: Comparison, matches: Sequence[dict[str, Any]], limit_s: float
) -> Strength:
    seats = [match["names"].index(result.b) for match in matches]
    both = list(zip(matches, seats, strict=True))
    turns = sum(match["turns"] for match in matches)
    return Strength(
        game=game,
        opponent=opponent,
        **asdict(result),
        expelled=sum(any(foul["seat"] == seat for foul in match["fouls"]) for match, seat in both),
        turn_ms=sum(match["used_ms"][seat] for match, seat in both) / max(turns / 2, 1),
        limit_s=limit_s,
    )
