"""Runs what needs Twisted's reactor, and turns what can go wrong at a table into errors that say what to do."""

import contextlib
import gc
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import rich_click as click
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ReactorNotRunning
from twisted.python.failure import Failure

from ..cli.common import console
from ..cli.errors import FAILED
from ..cli.interrupts import asked_by, take_signals
from ..games.base import BadSetup
from ..launch import PlayerError
from ..net.links.addresses import EndpointError
from ..net.matches.runner import MatchPaused
from ..record.writer import NotWritten

T = TypeVar("T")


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Turn what can go wrong at a table into errors that say what to do.

    Raises:
        click.UsageError: the user asked for what is not to be had.
        click.ClickException: the record can't be written, or a program can't be built or started.
        OSError: the machine refused anything else.
        SystemExit: the referee was stopped in the middle of a match; that is told, too.
    """
    try:
        yield
    except (BadSetup, EndpointError) as error:
        raise click.UsageError(str(error)) from None
    except PlayerError as error:  # the command is right; a program does not start
        raise click.ClickException(str(error)) from None
    except MatchPaused as error:
        text = f"stopped; nobody is blamed, and the match goes on from its record with --resume {error}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    except NotWritten as error:
        text = f"the record {error.filename} can't be written: {error.strerror}; the match was not finished"
        raise click.ClickException(text) from None


def run_reactor(main: Callable[[Any], Coroutine[Deferred[Any], Any, T]]) -> T:
    """Run a coroutine on Twisted's reactor until it is done or the user interrupts.

    Args:
        main: called with the reactor once it runs.

    Returns:
        What the coroutine returned.

    Raises:
        click.Abort: the user interrupted and the coroutine was cancelled.
        BaseException: what the coroutine raised.
    """
    from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

    running: Any = reactor
    outcome: list[Any] = []
    finished: Deferred[None] = Deferred()
    tasks: list[Deferred[T]] = []

    def _begin() -> None:
        tasks.append(Deferred.fromCoroutine(main(running)))
        tasks[0].addBoth(_done)

    def _done(value: Any) -> None:
        outcome.append(value)
        running.callLater(0, _stop_once, running)
        finished.callback(None)

    def _stop() -> Deferred[None]:
        if tasks and not outcome:
            tasks[0].cancel()  # the user interrupted: what the coroutine cleans up is waited for
        return finished

    gc.collect()
    gc.freeze()  # what was imported stays: to look through it again and again would stall the loop
    running.addSystemEventTrigger("before", "shutdown", _stop)
    running.callWhenRunning(take_signals)  # after Twisted has, which has nothing for a second one
    running.callWhenRunning(_begin)
    with asked_by(lambda: running.callFromThread(_stop_once, running)):
        running.run()
    value: T = _unwrapped(outcome)
    return value


def _stop_once(running: Any) -> None:
    """Stop the reactor, unless an interrupt has begun to."""
    with contextlib.suppress(ReactorNotRunning):
        running.stop()


def _unwrapped(outcome: list[Any]) -> Any:
    if not outcome:
        raise click.Abort
    value = outcome[0]
    if isinstance(value, Failure):
        if value.check(CancelledError):
            raise click.Abort
        value.raiseException()
    return value
