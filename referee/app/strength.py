"""Tells how strong a player is, in a few games against house players: for its author, beside whether it is right."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import RefereeError
from ..files.scratch import scratch
from ..plugins import Registry
from ..record.tournament_record import is_tournament
from .players import find_player
from .regret import Regret, greatest_regret

OPPONENTS = ("house:random", "house:greedy")
PAIRS = 10
"""Of games against each: both have each deal once from either seat."""
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
    """What a turn of its took, on average."""
    regret: Regret | None = None
    """The move it regrets most in these games, which is looked for in those against the last opponent alone."""


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


def measure(command: Sequence[str], player: str, games: Sequence[str]) -> Iterator[Strength]:
    """Yield how a player does, game by game, as soon as it is known.

    Args:
        command: that compares two players, and its options.
        player: as it is given.
        games: names of games for two.

    Raises:
        RefereeError: the matches could not be played.
    """
    for game in games:
        opponents = [opponent for opponent in OPPONENTS if opponent != player]
        for opponent in opponents:
            yield _against(command, player, game, opponent, is_last=opponent == opponents[-1])


def _against(command: Sequence[str], player: str, game: str, opponent: str, *, is_last: bool) -> Strength:
    with scratch("strength") as folder:
        test = ("--pairs", str(PAIRS), "--alpha", str(_UNDECIDED), "--beta", str(_UNDECIDED))
        argv = (*command, "--game", game, *test, "--logs", str(folder), "--json", "--", opponent, player)
        done = subprocess.run(  # noqa: S603  # this program itself
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        return _told(done, game, opponent, folder if is_last else None)


def _told(done: subprocess.CompletedProcess[str], game: str, opponent: str, judged: Path | None) -> Strength:
    """Return what a comparison that has ended tells, and what is found in the folder of its records."""
    if done.returncode not in _PLAYED:
        raise RefereeError(f"{game} against {opponent} could not be played: {done.stderr.strip()}")
    *events, end = map(json.loads, done.stdout.splitlines())
    matches = [event for event in events if event["event"] == "match-closed"]
    if not matches:
        raise RefereeError(f"{game} against {opponent} was not played: {end['not_starting'] or 'it was stopped'}")
    name = end["b"]
    records = [path for path in judged.rglob("*.jsonl") if not is_tournament(path)] if judged else []
    return replace(_counted(game, opponent, name, matches), regret=greatest_regret(records, name))


def _counted(game: str, opponent: str, name: str, matches: Sequence[dict[str, Any]]) -> Strength:
    """Return what came of some matches for the player of a name."""
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
