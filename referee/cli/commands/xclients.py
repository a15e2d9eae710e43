"""`referee xclients`: the course CS4500's clients, as its program of that name is run."""

import sys

import rich_click as click

from ...app.course_programs import course, play_course
from ..common import Count, console


@click.command(epilog="Example:  referee xclients 45678 < 0-client-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
def xclients(port: int | None) -> None:
    """Sign the players of a ClientConfig on stdin up with a server of the course CS4500, and let them play.

    PORT wins over the configuration's. The players connect in order, the configuration's `wait` apart; those with a
    cheat, an error or a loop misbehave as the course says. A server that is not there yet is waited for, 10 s.

    Exit status: 0 all connections have ended, 1 there is no server, 2 the configuration is none.
    """
    clients = course().clients(sys.stdin.buffer.read())
    for name, why in play_course(clients, port):
        if not clients.is_quiet:
            console.say(f"{name}: {why}")
