"""Adds the dialect cs4500 through the hook; the network and the rest are imported only where they are asked for."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ... import hookimpl
from ...hookspecs import Dialect
from .evidence import move_in_json
from .names import NAME_FORM, NAME_PATTERN

if TYPE_CHECKING:
    from ...clock import Clock
    from ...net.links.player_protocol import Owner, PlayerLink


def _link(owner: "Owner", clock: "Clock", now: Callable[[], float]) -> "PlayerLink":
    from .link import CourseLink  # noqa: PLC0415  # as the first lines say

    return CourseLink(owner, clock, now)


async def _join(*args: Any, **values: Any) -> Any:
    from .joining import join  # noqa: PLC0415  # as the first lines say

    return await join(*args, **values)


def _server(*args: Any) -> Any:
    from .server import read_server  # noqa: PLC0415  # as the first lines say

    return read_server(*args)


def _clients(*args: Any) -> Any:
    from .actors import read_clients  # noqa: PLC0415  # as the first lines say

    return read_clients(*args)


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
