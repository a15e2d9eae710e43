"""A reactor of a test, with real sockets, which takes a turn whenever the test wants it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from twisted.internet.epollreactor import EPollReactor

_LAST_TURNS = 4
"""More turns than closing takes."""


@contextmanager
def real_loop(seconds: Callable[[], float] | None = None) -> Iterator[Any]:
    """Yield a reactor on any clock, and leave none of its descriptors open."""
    reactor: Any = EPollReactor()
    if seconds is not None:
        reactor.seconds = seconds
    try:
        yield reactor
    finally:
        for _ in range(_LAST_TURNS):
            reactor.iterate(0)
        reactor.disconnectAll()
        for waker in reactor._internalReaders:
            waker.connectionLost(None)
        reactor._poller.close()
