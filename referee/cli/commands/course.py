"""`referee xserver` and `referee xclients`: the course CS4500's programs, as those of these names are run."""

import json
import sys
from pathlib import Path

import rich_click as click
from msgspec.structs import replace

from ...app.course_programs import course, play_course, serve_course
from ...app.services import RefereeOptions
from ..common import Count, console
from ..errors import FAILED
from ..options.running import key_options, logs_option
from ..views.match import MatchProgress
from ..views.notices import TurnedAway


@click.command(epilog="Example:  referee xserver 45678 < 0-server-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
@click.option(
    "--interface", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 lets others connect."
)
@key_options
@logs_option("for the match's record")
def xserver(port: int | None, *, interface: str, running: RefereeOptions, logs: Path) -> None:
    """Play the match of a ServerConfig on stdin between players of the course CS4500, and print who won.

    PORT wins over the configuration's. Prints [[WINNER, ...], [MISBEHAVED, ...]]; both are empty if too few signed up,
    or not as many as the configuration's state has. The match's record is written as for every match.

    Exit status: 0 printed, 1 the match is void for a fault of the referee's own, 2 the configuration is none.
    """
    server = course().server(sys.stdin.buffer.read(), logs, port)
    observers = (*running.observers, TurnedAway(), MatchProgress(is_quiet=server.is_quiet))
    found = serve_course(server, interface, replace(running, observers=observers))
    if found.notice and not server.is_quiet:
        console.say(found.notice)
    print(json.dumps(found.told), flush=True)
    if found.void is not None:
        console.say(f"void: {found.void}")
        sys.exit(FAILED)


@click.command(epilog="Example:  referee xclients 45678 < 0-client-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
def xclients(port: int | None) -> None:
    """Sign the players of a ClientConfig on stdin up with a server of the course CS4500, and let them play.

    PORT wins over the configuration's. The players connect in order, the configuration's `wait` apart; those with a
    cheat, an error or a loop misbehave as the course says. A server that is not there yet is waited for, 10 s.

    Exit status: 0 all connections have ended, 1 there is no server, 2 the configuration is none.
    """
    clients = course().clients(sys.stdin.buffer.read(), port)
    for name, why in play_course(clients):
        if not clients.is_quiet:
            console.say(f"{name}: {why}")
