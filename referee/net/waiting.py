"""Waiting for what can't be stopped, however impatient the organiser is."""

from contextlib import suppress
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

T = TypeVar("T")


async def outlasting(awaited: "Deferred[T]") -> T:
    """Wait for what has to come, and return it; whoever is cancelled meanwhile waits on."""
    while True:
        with suppress(CancelledError):
            return await apart(awaited)


async def whole(awaited: "Deferred[T]") -> T:
    """Wait for what is to be undone if it comes too late; whoever is cancelled meanwhile is so once it has come.

    Returns:
        What came.

    Raises:
        CancelledError: nobody waits for it any more.
    """
    try:
        return await apart(awaited)
    except CancelledError:
        with suppress(Exception):
            await outlasting(awaited)
        raise


def apart(awaited: "Deferred[T]") -> "Deferred[T]":
    """Return what fires with another one, and can be cancelled without it."""
    apart: Deferred[T] = Deferred()

    def _hand_on(result: Any) -> Any:
        if apart.called:
            return result
        apart.callback(result)
        return None if isinstance(result, Failure) else result

    awaited.addBoth(_hand_on)
    return apart
