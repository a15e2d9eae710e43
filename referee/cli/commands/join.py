"""`referee join`: let a player of this project play at a referee of a course."""

import re
import sys
from pathlib import Path
from typing import Any

import rich_click as click

from protocol.address import AddressError, parse_address

from ...app.running import clear_errors, run_reactor
from ...dialects import DIALECTS
from ...dialects.cs4500.joining import CourseTerms, Joined, join
from ...dialects.cs4500.player_end import NobodyListens
from ...launch import Builds
from ...match.setup import DEFAULT_PER_MOVE_MS, DEFAULT_START_MS
from ..common import find_game, harmless, json_option, monotonic, out, parse_options, print_json, registry
from ..errors import FAILED
from ..options.completion import complete_players
from ..options.match import Seconds
from ..options.players import find_launches
from ..options.sandbox import confinement_options, find_confinement
from .play import BUILDS

_MILLISECONDS = 1000.0


@click.command("join", epilog="Example:  referee join localhost:45678 house:greedy --dialect cs4500 --name ada")
@click.argument("referee", metavar="HOST:PORT")
@click.argument("player", shell_complete=complete_players)
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    required=True,
    help="What is spoken there: cs4500, the course's JSON.",
)
@click.option("--name", help="What to sign up with, 1 to 20 letters or digits; the player's own name if not given.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game; repeatable.")
@click.option(
    "--time",
    "time_s",
    type=Seconds(min=0.001, max=86_400),
    default=DEFAULT_PER_MOVE_MS / _MILLISECONDS,
    show_default=True,
    help="What the player is told of the limit for a call, in seconds.",
)
@click.option(
    "--logs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("logs"),
    show_default=True,
    help="Folder for what the program prints.",
)
@confinement_options
@json_option
def join_command(
    referee: str,
    player: str,
    dialect: str,
    name: str | None,
    options: tuple[str, ...],
    time_s: float,
    logs: Path,
    sandbox_mode: str,
    memory_mib: int,
    as_json: bool,
) -> None:
    """Let PLAYER play one game at the referee of another project that listens on HOST:PORT.

    A PLAYER is house:NAME, cmd:'COMMAND' or a folder with a player.toml, as for `referee play`: the program speaks this
    project's protocol, and its messages are carried over. That referee tells neither its options nor its limits;
    --option and --time say what the player is told.

    Exit status: 0 the game came to its end, 1 it did not for this player, 2 used wrongly.
    """
    try:
        where = parse_address(f"tcp:{referee}")
    except AddressError:
        raise click.UsageError(f"say where the referee listens as HOST:PORT, not {referee!r}") from None
    game = find_game(DIALECTS[dialect].game)
    (launch,) = find_launches(game.name, [player], registry())
    chosen = parse_options(options, game.file_options)
    with clear_errors():
        game.parse_options(chosen)
    if not re.match(DIALECTS[dialect].name_pattern, name or launch.name):
        raise click.UsageError(f"{dialect} takes names of 1 to 20 letters or digits; give one with --name")
    terms = CourseTerms(
        name=name or launch.name,
        options=chosen,
        per_call_ms=time_s * _MILLISECONDS,
        start_s=DEFAULT_START_MS / _MILLISECONDS,
    )
    confinement = find_confinement(sandbox_mode, None, logs, memory_mib=memory_mib)
    logs.mkdir(parents=True, exist_ok=True)
    output = logs / f"join.{launch.name}.stderr"

    async def _main(reactor: Any) -> Joined:
        at = (where.host, where.port)
        return await join(reactor, monotonic, game, terms, launch, at, confinement=confinement, output=output)

    try:
        with clear_errors():
            Builds(logs / BUILDS, confinement).build(launch)
            joined = run_reactor(_main)
    except NobodyListens as error:
        raise click.ClickException(str(error)) from None
    _show(joined, terms.name, as_json=as_json)
    sys.exit(FAILED if joined.won is None else 0)


def _show(joined: Joined, name: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "won": joined.won, "why": joined.why})
    elif joined.won is None:
        out.print(f"{harmless(name)} did not come to the end of the game: {harmless(joined.why)}", soft_wrap=True)
    else:
        out.print(f"{harmless(name)} {'won' if joined.won else 'lost'}")
