"""The course's clients: players from a configuration that sign up with a server, and play."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ...errors import BadRequest
from ...plugins import find_game, installed
from .cheats import CHEATS
from .configs import ActorSpec, ClientConfig, parse_actor, read_config
from .forms import MalformedValue, make_choice
from .player_end import Call, PlayerEnd, launch


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


_NO_SEED = bytes(32)


class Actor:
    """One player; its moves are those of the house player that has the name of its strategy.

    Args:
        spec: its strategy and its misbehaviour.
    """

    def __init__(self, spec: ActorSpec) -> None:
        game = find_game("q")
        self.spec = spec
        self._choose = installed().player(spec.strategy).make(game, game.parse_options({}), _NO_SEED)
        self._calls = Counter[str]()

    def handle_call(self, call: Call, end: PlayerEnd) -> None:
        """Answer a call, unless the player misbehaves at this call."""
        self._calls[call.method] += 1
        if call.method == self.spec.raises_in:
            end.leave(f"{self.spec.name} raises in {call.method}")
        # A player that loops just never answers. To the referee that looks the same, and it uses no processor time.
        elif (call.method, self._calls[call.method]) != (self.spec.loops_in, self.spec.count):
            end.reply(None if call.method != "take-turn" else self.choose(call.view))

    def choose(self, view: Any) -> Any:
        """Choose a JChoice for a view: the cheat's if there is one and it is possible, otherwise the strategy's."""
        cheat = None if self.spec.cheat is None else CHEATS[self.spec.cheat](view)
        return make_choice(self._choose(view) if cheat is None else cheat)

    def handle_disconnect(self) -> None:
        """Do nothing: a player without a connection is not called any more."""
