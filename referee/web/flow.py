"""Sends what is large part by part, as fast as it is taken."""

from collections.abc import Iterator
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread


async def flow(request: Any, parts: Iterator[bytes]) -> None:
    """Send parts to whoever asks, until there are no more or who asks has left.

    Args:
        request: Twisted's.
        parts: what makes them runs in threads.
    """
    gate = _Gate()
    request.registerProducer(gate, True)
    try:
        while (part := await deferToThread(next, parts, None)) is not None:
            await gate.opened()
            request.write(part)
    finally:
        if request.channel is not None:  # else it was closed
            request.unregisterProducer()


class _Gate:
    """Is shut while a connection takes no more; a push producer of Twisted's."""

    def __init__(self) -> None:
        self._is_open = True
        self._waiting: Deferred[None] | None = None

    async def opened(self) -> None:
        """Wait until it is open."""
        if not self._is_open:
            self._waiting = Deferred()
            await self._waiting

    def pauseProducing(self) -> None:
        """Shut; called by Twisted."""
        self._is_open = False

    def resumeProducing(self) -> None:
        """Open; called by Twisted."""
        self._is_open = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)

    def stopProducing(self) -> None:
        """Do nothing: its request is cancelled. Called by Twisted."""
