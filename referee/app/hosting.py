"""Runs a table for `play` and `serve`, watched, and takes up matches that broke off. Knows whose fault an error is."""

import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from twisted.internet.defer import Deferred

from ..cli.common import find_game, monotonic, out
from ..cli.errors import FAILED
from ..cli.options.monitoring import Monitoring
from ..cli.views.match import Moves, Watcher
from ..games.base import Game
from ..launch import Confinement, Launch
from ..net.links.addresses import stopped
from ..net.matches.host import MatchHost, MatchReport
from ..net.matches.settings import TableSettings
from ..net.telemetry import Several
from ..record.reader import RecordError
from ..record.resume import Resumption, reopen
from ..record.seal import Sealer
from .running import clear_errors, run_reactor

T = TypeVar("T")


class Surroundings(Struct, frozen=True, kw_only=True):
    """What there is around a table."""

    sealer: Sealer
    """Seals the record."""
    watched: Monitoring
    """Where the referee tells of itself."""
    is_quiet: bool
    """Whether nothing is shown."""
    confinement: Confinement = Confinement()
    """What launched programs are held to."""


def run_table(
    rules: Game[Any, Any, Any],
    settings: TableSettings,
    around: Surroundings,
    play: Callable[[MatchHost], Coroutine[Deferred[Any], Any, T]],
) -> tuple[T, list[dict[str, Any]]]:
    """Set up a table, run the reactor, and show what happens until it is over.

    Args:
        rules: of the game.
        settings: of the table.
        around: the table.
        play: what to do at the table.

    Returns:
        What `play` returned, and the moves of the match.

    Raises:
        click.ClickException: the user or the machine is at fault; the text says what to do.
    """
    watched = around.watched
    moves = Moves()
    with Several(watched.telemetry, moves, Watcher(is_quiet=around.is_quiet)) as telemetry:

        async def _main(reactor: Any) -> T:
            table = MatchHost(
                reactor,
                monotonic,
                rules,
                settings,
                sealer=around.sealer,
                telemetry=telemetry,
                confinement=around.confinement,
            )
            monitor = await watched.open(reactor)
            try:
                return await play(table)
            finally:
                if monitor is not None:
                    await stopped(monitor)

        with clear_errors():
            return run_reactor(_main), moves.so_far


def reopened(path: Path, sealer: Sealer) -> Resumption:
    """Take up the record of a match that broke off, or end with what is wrong with it.

    Raises:
        click.ClickException: the record can't be written.
        SystemExit: it does not hold, or is not to be resumed.
    """
    try:
        with clear_errors():
            return reopen(path, find_game, sealer)
    except RecordError as error:
        out.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)


def play_on(
    resumed: Resumption, around: Surroundings, launches: Sequence[Launch], address: str, *, come_back_s: float = 0.0
) -> tuple[MatchReport, list[dict[str, Any]]]:
    """Play a match that was taken up to its end.

    Args:
        resumed: the match.
        around: the table.
        launches: by seat; empty: the players come back by themselves.
        address: Twisted endpoint string to listen on.
        come_back_s: how long a player that came by itself may be away, in seconds.

    Returns:
        The match, and the moves of its rest.
    """
    settings = TableSettings(
        folder=resumed.writer.path.parent, match=resumed.match.setup.match, come_back_s=come_back_s
    )
    return run_table(resumed.match.game, settings, around, lambda table: table.play_on(resumed, launches, address))
