"""`referee join`: let a player of this project play at a referee of a course."""

import sys

import rich_click as click

from ...app.joining import JoinOptions, join_referee
from ...app.services import RefereeOptions
from ...hookspecs import Joined
from ...match.setup import DEFAULT_PER_MOVE_MS
from ..common import harmless, json_option, out, print_json
from ..errors import FAILED, FINE
from ..options.completion import complete_players
from ..options.grouping import grouped
from ..options.match import game_option, seconds_option
from ..options.running import confinement_options, logs_option

_join_options = grouped(
    "join",
    JoinOptions,
    click.option("--dialect", metavar="NAME", required=True, help="What is spoken there: cs4500, the course's JSON."),
    click.option("--name", help="What to sign up with, 1 to 20 letters or digits; the player's own name if not given."),
    game_option,
    seconds_option(
        "--time",
        "per_call_s",
        default=DEFAULT_PER_MOVE_MS / 1000,
        what="What the player is told of the limit for a call, in seconds.",
    ),
    logs_option("for what the program prints"),
)


@click.command("join", epilog="Example:  referee join localhost:45678 house:greedy --dialect cs4500 --name ada")
@click.argument("referee", metavar="HOST:PORT")
@click.argument("player", shell_complete=complete_players)
@_join_options
@confinement_options
@json_option
def join_command(referee: str, player: str, *, join: JoinOptions, running: RefereeOptions, as_json: bool) -> None:
    """Let PLAYER play one game at the referee of another project that listens on HOST:PORT.

    A PLAYER is house:NAME, cmd:'COMMAND' or a folder with a player.toml, as for `referee play`: the program speaks this
    project's protocol, and its messages are carried over. That referee tells neither its options nor its limits;
    --option and --time say what the player is told.

    Exit status: 0 the game came to its end, 1 it did not for this player, 2 usage error.
    """
    name, joined = join_referee(referee, player, join, running)
    _show(name, joined, as_json=as_json)
    sys.exit(FAILED if joined.won is None else FINE)


def _show(name: str, joined: Joined, *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "won": joined.won, "why": joined.why})
    elif joined.won is None:
        out.print(f"{harmless(name)} did not come to the end of the game: {harmless(joined.why)}", soft_wrap=True)
    else:
        out.print(f"{harmless(name)} {'won' if joined.won else 'lost'}")
