"""`referee xserver`: the course CS4500's server, as its program of that name is run, with a record of the match."""

import json
import sys
from pathlib import Path

import rich_click as click

from ...app.hosting import Surroundings, run_table
from ...dialects import DIALECTS
from ...dialects.cs4500.configs import ServerConfig, read_config
from ...dialects.cs4500.forms import BadForm, position_of
from ...games.base import BadSetup
from ...net.links.lobby import SignUpPolicy
from ...net.matches.host import MatchHost, MatchReport
from ...net.matches.settings import TableSettings
from ..common import Count, console, find_game
from ..errors import FAILED
from ..options.match import find_sealer
from ..options.monitoring import TurnedAway, watched

_MILLISECONDS = 1000.0
MIN_PLAYERS, MAX_PLAYERS = 2, 4


@click.command(epilog="Example:  referee xserver 45678 < 0-server-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
@click.option(
    "--interface", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 lets others connect."
)
@click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the key that seals the record; made if missing. See `referee key`.",
)
@click.option(
    "--logs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("logs"),
    show_default=True,
    help="Folder for the match's record.",
)
def xserver(port: int | None, interface: str, key: Path | None, logs: Path) -> None:
    """Play the match of a ServerConfig on stdin between players of the course CS4500, and print who won.

    PORT wins over the configuration's. Prints [[WINNER, ...], [MISBEHAVED, ...]]; both are empty if too few signed up,
    or not as many as the configuration's state has. The match's record is written as for every match.

    Exit status: 0 printed, 1 the match is void for a fault of the referee's own, 2 the configuration is none.
    """
    config = _config(sys.stdin.buffer.read())
    where = port or config.port
    if where is None:
        raise click.UsageError("no port: give PORT, or `port` in the configuration")
    policy = SignUpPolicy(
        min_players=MIN_PLAYERS, max_players=MAX_PLAYERS, wait_s=config.server_wait, tries=config.server_tries
    )
    settings = _settings(config, logs)

    async def _play(table: MatchHost) -> MatchReport | None:
        try:
            return await table.play_signed_up(f"tcp:{where}:interface={interface}", policy)
        except BadSetup as error:  # the state was checked: not as many players as it has
            table_says.append(str(error))
            return None

    table_says: list[str] = []
    is_quiet = config.quiet and config.ref_spec.quiet
    with watched(None, None, TurnedAway()) as telling:
        around = Surroundings(sealer=find_sealer(key), watched=telling, is_quiet=is_quiet)
        played, _ = run_table(find_game("q"), settings, around, _play)
    if not is_quiet:
        for text in table_says:
            console.print(text, markup=False, highlight=False, soft_wrap=True)
    print(json.dumps(_reported(played)), flush=True)
    if played is not None and played.result.void is not None:
        console.print(f"void: {played.result.void}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)


def _config(data: bytes) -> ServerConfig:
    try:
        config: ServerConfig = read_config(data, ServerConfig)
    except BadForm as error:
        raise click.UsageError(f"server configuration on stdin: {error}") from None
    return config


def _settings(config: ServerConfig, logs: Path) -> TableSettings:
    """Return the table that a configuration describes.

    Raises:
        click.UsageError: its state is no position of the game.
    """
    spec, game = config.ref_spec, find_game("q")
    options = {"q_bonus": spec.config_s.q, "finish_bonus": spec.config_s.finish}
    try:
        position = position_of(spec.state0)
        game.restore(game.parse_options(options), position)
    except (BadForm, BadSetup) as error:
        raise click.UsageError(f"state0 of the server configuration: {error}") from None
    return DIALECTS["cs4500"].settle(
        TableSettings(
            options=options,
            per_move_ms=spec.per_turn * _MILLISECONDS,
            hello_s=config.wait_for_signup,
            position=position,
            folder=logs,
        )
    )


def _reported(played: MatchReport | None) -> list[list[str]]:
    """Return the winners, sorted, and the misbehaved, in the order of their fouls."""
    if played is None or played.result.void is not None:
        return [[], []]
    names, result = played.names, played.result
    return [sorted(names[seat] for seat in result.winners), [names[foul.seat] for foul in result.fouls]]
