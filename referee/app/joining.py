"""Lets a program play at the referee of another project, whose messages are carried over to it."""

import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from protocol.address import AddressError, parse_address

from ..errors import BadRequest
from ..hookspecs import Joined
from ..launch import BUILDS, Builds
from ..match.setup import DEFAULT_START_MS
from ..plugins import find_game, installed
from .players import find_players
from .running import run_reactor
from .services import RefereeOptions, find_confinement, monotonic


class JoinRequest(Struct, frozen=True, kw_only=True):
    """Who is to play where."""

    address: str
    """`HOST:PORT`."""
    player: str
    """As it is given."""
    dialect: str
    name: str | None = None
    """To sign up with; None: the player's own."""
    options: dict[str, Any] = {}
    """Of the game, as the player is told."""
    per_call_ms: float
    """The limit that the player is told."""


def join_referee(request: JoinRequest, logs: Path, options: RefereeOptions) -> tuple[str, Joined]:
    """Let a player play one game at another referee.

    Args:
        request: who and where.
        logs: folder for what the program prints.
        options: how the referee runs.

    Returns:
        The name that it signed up with, and what came of it.

    Raises:
        BadRequest: the address, the name or the options are wrong.
        PlayerError: the player can't be started.
        NobodyListens: there is no referee.
        Interrupted: it was stopped.
    """
    try:
        where = parse_address(f"tcp:{request.address}")
    except AddressError:
        raise BadRequest(f"say where the referee listens as HOST:PORT, not {request.address!r}") from None
    dialect = installed().dialect(request.dialect)
    game = find_game(dialect.game)
    (launch,) = find_players(game.name, [request.player])
    game.parse_options(request.options)
    name = request.name or launch.name
    if not re.match(dialect.name_pattern, name):
        raise BadRequest(f"{request.dialect} takes names of {dialect.name_form}; give one with --name")
    confinement = find_confinement(options, logs)
    logs.mkdir(parents=True, exist_ok=True)
    output = logs / f"join.{launch.name}.stderr"

    async def _main(reactor: Any) -> Joined:
        return await dialect.join(
            reactor,
            monotonic,
            game,
            launch,
            (where.host, where.port),
            confinement=confinement,
            output=output,
            name=name,
            options=request.options,
            per_call_ms=request.per_call_ms,
            start_s=DEFAULT_START_MS / 1000,
        )

    Builds(logs / BUILDS, confinement).build(launch)
    return name, run_reactor(_main)
