"""Waits for work that can't be stopped halfway, even if the organiser cancels the wait."""

from contextlib import suppress
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

T = TypeVar("T")


async def outlast(work: "Deferred[T]") -> T:
    """Wait for work and return its result; a cancellation is ignored."""
    while True:
        with suppress(CancelledError):
            return await fork(work)


async def let_finish(work: "Deferred[T]") -> T:
    """Wait for work whose result has to be undone if it comes too late; a cancellation takes effect once it is done.

    Raises:
        CancelledError: the wait was cancelled; the work is done, and its result is dropped.
    """
    try:
        return await fork(work)
    except CancelledError:
        with suppress(Exception):
            await outlast(work)
        raise


def fork(work: "Deferred[T]") -> "Deferred[T]":
    """Return a Deferred that fires with another one, and can be cancelled without cancelling that one."""
    branch: Deferred[T] = Deferred()

    def _pass_on(result: Any) -> Any:
        if branch.called:
            return result
        branch.callback(result)
        return None if isinstance(result, Failure) else result

    work.addBoth(_pass_on)
    return branch
