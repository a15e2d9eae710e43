"""`referee play`: one match here and now, every player a program of its own."""

import sys
from typing import Any

import rich_click as click

from ..net.table import Played, Table
from .common import FAILED, clear_errors, find_game, find_launches, json_option, monotonic, registry, run_reactor
from .settings import find_sealer, table_options, table_settings
from .watching import Watcher, show_played


@click.command(epilog="Example:  referee play q house:dag house:greedy cmd:'python3 my_player.py' --seed 7")
@click.argument("game")
@click.argument("players", nargs=-1, required=True)
@table_options
@json_option
def play(game: str, players: tuple[str, ...], as_json: bool, **values: Any) -> None:
    """Play one match of GAME between PLAYERS, in the order of their seats.

    A PLAYER is house:NAME (see `referee list`), cmd:'COMMAND', or a folder with a player.toml. Each runs as a
    program of its own and speaks to the referee over TCP. The record goes to the folder of --logs.

    Exit status: 0 played, 1 void, 2 used wrongly.
    """
    rules = find_game(game)
    if len(players) not in rules.seats:
        raise click.UsageError(f"{game} takes {rules.seats[0]} to {rules.seats[-1]} players, not {len(players)}")
    launches = find_launches(game, players, registry())
    settings, sealer = table_settings(values, players), find_sealer(values["key"])
    with Watcher(is_quiet=as_json) as watcher:

        async def _main(reactor: Any) -> Played:
            table = Table(
                reactor, monotonic, rules, settings, sealer=sealer, report=watcher.report, on_step=watcher.on_step
            )
            return await table.play_programs(launches)

        with clear_errors():
            played = run_reactor(_main)
    show_played(played, watcher.moves, as_json=as_json)
    sys.exit(FAILED if played.result.void else 0)
