"""A test's event loop: Twisted's clock, which the test moves, and real descriptors, read when the test wants it."""

import select
from collections import deque
from collections.abc import Callable
from typing import Any

from twisted.internet.task import Clock


class Loop(Clock):
    """The parts of a reactor that programs need."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: list[Any] = []
        self._handed_over: deque[Callable[[], Any]] = deque()

    def addReader(self, reader: Any) -> None:
        """Add a reader; called by the tested code."""
        self.readers.append(reader)

    def removeReader(self, reader: Any) -> None:
        """Remove a reader; called by the tested code."""
        if reader in self.readers:
            self.readers.remove(reader)

    def callFromThread(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function at the test's next look; called by threads of the tested code."""
        self._handed_over.append(lambda: function(*args))

    def look(self, wait_s: float = 0.01) -> None:
        """Read everything that is there, waiting a moment for it."""
        for reader in select.select(self.readers, [], [], wait_s)[0]:
            lost = reader.doRead()
            if lost is not None:
                self.removeReader(reader)
                reader.connectionLost(lost)
        while self._handed_over:
            self._handed_over.popleft()()
