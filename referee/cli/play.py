"""`referee play`: one match here and now, every player a program of its own; or the rest of one that broke off."""

import os
import sys
from pathlib import Path
from typing import Any

import rich_click as click

from ..net.table import Played
from .common import FAILED, find_game, find_launches, json_option, registry
from .settings import find_sealer, resume_option, table_options, table_settings
from .tables import play_on, reopened, run_table
from .watching import show_played

ADDRESS = "tcp:0:interface=127.0.0.1"


@click.command(epilog="Example:  referee play q house:dag house:greedy cmd:'python3 my_player.py' --seed 7")
@click.argument("game", required=False)
@click.argument("players", nargs=-1)
@table_options
@resume_option
@json_option
def play(game: str | None, players: tuple[str, ...], resume: Path | None, as_json: bool, **values: Any) -> None:
    """Play one match of GAME between PLAYERS, in the order of their seats.

    A PLAYER is house:NAME (see `referee list`), cmd:'COMMAND', or a folder with a player.toml. Each runs as a
    program of its own and speaks to the referee over TCP. The record goes to the folder of --logs.

    With --resume RECORD, without GAME and PLAYERS, a match whose referee died is played to its end: the same programs
    are started again, and the open turn is asked again with the time that was left.

    Exit status: 0 played, 1 void or a record that can't be resumed, 2 used wrongly.
    """
    if resume is None:
        played, moves = _play_anew(game, players, values, is_quiet=as_json)
    elif game is not None or players:
        raise click.UsageError("--resume takes game and players from the record; leave them out")
    else:
        played, moves = _play_on(resume, values, is_quiet=as_json)
    show_played(played, moves, as_json=as_json)
    sys.exit(FAILED if played.result.void else 0)


def _play_anew(
    game: str | None, players: tuple[str, ...], values: dict[str, Any], *, is_quiet: bool
) -> tuple[Played, list[dict[str, Any]]]:
    if game is None or not players:
        raise click.UsageError("say which GAME and which PLAYERS, e.g. `referee play q house:dag house:greedy`")
    rules = find_game(game)
    if len(players) not in rules.seats:
        raise click.UsageError(f"{game} takes {rules.seats[0]} to {rules.seats[-1]} players, not {len(players)}")
    launches = find_launches(game, players, registry())
    settings, sealer = table_settings(rules, values, players), find_sealer(values["key"])
    return run_table(rules, settings, sealer, lambda table: table.play_programs(launches, ADDRESS), is_quiet=is_quiet)


def _play_on(path: Path, values: dict[str, Any], *, is_quiet: bool) -> tuple[Played, list[dict[str, Any]]]:
    sealer = find_sealer(values["key"])
    resumed = reopened(path.absolute(), sealer)
    setup = resumed.match.setup
    if resumed.folder is not None and Path(resumed.folder).is_dir():
        os.chdir(resumed.folder)  # where the players were given
    if not resumed.programs:
        hint = f"`referee serve {setup.game} --resume {path}` waits for them to come back"
        raise click.UsageError(f"the players of {path} came by themselves: {hint}")
    launches = find_launches(setup.game, resumed.programs, registry())
    return play_on(resumed, sealer, launches, ADDRESS, is_quiet=is_quiet)
