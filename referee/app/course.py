"""Runs the programs of the course CS4500, `xserver` and `xclients`, as their configurations say."""

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..dialects import DIALECTS
from ..dialects.cs4500.actors import make_actor
from ..dialects.cs4500.configs import ClientConfig, ServerConfig, actor_of, read_config
from ..dialects.cs4500.forms import BadForm, position_of
from ..dialects.cs4500.player_end import PlayerEnd, launch
from ..errors import BadRequest
from ..games.base import BadSetup
from ..launch.confining import SandboxMode
from ..net.links.lobby import SignUpPolicy
from ..net.matches.host import MatchHost, MatchReport
from ..net.matches.settings import TableSettings
from ..plugins import find_game
from .playing import host_match
from .running import run_reactor
from .services import RefereeOptions, services

MIN_PLAYERS, MAX_PLAYERS = 2, 4
_MILLISECONDS = 1000.0


class ServerOutcome(Struct, frozen=True, kw_only=True):
    """What the course's server has to say of its match."""

    winners: tuple[str, ...] = ()
    """Sorted."""
    misbehaved: tuple[str, ...] = ()
    """In the order of their fouls."""
    void: str | None = None
    """The fault of the referee's own for which the match does not count."""
    notice: str = ""
    """Why nothing was played, for people; empty: it was, or nothing is to be said."""


def read_server_config(data: bytes) -> ServerConfig:
    """Read the configuration of a server.

    Raises:
        BadRequest: it is none.
    """
    config: ServerConfig = _read(data, ServerConfig, "server")
    return config


def read_client_config(data: bytes) -> ClientConfig:
    """Read the configuration of clients.

    Raises:
        BadRequest: it is none.
    """
    config: ClientConfig = _read(data, ClientConfig, "client")
    return config


def _read(data: bytes, type_: type[Any], whose: str) -> Any:
    try:
        return read_config(data, type_)
    except BadForm as error:
        raise BadRequest(f"{whose} configuration on stdin: {error}") from None


def serve_course(
    config: ServerConfig, port: int | None, interface: str, logs: Path, options: RefereeOptions
) -> ServerOutcome:
    """Take sign-ups as the course's server does, and play.

    Args:
        config: of the server.
        port: to listen on; None: the configuration's.
        interface: address to listen on.
        logs: folder of the record.
        options: how the referee runs.

    Raises:
        BadRequest: there is no port, or the configuration's state is no position of the game.
        Interrupted: it was stopped.
        OSError: the record can't be written.
    """
    address = f"tcp:{_port(port, config.port)}:interface={interface}"
    policy = SignUpPolicy(
        min_players=MIN_PLAYERS, max_players=MAX_PLAYERS, wait_s=config.server_wait, tries=config.server_tries
    )
    settings = _settings(config, logs)

    async def _play(host: MatchHost) -> MatchReport | ServerOutcome:
        try:
            return await host.play_signed_up(address, policy) or ServerOutcome()
        except BadSetup as error:  # the state was checked: not as many players as it has
            return ServerOutcome(notice=str(error))

    with services(replace(options, sandbox=SandboxMode.OFF), logs) as at_hand:  # it starts no programs
        played = host_match(find_game("q"), settings, at_hand, _play)
    if isinstance(played, ServerOutcome):
        return played
    names, result = played.names, played.result
    if result.void is not None:
        return ServerOutcome(void=result.void)
    winners = sorted(names[seat] for seat in result.winners)
    return ServerOutcome(winners=tuple(winners), misbehaved=tuple(names[foul.seat] for foul in result.fouls))


def _settings(config: ServerConfig, logs: Path) -> TableSettings:
    """Return the settings of the match that a configuration describes.

    Raises:
        BadRequest: its state is no position of the game.
    """
    spec, game = config.ref_spec, find_game("q")
    options = {"q_bonus": spec.config_s.q, "finish_bonus": spec.config_s.finish}
    try:
        position = position_of(spec.state0)
        game.restore(game.parse_options(options), position)
    except (BadForm, BadSetup) as error:
        raise BadRequest(f"state0 of the server configuration: {error}") from None
    return DIALECTS["cs4500"].settle(
        TableSettings(
            options=options,
            per_move_ms=spec.per_turn * _MILLISECONDS,
            hello_s=config.wait_for_signup,
            position=position,
            folder=logs,
        )
    )


def play_course(config: ClientConfig, port: int | None) -> list[tuple[str, str]]:
    """Sign the players of a configuration up with a server of the course, and let them play.

    Args:
        config: of the clients.
        port: of the server; None: the configuration's.

    Returns:
        By player its name and why its connection ended.

    Raises:
        BadRequest: there is no port, or a player is none.
        NobodyListens: there is no server.
        Interrupted: it was stopped.
    """
    where = _port(port, config.port)
    try:
        actors = [actor_of(spec) for spec in config.players]
    except BadForm as error:
        raise BadRequest(f"players of the client configuration: {error}") from None
    ends = [PlayerEnd(actor.name, make_actor(actor)) for actor in actors]

    async def _main(reactor: Any) -> list[str]:
        return await launch(reactor, config.host, where, ends, config.wait)

    return list(zip((actor.name for actor in actors), run_reactor(_main), strict=True))


def _port(given: int | None, configured: int | None) -> int:
    port = given or configured
    if port is None:
        raise BadRequest("no port: give PORT, or `port` in the configuration")
    return port
