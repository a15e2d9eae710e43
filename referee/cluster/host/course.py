"""One match while a host plays it: who waits for what comes of it, and what of its record was told already."""

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from twisted.internet.defer import Deferred

from ...record.reader import MAX_LINE_BYTES
from ..messages import Returned

LINES_BYTES = 1 << 20
"""Told at once; a longer line is told alone."""


class Course:
    """A match while it is played, and for a while afterwards.

    Args:
        path: of its record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.playing: Deferred[None] | None = None
        self.returned: Returned | None = None
        """What came of it."""
        self.is_fetched = False
        """Whether somebody was given that."""
        self._told = 0
        """Bytes of the record."""
        self._waiting: list[Future[Returned | None]] = []

    def wait(self) -> "Future[Returned | None]":
        """Return what holds what comes of it; None: whoever waits has lost the connection meanwhile."""
        waiting: Future[Returned | None] = Future()
        if self.returned is not None:
            self.is_fetched = True
            waiting.set_result(self.returned)
        else:
            self._waiting.append(waiting)
        return waiting

    def end(self, returned: Returned) -> None:
        """Say what came of it."""
        self.returned = returned
        self.is_fetched = bool(self._waiting)
        self._release(returned)

    def release(self) -> None:
        """Let nobody wait any more; the match goes on."""
        self._release(None)

    def stop(self) -> None:
        """Stop it in the middle."""
        if self.playing is not None:
            self.playing.cancel()

    def tell_again(self) -> None:
        """Begin to tell of it from its first line: somebody new listens."""
        self._told = 0

    def untold(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are on record and were not told, each time with where they begin."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._told)
                while data := _whole_lines(file.read(LINES_BYTES)) or _whole_lines(file.readline(MAX_LINE_BYTES)):
                    yield self._told, data
                    self._told += len(data)
                    file.seek(self._told)
        except FileNotFoundError:
            return

    def _release(self, returned: Returned | None) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            future.set_result(returned)


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]
