"""Runs the programs of a course whose dialect is spoken here, `xserver` and `xclients`, as their configurations say."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import BadRequest
from ..games.base import BadSetup
from ..hookspecs import Dialect
from ..net.links.addresses import endpoint_of
from ..net.matches.session import MatchReport, MatchSession
from ..plugins import find_game, installed
from ..programs.confining import SandboxMode
from .playing import host_match
from .running import run_reactor
from .services import RefereeOptions, services


class ServerOutcome(Struct, frozen=True, kw_only=True):
    """What a course's server has to say of its match."""

    told: tuple[list[str], list[str]] = ([], [])
    """Who won, and who misbehaved."""
    void: str | None = None
    """The fault of the referee's own for which the match does not count."""
    notice: str = ""
    """Why nothing was played, for people; empty: it was, or nothing is to be said."""


def course() -> Dialect:
    """Return the dialect whose programs these are."""
    return installed().dialect("cs4500")


def serve_course(server: Any, interface: str, options: RefereeOptions) -> ServerOutcome:
    """Take sign-ups as the course's server does, and play.

    Args:
        server: as its configuration asks for it.
        interface: address to listen on.
        options: how the referee runs.

    Raises:
        BadRequest: there is no port.
        Interrupted: it was stopped.
        OSError: the record can't be written.
    """
    address = endpoint_of(_port(server.port), interface)

    async def _play(host: MatchSession) -> MatchReport | ServerOutcome:
        try:
            return await host.play_signed_up(address, server.policy) or ServerOutcome()
        except BadSetup as error:  # the state was checked: not as many players as it has
            return ServerOutcome(notice=str(error))

    options = replace(options, sandbox=SandboxMode.OFF)  # it starts no programs
    with services(options, server.settings.folder) as at_hand:
        played = host_match(find_game(course().game), server.settings, at_hand, _play)
    if isinstance(played, ServerOutcome):
        return played
    return ServerOutcome(told=server.list_names(played), void=played.result.void)


def play_course(clients: Any) -> list[tuple[str, str]]:
    """Sign the players of a configuration up with a server of the course, and let them play.

    Args:
        clients: as their configuration asks for them.

    Returns:
        By player its name and why its connection ended.

    Raises:
        BadRequest: there is no port.
        NobodyListens: there is no server.
        Interrupted: it was stopped.
    """
    where = _port(clients.port)

    async def _main(reactor: Any) -> list[tuple[str, str]]:
        reasons: list[tuple[str, str]] = await clients.play(reactor, where)
        return reasons

    return run_reactor(_main)


def _port(port: int | None) -> int:
    if port is None:
        raise BadRequest("no port: give PORT, or `port` in the configuration")
    return port
