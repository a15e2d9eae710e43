"""`referee serve`: take sign-ups over TCP, then play."""

import sys
from pathlib import Path
from typing import Any

import rich_click as click

from ..net.lobby import SignUpPolicy
from ..net.table import Played
from ..record.seal import Sealer
from .common import FAILED, console, find_game, json_option, print_json
from .settings import Seconds, find_sealer, resume_option, table_options, table_settings
from .tables import play_on, reopened, run_table
from .watching import show_played


@click.command(epilog="Example:  referee serve q --listen tcp:7777 --min 2 --max 4 --wait 20 --tries 2")
@click.argument("game")
@click.option("--listen", default="tcp:7777:interface=127.0.0.1", show_default=True, help="Twisted endpoint string.")
@click.option("--min", "min_players", type=int, help="Fewest players to begin with; the game's own if not given.")
@click.option("--max", "max_players", type=int, help="Most players; that many end the wait at once.")
@click.option(
    "--wait",
    "wait_s",
    type=Seconds(min=0.001, max=86_400),
    default=20.0,
    show_default=True,
    help="A waiting period, in s",
)
@click.option("--tries", type=click.IntRange(min=1), default=2, show_default=True, help="Number of waiting periods.")
@table_options
@resume_option
@json_option
def serve(
    game: str,
    listen: str,
    min_players: int | None,
    max_players: int | None,
    wait_s: float,
    tries: int,
    resume: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Take sign-ups for one match of GAME over TCP, then play it.

    Players sign up with a name of 1 to 20 letters or digits; a name that is taken is refused. Seats go by arrival.
    To let players of other machines in, listen on all interfaces: --listen tcp:7777

    With --resume RECORD, a match whose referee died is played to its end: whoever comes back within the start-up limit
    takes its seat by the resume token that it was given in the offer.

    Exit status: 0 played, 1 void, a record that can't be resumed or too few players, 2 used wrongly.
    """
    rules = find_game(game)
    fewest = rules.seats[0] if min_players is None else min_players
    most = rules.seats[-1] if max_players is None else max_players
    if fewest not in rules.seats or most not in rules.seats or fewest > most:
        raise click.UsageError(f"{game} takes {rules.seats[0]} to {rules.seats[-1]} players, not {fewest} to {most}")
    policy = SignUpPolicy(min_players=fewest, max_players=most, wait_s=wait_s, tries=tries)
    sealer = find_sealer(values["key"])
    played: Played | None
    if resume is not None:
        played, moves = _play_on(resume, rules.name, listen, sealer, is_quiet=as_json)
    else:
        settings = table_settings(rules, values)
        played, moves = run_table(
            rules, settings, sealer, lambda table: table.play_signed_up(listen, policy), is_quiet=as_json
        )
    if played is None:
        console.print(f"fewer than {fewest} players signed up; no match was played")
        if as_json:
            print_json({"match": None, "game": game, "names": [], "result": None, "record": None, "moves": []})
        sys.exit(FAILED)
    show_played(played, moves, as_json=as_json)
    sys.exit(FAILED if played.result.void else 0)


def _play_on(
    path: Path, game: str, listen: str, sealer: Sealer, *, is_quiet: bool
) -> tuple[Played, list[dict[str, Any]]]:
    """Wait for the players of a match that broke off, and play it to its end."""
    resumed = reopened(path, sealer)
    if resumed.match.setup.game != game:
        raise click.UsageError(f"{path} is a match of {resumed.match.setup.game}, not of {game}")
    return play_on(resumed, sealer, (), listen, is_quiet=is_quiet)
