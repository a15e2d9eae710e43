"""Adds the dialect cs4500 through the hook; the network and the rest are imported only where they are asked for."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import hookimpl
from ...hookspecs import Dialect, Joined
from .evidence import move_in_json
from .names import NAME_FORM, NAME_PATTERN

if TYPE_CHECKING:
    from ...clock import Clock
    from ...games.base import Game
    from ...launch import Confinement, Launch
    from ...net.links.player_protocol import Owner, PlayerLink
    from .clients import CourseClients
    from .server import CourseServer


def _link(owner: "Owner", clock: "Clock", now: Callable[[], float]) -> "PlayerLink":
    from .link import CourseLink  # noqa: PLC0415  # as the first line says

    return CourseLink(owner, clock, now)


async def _join(
    reactor: Any,
    now: Callable[[], float],
    game: "Game[Any, Any, Any]",
    launch: "Launch",
    where: tuple[str, int],
    *,
    confinement: "Confinement",
    output: Path,
    **terms: Any,
) -> Joined:
    """Let a program play; the terms are those of CourseTerms."""
    from .joining import CourseTerms, join  # noqa: PLC0415  # as the first line says

    asked = CourseTerms(**terms)
    return await join(reactor, now, game, asked, launch, where, confinement=confinement, output=output)


def _server(config: bytes, folder: Path) -> "CourseServer":
    from .server import read_server  # noqa: PLC0415  # as the first line says

    return read_server(config, folder)


def _clients(config: bytes) -> "CourseClients":
    from .clients import read_clients  # noqa: PLC0415  # as the first line says

    return read_clients(config)


@hookimpl
def referee_dialects() -> Iterable[Dialect]:
    """Return the one dialect."""
    dialect = Dialect(
        name="cs4500",
        game="q",
        link=_link,
        name_pattern=NAME_PATTERN,
        name_form=NAME_FORM,
        move_in=move_in_json,
        join=_join,
        server=_server,
        clients=_clients,
    )
    return [dialect]
