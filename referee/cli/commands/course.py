"""`referee xserver` and `referee xclients`: the programs of the course CS4500, under their names in the course."""

import json
import sys
from pathlib import Path
from typing import Any

import rich_click as click
from msgspec import Struct
from msgspec.structs import replace

from ...app.playing import host_match
from ...app.running import run_reactor
from ...app.services import RefereeOptions, services
from ...errors import BadRequest
from ...games.base import BadSetup
from ...hookspecs import Dialect
from ...net.links.addresses import make_endpoint
from ...net.matches.session import MatchReport, MatchSession
from ...plugins import find_game, installed
from ..common import Count, console
from ..errors import FAILED
from ..match_view import MatchProgress, TurnedAway
from ..options import key_options, logs_option


class ServerOutcome(Struct, frozen=True, kw_only=True):
    """The output of the course's server."""

    told: tuple[list[str], list[str]] = ([], [])
    """Names of the winners, and of the players that misbehaved."""
    void: str | None = None
    """The referee's own fault, because of which the match is void; None if the match counts."""
    notice: str = ""
    """Reason why no match was played, for people; empty if a match was played, or too few players signed up."""


def course() -> Dialect:
    """Return the dialect of the course."""
    return installed().dialect("cs4500")


def serve_course(server: Any, interface: str, options: RefereeOptions) -> ServerOutcome:
    """Take sign-ups in the way of the course's server, then play the match.

    Args:
        server: the server's configuration.
        interface: address to listen on.
        options: options of the referee.

    Raises:
        BadRequest: no port was given.
        Interrupted: the user stopped it.
        OSError: the record can't be written.
    """
    address = make_endpoint(_port(server.port), interface)

    async def _play(host: MatchSession) -> MatchReport | ServerOutcome:
        try:
            return await host.play_after_sign_up(address, server.policy) or ServerOutcome()
        except BadSetup as error:  # the state is valid, so the number of players does not fit it
            return ServerOutcome(notice=str(error))

    options = options.without_sandbox()  # this command starts no programs
    with services(options, server.settings.folder) as at_hand:
        played = host_match(find_game(course().game), server.settings, at_hand, _play)
    if isinstance(played, ServerOutcome):
        return played
    return ServerOutcome(told=server.list_names(played), void=played.result.void)


def play_course(clients: Any) -> list[tuple[str, str]]:
    """Sign the players of a configuration up with a server of the course, and let them play.

    Args:
        clients: the clients' configuration.

    Returns:
        Name of each player, and why its connection ended.

    Raises:
        BadRequest: no port was given.
        RefereeError: there is no server.
        Interrupted: the user stopped it.
    """
    where = _port(clients.port)

    async def _main(reactor: Any) -> list[tuple[str, str]]:
        reasons: list[tuple[str, str]] = await clients.play(reactor, where)
        return reasons

    return run_reactor(_main)


def _port(port: int | None) -> int:
    if port is None:
        raise BadRequest("no port: give PORT, or `port` in the configuration")
    return port


@click.command(epilog="Example:  referee xserver 45678 < 0-server-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
@click.option(
    "--interface", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 lets others connect."
)
@key_options
@logs_option("for the match's record")
def xserver(port: int | None, *, interface: str, running: RefereeOptions, logs: Path) -> None:
    """Read a ServerConfig from stdin, play its match between players of the course CS4500, and print the winners.

    PORT overrides the configuration. The output is [[WINNER, ...], [MISBEHAVED, ...]]. Both lists are empty if too few
    players signed up, or if their number does not fit the configuration's state. The match leaves a record, as always.

    Exit status: 0 printed, 1 the match is void because of a fault of the referee, 2 stdin is not a configuration.
    """
    server = course().server(sys.stdin.buffer.read(), logs, port)
    observers = (*running.observers, TurnedAway(), MatchProgress(is_quiet=server.is_quiet, tells_reasons=True))
    outcome = serve_course(server, interface, replace(running, observers=observers))
    if outcome.notice and not server.is_quiet:
        console.say(outcome.notice)
    print(json.dumps(outcome.told), flush=True)
    if outcome.void is not None:
        console.say(f"void: {outcome.void}")
        sys.exit(FAILED)


@click.command(epilog="Example:  referee xclients 45678 < 0-client-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
def xclients(port: int | None) -> None:
    """Read a ClientConfig from stdin, sign its players up with a server of the course CS4500, and let them play.

    PORT overrides the configuration. The players connect one after the other, with a pause of `wait`. Players with a
    cheat, an error or a loop misbehave as the course demands. If there is no server yet, the command waits 10 s for it.

    Exit status: 0 all connections have ended, 1 there is no server, 2 stdin is not a configuration.
    """
    clients = course().clients(sys.stdin.buffer.read(), port)
    for name, why in play_course(clients):
        if not clients.is_quiet:
            console.say(f"{name}: {why}")
