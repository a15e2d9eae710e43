"""`referee play`: one match here and now, every player a program of its own; or the rest of one that broke off."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import rich_click as click

from ...app.hosting import Surroundings, play_on, reopened, run_table
from ...app.running import clear_errors
from ...games.base import seats_text
from ...launch import Builds, Confinement, Launch
from ...net.matches.host import MatchReport
from ..common import console, find_game, json_option, registry
from ..errors import FAILED
from ..options.completion import complete_games, complete_players
from ..options.match import find_sealer, lot_option, resume_option, table_options, table_settings
from ..options.monitoring import Monitoring, telemetry_options, watched
from ..options.players import find_launches
from ..options.sandbox import confinement_options, find_confinement
from ..views.match import show_played

ADDRESS = "tcp:0:interface=127.0.0.1"
"""Of programs without a sandbox; the others are shown a socket of their own."""
BUILDS = ".builds"
"""Folder beside the records: what players were built from, and what their builds printed."""


@click.command(epilog="Example:  referee play q house:dag house:greedy cmd:'python3 my_player.py' --seed 7")
@click.argument("game", required=False, shell_complete=complete_games)
@click.argument("players", nargs=-1, shell_complete=complete_players)
@table_options
@lot_option
@resume_option
@confinement_options
@telemetry_options
@json_option
def play(game: str | None, players: tuple[str, ...], resume: Path | None, as_json: bool, **values: Any) -> None:
    """Play one match of GAME between PLAYERS, in the order of their seats.

    A PLAYER is house:NAME (see `referee list`), cmd:'COMMAND', or a folder with a player.toml, which needs two lines,
    name = "ada" and run = "python3 player.py", and may have games, build and version. Each runs as a program of its
    own, in a sandbox where this machine has one (see --sandbox and `referee doctor`), and speaks to the referee over a
    socket. The record goes to the folder of --logs.

    With --resume RECORD, without GAME and PLAYERS, a match whose referee died is played to its end: the same programs
    are started again, and the open turn is asked again with the time that was left.

    Exit status: 0 played, 1 void, a program that does not start or a record that can't be resumed, 2 used wrongly.
    """
    with watched(values["diagnostics"], values["metrics"]) as telling:
        if resume is None:
            played, moves = _play_anew(game, players, values, telling, is_quiet=as_json)
        elif game is not None or players:
            raise click.UsageError("--resume takes game and players from the record; leave them out")
        else:
            played, moves = _play_on(resume, values, telling, is_quiet=as_json)
    show_played(played, moves, as_json=as_json)
    sys.exit(FAILED if played.result.void else 0)


def _play_anew(
    game: str | None, players: tuple[str, ...], values: dict[str, Any], telling: Monitoring, *, is_quiet: bool
) -> tuple[MatchReport, list[dict[str, Any]]]:
    if game is None or not players:
        raise click.UsageError("say which GAME and which PLAYERS, e.g. `referee play q house:dag house:greedy`")
    rules = find_game(game)
    if len(players) not in rules.seats:
        raise click.UsageError(f"{game} takes {seats_text(rules.seats)} players, not {len(players)}")
    launches = find_launches(game, players, registry())
    settings = table_settings(rules, values, players)
    around = _surroundings(values, telling, settings.folder, is_quiet=is_quiet)
    _build(launches, settings.folder, around.confinement)
    return run_table(rules, settings, around, lambda table: table.play_programs(launches, ADDRESS))


def _surroundings(values: dict[str, Any], telling: Monitoring, logs: Path, *, is_quiet: bool) -> Surroundings:
    sealer = find_sealer(values["key"])
    confinement = find_confinement(
        values["sandbox_mode"],
        values["key"],
        logs,
        memory_mib=values["memory_mib"],
        written=[values["diagnostics"]],
    )
    return Surroundings(sealer=sealer, watched=telling, is_quiet=is_quiet, confinement=confinement)


def _build(launches: Sequence[Launch], logs: Path, confinement: Confinement) -> None:
    """Build the players that are not as their last build left them."""
    builds = Builds(logs / BUILDS, confinement)
    with clear_errors():
        for launch in launches:
            if builds.build(launch):
                console.print(f"built {launch.name}", markup=False, highlight=False)


def _play_on(
    path: Path, values: dict[str, Any], telling: Monitoring, *, is_quiet: bool
) -> tuple[MatchReport, list[dict[str, Any]]]:
    around = _surroundings(values, telling, path.absolute().parent, is_quiet=is_quiet)
    resumed = reopened(path.absolute(), around.sealer)
    setup = resumed.match.setup
    if resumed.folder is not None and Path(resumed.folder).is_dir():
        os.chdir(resumed.folder)  # where the players were given
    if not resumed.programs:
        hint = f"`referee serve {setup.game} --resume {path}` waits for them to come back"
        raise click.UsageError(f"the players of {path} came by themselves: {hint}")
    launches = find_launches(setup.game, resumed.programs, registry())
    _build(launches, resumed.writer.path.parent, around.confinement)
    return play_on(resumed, around, launches, ADDRESS)
