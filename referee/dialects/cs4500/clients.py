"""The course's clients: players from a configuration that sign up with a server, and play."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ...errors import BadRequest
from .actors import Actor
from .configs import ActorSpec, ClientConfig, parse_actor, read_config
from .forms import MalformedValue
from .player_end import PlayerEnd, launch


class CourseClients(Struct, frozen=True, kw_only=True):
    """The players to launch."""

    port: int | None
    is_quiet: bool
    host: str
    wait_s: float
    """Pause before each launch, in seconds."""
    players: Sequence[ActorSpec]

    async def play(self, reactor: Any, port: int) -> list[tuple[str, str]]:
        """Sign the players up, and let them play.

        Args:
            reactor: Twisted's reactor.
            port: the server's port.

        Returns:
            For each player its name, and why its connection ended.

        Raises:
            RefereeError: no server listens there.
        """
        ends = [PlayerEnd(player.name, Actor(player)) for player in self.players]
        reasons = await launch(reactor, self.host, port, ends, self.wait_s)
        return list(zip((player.name for player in self.players), reasons, strict=True))


def read_clients(data: bytes, port: int | None = None) -> CourseClients:
    """Read the configuration of clients.

    Args:
        data: a ClientConfig in JSON.
        port: the server's port; None: the configuration's own.

    Raises:
        BadRequest: it is not a ClientConfig.
    """
    try:
        config: ClientConfig = read_config(data, ClientConfig, port)
    except MalformedValue as error:
        raise BadRequest(f"client configuration on stdin: {error}") from None
    try:
        players = [parse_actor(spec, f"players[{index}]") for index, spec in enumerate(config.players)]
    except MalformedValue as error:
        raise BadRequest(f"client configuration on stdin: {error}") from None
    return CourseClients(port=config.port, is_quiet=config.quiet, host=config.host, wait_s=config.wait, players=players)
