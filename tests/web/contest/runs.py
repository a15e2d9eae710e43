"""A reactor for tests of work in other processes."""

from collections.abc import Callable
from queue import Queue
from typing import Any

from twisted.internet.task import Clock


class Reactor(Clock):
    """A clock that takes calls of other threads, and makes each when a test asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: Queue[Callable[[], object]] = Queue()

    def callFromThread(self, call: Callable[..., object], *arguments: Any) -> None:
        """Keep a call; called by threads."""
        self._calls.put(lambda: call(*arguments))

    def next_call(self) -> None:
        """Wait for the next call, and make it."""
        self._calls.get(timeout=60)()
