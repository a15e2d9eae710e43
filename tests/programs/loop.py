"""A test's event loop: Twisted's clock, which the test moves, and real descriptors, read when the test looks."""

import select
from collections import deque
from collections.abc import Callable
from typing import Any

from twisted.internet.task import Clock


class Loop(Clock):
    """What programs need of a reactor."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: list[Any] = []
        self._handed_over: deque[Callable[[], Any]] = deque()

    def addReader(self, reader: Any) -> None:
        """Take a reader; called by what is under test."""
        self.readers.append(reader)

    def removeReader(self, reader: Any) -> None:
        """Leave a reader out from now on; called by what is under test."""
        if reader in self.readers:
            self.readers.remove(reader)

    def callFromThread(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function when the test looks next; called by threads of what is under test."""
        self._handed_over.append(lambda: function(*args))

    def look(self, wait_s: float = 0.01) -> None:
        """Read once what is there to be read, waiting a moment for it."""
        for reader in select.select(self.readers, [], [], wait_s)[0]:
            lost = reader.doRead()
            if lost is not None:
                self.removeReader(reader)
                reader.connectionLost(lost)
        while self._handed_over:
            self._handed_over.popleft()()
