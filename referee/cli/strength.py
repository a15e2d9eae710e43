"""How strong a program is: some quick games against house players, for its author, after `referee check`.

The games are those of `referee compare`, each comparison in a process of its own: Twisted's reactor runs once in a
process, and a comparison that takes too long is stopped from outside. The numbers are those of every comparison (see
app/comparison.py): twenty games say little, so they are never shown without their interval.
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
"""Pairs of games against each opponent: each plays each deal once from either seat."""
PART_S = 10.0
"""Longest time for the games against one opponent, in seconds."""
TOTAL_S = 60.0
"""Longest time for all games of a player, in seconds; time that one part leaves goes to the parts after it."""
GRACE_S = 3.0
"""Seconds between asking a comparison to stop and killing it; it uses them to end its programs."""
_UNDECIDED = 0.0001
"""Error rate that is asked of the comparison's test: so small that it plays all of its pairs."""
_PLAYED = (0, 1)
"""Exit statuses of a comparison that was played."""


class Strength(Comparison, frozen=True, kw_only=True):
    """How a player, B, did in a game against another player."""

    game: str
    """Name of the game."""
    opponent: str
    """The opponent, as a user gives it."""
    expelled: int
    """Games in which the player was expelled."""
    turn_ms: float
    """Average time of a turn of the player, in milliseconds; 0 if no game was finished."""
    planned: int = 2 * PAIRS
    """Games that were to be played."""
    limit_s: float = PART_S
    """Time that there was for them, in seconds."""


class Trial(Struct, frozen=True, kw_only=True):
    """How the strength of a player is measured."""

    command: Sequence[str]
    """Command that compares two players, with its options."""
    player: str
    """The player, as the user gave it."""
    logs: Path
    """Folder of the builds that are used again."""


def find_games(player: str, games: Sequence[str], registry: Registry) -> list[str]:
    """Return the games for two in which a player's strength is measured.

    Args:
        player: the player, as the user gave it.
        games: names of the games that the user asked for; empty: all that the player plays.
        registry: the plugins.

    Raises:
        PlayerError: the player can't be used.
    """
    launch = find_player(player, None, name="player", known=registry)
    named = registry.player(launch.name).games if launch.is_house else launch.games
    return [name for name in (games or named or registry.games) if 2 in registry.games[name].seats]


def measure(trial: Trial, games: Sequence[str], clock: Callable[[], float] = time.monotonic) -> Iterator[Strength]:
    """Yield how a player does, game by game and opponent by opponent, as soon as it is known.

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
        opponent: the opponent, as a user gives it.
        folder: empty folder for the records.
        limit_s: longest time, in seconds.

    Raises:
        RefereeError: the games could not be played.
        OSError: the machine failed.
    """
    (folder / BUILDS).mkdir()
    for stamp in (trial.logs / BUILDS).glob("*.built"):  # what the check has built is not built again
        shutil.copyfile(stamp, folder / BUILDS / stamp.name)
    # `compare` always has a test, which could stop the games early. A test that hardly ever decides leaves all of them
    # to be played.
    test = ("--pairs", str(PAIRS), "--alpha", str(_UNDECIDED), "--beta", str(_UNDECIDED))
    tables = ("--tables", str(count_processors()))
    options = ("--game", game, *test, *tables, "--logs", str(folder), "--json")
    argv = (*trial.command, *options, "--", opponent, trial.player)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as errors:
        # The process gets files, not pipes: nothing has to read them while this process waits, and a full pipe can't
        # stop it.
        process = OwnProcess(argv, output=out, errors=errors)
        try:
            is_late = process.wait(limit_s) is None
        finally:
            process.end(GRACE_S)
    if process.wait() not in _PLAYED:
        if is_late:  # it was stopped before it had begun
            return _summarise(game, opponent, compare_pairs(opponent, trial.player, ()), (), limit_s)
        trouble = (folder / "err").read_text(errors="replace").strip()
        raise RefereeError(f"{game} against {opponent} could not be played: {trouble}")
    *events, end = map(json.loads, (folder / "out").read_bytes().splitlines())
    matches = [event for event in events if event["event"] == "match-closed"]
    if not matches and not is_late:
        raise RefereeError(f"{game} against {opponent} was not played: {end['not_starting'] or 'it was stopped'}")
    # Without its test, the verdict follows from the interval: the test was only there to have all pairs played.
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
