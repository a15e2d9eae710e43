"""Waits for what has to be done to its end, whoever gives up waiting meanwhile."""

from typing import TypeVar

from twisted.internet.defer import CancelledError, Deferred

T = TypeVar("T")


def tell_waiting(value: T, waiting: "Deferred[None]") -> T:
    """Let whoever waits go on, unless it waits no more."""
    if not waiting.called:
        waiting.callback(None)
    return value


async def through(awaited: "Deferred[T]") -> T:
    """Wait for what has to be done to its end, however impatient the organiser is."""
    while not awaited.called:
        waiting: Deferred[None] = Deferred()
        awaited.addBoth(tell_waiting, waiting)
        try:
            await waiting
        except CancelledError:
            continue
    return await awaited
