"""Runs a table for `play` and `serve`, watched, and takes up matches that broke off. Knows whose fault an error is."""

import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred

from ..games.base import Game
from ..net.launch import Confinement, Launch
from ..net.table import Played, Table, TableSettings
from ..record.reader import RecordError
from ..record.resume import Resumption, reopen
from ..record.seal import Sealer
from .common import FAILED, clear_errors, find_game, monotonic, out, run_reactor
from .watching import Watcher

T = TypeVar("T")


def run_table(
    rules: Game[Any, Any, Any],
    settings: TableSettings,
    sealer: Sealer,
    play: Callable[[Table], Coroutine[Deferred[Any], Any, T]],
    *,
    is_quiet: bool,
    confinement: Confinement = Confinement(),  # noqa: B008  # frozen
) -> tuple[T, list[dict[str, Any]]]:
    """Set up a table, run the reactor, and show what happens until it is over.

    Args:
        rules: of the game.
        settings: of the table.
        sealer: seals the record.
        play: what to do at the table.
        is_quiet: whether nothing is shown.
        confinement: what launched programs are held to.

    Returns:
        What `play` returned, and the moves of the match.

    Raises:
        click.ClickException: the user or the machine is at fault; the text says what to do.
    """
    with Watcher(is_quiet=is_quiet) as watcher:

        async def _main(reactor: Any) -> T:
            table = Table(
                reactor,
                monotonic,
                rules,
                settings,
                sealer=sealer,
                report=watcher.report,
                on_step=watcher.on_step,
                confinement=confinement,
            )
            return await play(table)

        with clear_errors():
            return run_reactor(_main), watcher.moves


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
    resumed: Resumption,
    sealer: Sealer,
    launches: Sequence[Launch],
    address: str,
    *,
    is_quiet: bool,
    confinement: Confinement = Confinement(),  # noqa: B008  # frozen
) -> tuple[Played, list[dict[str, Any]]]:
    """Play a match that was taken up to its end.

    Args:
        resumed: the match.
        sealer: seals its record.
        launches: by seat; empty: the players come back by themselves.
        address: Twisted endpoint string to listen on.
        is_quiet: whether nothing is shown.
        confinement: what launched programs are held to.

    Returns:
        The match, and the moves of its rest.
    """
    settings = TableSettings(folder=resumed.writer.path.parent, match=resumed.match.setup.match)
    return run_table(
        resumed.match.game,
        settings,
        sealer,
        lambda table: table.play_on(resumed, launches, address),
        is_quiet=is_quiet,
        confinement=confinement,
    )
