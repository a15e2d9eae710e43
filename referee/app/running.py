"""Runs a coroutine on Twisted's reactor, until it is done or the user interrupts it."""

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ReactorNotRunning
from twisted.python.failure import Failure

from ..errors import Interrupted
from ..net.event_loop import collect_garbage_rarely
from ..observers.output import unblocked_output
from .interrupts import ask_by_calling, take_signals

# Twisted's reactor runs once in a process, and handles the first Ctrl-C itself, by stopping at once. Here the coroutine
# is cancelled instead, and the reactor runs until it has cleaned up: programs are ended, records get their last lines.
# A second signal ends the process at once, through app/interrupts.py. What is left behind then is no worse than after
# a power failure, which every record survives, so there is nothing to gain from a slower end.

T = TypeVar("T")


def run_reactor(main: Callable[[Any], Coroutine[Deferred[Any], Any, T]]) -> T:
    """Run a coroutine on Twisted's reactor, until it is done or the user interrupts it.

    Args:
        main: called with the running reactor.

    Returns:
        The result of the coroutine.

    Raises:
        Interrupted: the user interrupted it, and the coroutine was cancelled.
        BaseException: the coroutine raised it.
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

    collect_garbage_rarely()
    running.addSystemEventTrigger("before", "shutdown", _stop)
    running.callWhenRunning(take_signals)  # after Twisted has, which has nothing for a second one
    running.callWhenRunning(_begin)
    with unblocked_output(), ask_by_calling(lambda: running.callFromThread(_stop_once, running)):
        running.run()
    value: T = _unwrap(outcome)
    return value


def _stop_once(running: Any) -> None:
    """Stop the reactor, unless an interrupt has done so already."""
    with contextlib.suppress(ReactorNotRunning):
        running.stop()


def _unwrap(outcome: list[Any]) -> Any:
    value = outcome[0] if outcome else Failure(CancelledError())
    if isinstance(value, Failure):
        if value.check(CancelledError):
            raise Interrupted("stopped before it was done")
        value.raiseException()
    return value
