"""Tells how strong a player is, in a few games against house players: for its author, beside whether it is right."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import RefereeError
from ..files.scratch import scratch
from ..plugins import Registry
from ..programs.build import BUILDS
from ..programs.processes import OwnProcess
from .players import find_player

OPPONENTS = ("house:random", "house:greedy")
PAIRS = 10
"""Of games against each: both have each deal once from either seat."""
PART_S = 10.0
"""For the games against one opponent, at most."""
TOTAL_S = 60.0
"""For all games that a player plays, at most; what one does not use is left for those behind it."""
GRACE_S = 3.0
"""Between asking a comparison to stop and killing it: it ends its programs."""
_UNDECIDED = 0.0001
"""How sure the comparison would have to be: so sure that all of its pairs are played."""
_PLAYED = (0, 1)
"""Exit statuses of a comparison that was played."""


class Strength(Struct, frozen=True, kw_only=True):
    """How a player did in a game against another one."""

    game: str
    opponent: str
    won: int
    drawn: int
    lost: int
    expelled: int
    """In how many of those lost it was."""
    turn_ms: float
    """What a turn of its took, on average; 0 if no game was over."""
    planned: int = 2 * PAIRS
    """So many games were to be played."""
    limit_s: float = PART_S
    """There was so much time for them."""

    @property
    def played(self) -> int:
        """How many games were over in time."""
        return self.won + self.drawn + self.lost


class Trial(Struct, frozen=True, kw_only=True):
    """How a player is tried."""

    command: Sequence[str]
    """That compares two players, and its options."""
    player: str
    """As it is given."""
    logs: Path
    """Folder whose builds are used again."""


def games_of(player: str, games: Sequence[str], registry: Registry) -> list[str]:
    """Return the games for two that a player is to be tried in.

    Args:
        player: as it is given.
        games: names of those that are wanted; empty: all that it plays.
        registry: the plugins.

    Raises:
        PlayerError: the player can't be used.
    """
    launch = find_player(player, None, name="player", known=registry)
    named = registry.player(launch.name).games if launch.is_house else launch.games
    return [name for name in (games or named or registry.games) if 2 in registry.games[name].seats]


def measure(trial: Trial, games: Sequence[str], clock: Callable[[], float] = time.monotonic) -> Iterator[Strength]:
    """Yield how a player does, game by game, as soon as it is known.

    Args:
        trial: how it is tried.
        games: names of games for two.
        clock: tells seconds.

    Raises:
        RefereeError: the matches could not be played.
        OSError: the machine failed.
    """
    opponents = [opponent for opponent in OPPONENTS if opponent != trial.player]
    parts = len(games) * len(opponents)
    end_s = clock() + TOTAL_S

    def _share() -> float:
        """Return how long the next part may take."""
        nonlocal parts
        parts -= 1
        return min(PART_S, max(end_s - clock(), 0.0) / (parts + 1))

    for game in games:
        for opponent in opponents:
            with scratch("strength") as folder:
                found = _against(trial, game, opponent, folder, _share())
            yield found


def _against(trial: Trial, game: str, opponent: str, folder: Path, limit_s: float) -> Strength:
    """Play against an opponent while there is time, and return the results."""
    (folder / BUILDS).mkdir()
    for stamp in (trial.logs / BUILDS).glob("*.built"):  # nothing is built again that the check has built
        shutil.copyfile(stamp, folder / BUILDS / stamp.name)
    test = ("--pairs", str(PAIRS), "--alpha", str(_UNDECIDED), "--beta", str(_UNDECIDED))
    tables = ("--tables", str(len(os.sched_getaffinity(0))))
    options = ("--game", game, *test, *tables, "--logs", str(folder), "--json")
    argv = (*trial.command, *options, "--", opponent, trial.player)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as errors:
        process = OwnProcess(argv, output=out, errors=errors)
        try:
            is_late = process.wait(limit_s) is None
        finally:
            process.end(GRACE_S)
    if process.wait() not in _PLAYED:
        if is_late:  # it had hardly begun
            return replace(_counted(game, opponent, "", ()), limit_s=limit_s)
        trouble = (folder / "err").read_text(errors="replace").strip()
        raise RefereeError(f"{game} against {opponent} could not be played: {trouble}")
    *events, end = map(json.loads, (folder / "out").read_bytes().splitlines())
    matches = [event for event in events if event["event"] == "match-closed"]
    if not matches and not is_late:
        raise RefereeError(f"{game} against {opponent} was not played: {end['not_starting'] or 'it was stopped'}")
    return replace(_counted(game, opponent, end["b"], matches), limit_s=limit_s)


def _counted(game: str, opponent: str, name: str, matches: Sequence[dict[str, Any]]) -> Strength:
    won = drawn = expelled = turns = 0
    used_ms = 0.0
    for match in matches:
        seat = match["names"].index(name)
        first = match["ranking"][0] if match["ranking"] else []
        won += first == [seat]
        drawn += seat in first and first != [seat]
        expelled += any(foul["seat"] == seat for foul in match["fouls"])
        used_ms += match["used_ms"][seat]
        turns += match["turns"]
    return Strength(
        game=game,
        opponent=opponent,
        won=won,
        drawn=drawn,
        lost=len(matches) - won - drawn,
        expelled=expelled,
        turn_ms=used_ms / max(turns / 2, 1),
    )
