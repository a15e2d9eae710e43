"""`referee join`: let a player of this project play at another project's referee."""

import re
import sys
from functools import partial
from pathlib import Path

import rich_click as click
from msgspec import Struct

from protocol.address import AddressError, parse_address

from ...app.players import find_players
from ...app.running import run_reactor
from ...app.services import RefereeOptions, find_confinement, monotonic
from ...errors import BadRequest
from ...hookspecs import Joined
from ...match.setup import DEFAULT_TIME
from ...plugins import find_game, installed
from ...programs.build import BUILDS, Builds
from ..common import group_options, harmless, json_option, out, print_json
from ..completion import complete_players
from ..errors import FAILED, FINE
from ..options import confinement_options, game_option, logs_option, parse_options, seconds_option


class JoinOptions(Struct, frozen=True, kw_only=True):
    """Options of a player that joins another referee."""

    dialect: str
    name: str | None
    """Name to sign up with; None: the player's own."""
    options: tuple[str, ...]
    """Options of the game, `NAME=VALUE`, to send to the player."""
    per_call_s: float
    """Limit of a move to send to the player, in seconds."""
    logs: Path


def join_referee(address: str, player: str, join: JoinOptions, options: RefereeOptions) -> tuple[str, Joined]:
    """Let a player play one game at another referee.

    Args:
        address: `HOST:PORT` of the other referee.
        player: player spec of the player.
        join: the options.
        options: how this referee runs the program.

    Returns:
        The name that the player signed up with, and the result.

    Raises:
        BadRequest: the address, the name or the options are wrong.
        PlayerError: the player can't be started.
        RefereeError: no referee answers at the address.
        Interrupted: the user stopped it.
    """
    where, dialect = _host_and_port(address), installed().dialect(join.dialect)
    game = find_game(dialect.game)
    game_options = parse_options(join.options, game.file_options)
    game.parse_options(game_options)
    (launch,) = find_players(game.name, [player])
    name = join.name or launch.name
    if not re.match(dialect.name_pattern, name):
        raise BadRequest(f"{join.dialect} takes names of {dialect.name_form}; give one with --name")
    confinement = find_confinement(options, join.logs)
    Builds(join.logs / BUILDS, confinement).build(launch)
    join.logs.mkdir(parents=True, exist_ok=True)
    play = partial(
        dialect.join,
        confinement=confinement,
        output=join.logs / f"join.{launch.name}.stderr",
        name=name,
        options=game_options,
        per_call_ms=join.per_call_s * 1000,
        start_s=DEFAULT_TIME.start_ms / 1000,
    )
    return name, run_reactor(lambda reactor: play(reactor, monotonic, game, launch, where))


def _host_and_port(address: str) -> tuple[str, int]:
    try:
        where = parse_address(f"tcp:{address}")
    except AddressError:
        raise BadRequest(f"{address} is not an address: give HOST:PORT of the referee") from None
    return where.host, where.port


_join_options = group_options(
    "join",
    JoinOptions,
    click.option(
        "--dialect",
        metavar="NAME",
        required=True,
        help="Protocol of the other referee: cs4500, the JSON of the course CS4500.",
    ),
    click.option("--name", help="Name to sign up with, 1 to 20 letters or digits. (Default: the player's own)"),
    game_option,
    seconds_option(
        "--time",
        "per_call_s",
        default=DEFAULT_TIME.per_move_ms / 1000,
        what="Limit of a move that the player is told, in seconds.",
    ),
    logs_option("for the output of the program"),
)


@click.command("join", epilog="Example:  referee join localhost:45678 house:greedy --dialect cs4500 --name ada")
@click.argument("referee", metavar="HOST:PORT")
@click.argument("player", shell_complete=complete_players)
@_join_options
@confinement_options
@json_option
def join_command(referee: str, player: str, *, join: JoinOptions, running: RefereeOptions, as_json: bool) -> None:
    """Let PLAYER play one game at another project's referee, which listens on HOST:PORT.

    A PLAYER is house:NAME, cmd:'COMMAND' or a folder with a player.toml, as for `referee play`. The program speaks this
    project's protocol, and the command translates its messages. The other referee does not send its options or its time
    limit; give them with --option and --time.

    Exit status: 0 the player finished the game, 1 it did not, 2 usage error.
    """
    name, joined = join_referee(referee, player, join, running)
    show_joined(name, joined, as_json=as_json)
    sys.exit(FAILED if joined.won is None else FINE)


def show_joined(name: str, joined: Joined, *, as_json: bool) -> None:
    """Show how a match at another referee ended."""
    if as_json:
        print_json({"name": name, "won": joined.won, "why": joined.why})
    elif joined.won is None:
        out.print(f"{harmless(name)} did not finish the game: {harmless(joined.why)}", soft_wrap=True)
    else:
        out.print(f"{harmless(name)} {'won' if joined.won else 'lost'}")
