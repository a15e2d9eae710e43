"""Lets a program play at the referee of another project, whose messages are carried over to it."""

import re
from functools import partial
from pathlib import Path

from msgspec import Struct

from protocol.address import AddressError, parse_address

from ..errors import BadRequest
from ..hookspecs import Joined
from ..match.setup import DEFAULT_START_MS
from ..plugins import find_game, installed
from ..programs.build import BUILDS, Builds
from .game_options import parse_options
from .players import find_players
from .running import run_reactor
from .services import RefereeOptions, find_confinement, monotonic


class JoinOptions(Struct, frozen=True, kw_only=True):
    """What a player plays with at another referee."""

    dialect: str
    name: str | None
    """To sign up with; None: the player's own."""
    options: tuple[str, ...]
    """Of the game, `NAME=VALUE`, as the player is told."""
    per_call_s: float
    """The limit that the player is told."""
    logs: Path


def join_referee(address: str, player: str, join: JoinOptions, options: RefereeOptions) -> tuple[str, Joined]:
    """Let a player play one game at another referee.

    Args:
        address: `HOST:PORT` of that referee.
        player: as it is given.
        join: what it plays with.
        options: how the referee runs.

    Returns:
        The name that it signed up with, and what came of it.

    Raises:
        BadRequest: the address, the name or the options are wrong.
        PlayerError: the player can't be started.
        NobodyListens: there is no referee.
        Interrupted: it was stopped.
    """
    where, dialect = _host_and_port(address), installed().dialect(join.dialect)
    game = find_game(dialect.game)
    told = parse_options(join.options, game.file_options)
    game.parse_options(told)
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
        options=told,
        per_call_ms=join.per_call_s * 1000,
        start_s=DEFAULT_START_MS / 1000,
    )
    return name, run_reactor(lambda reactor: play(reactor, monotonic, game, launch, where))


def _host_and_port(address: str) -> tuple[str, int]:
    try:
        where = parse_address(f"tcp:{address}")
    except AddressError:
        raise BadRequest(f"say where the referee listens as HOST:PORT, not {address!r}") from None
    return where.host, where.port
