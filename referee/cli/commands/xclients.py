"""`referee xclients`: the course CS4500's clients, as its program of that name is run."""

import sys
from typing import Any

import rich_click as click

from ...app.running import run_reactor
from ...dialects.cs4500.actors import make_actor
from ...dialects.cs4500.configs import ClientConfig, actor_of, read_config
from ...dialects.cs4500.forms import BadForm
from ...dialects.cs4500.player_end import NobodyListens, PlayerEnd, launch
from ..common import Count, console


@click.command(epilog="Example:  referee xclients 45678 < 0-client-config.json")
@click.argument("port", required=False, type=Count(1, 65_535))
def xclients(port: int | None) -> None:
    """Sign the players of a ClientConfig on stdin up with a server of the course CS4500, and let them play.

    PORT wins over the configuration's. The players connect in order, the configuration's `wait` apart; those with a
    cheat, an error or a loop misbehave as the course says. A server that is not there yet is waited for, 10 s.

    Exit status: 0 all connections have ended, 1 there is no server, 2 the configuration is none.
    """
    config = _config(sys.stdin.buffer.read())
    where = port or config.port
    if where is None:
        raise click.UsageError("no port: give PORT, or `port` in the configuration")
    try:
        actors = [actor_of(spec) for spec in config.players]
    except BadForm as error:
        raise click.UsageError(f"players of the client configuration: {error}") from None
    ends = [PlayerEnd(actor.name, make_actor(actor)) for actor in actors]

    async def _main(reactor: Any) -> list[str]:
        return await launch(reactor, config.host, where, ends, config.wait)

    try:
        reasons = run_reactor(_main)
    except NobodyListens as error:
        raise click.ClickException(str(error)) from None
    if not config.quiet:
        for actor, why in zip(actors, reasons, strict=True):
            console.print(f"{actor.name}: {why}", markup=False, highlight=False, soft_wrap=True)


def _config(data: bytes) -> ClientConfig:
    try:
        config: ClientConfig = read_config(data, ClientConfig)
    except BadForm as error:
        raise click.UsageError(f"client configuration on stdin: {error}") from None
    return config
