"""A reactor for tests of what is run in other processes."""

from collections.abc import Callable
from queue import Queue
from typing import Any

from twisted.internet.task import Clock


class Reactor(Clock):
    """A clock that takes calls of other threads, and makes them when a test asks for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: Queue[Callable[[], object]] = Queue()

    def callFromThread(self, call: Callable[..., object], *arguments: Any) -> None:
        """Keep a call; made by threads."""
        self._calls.put(lambda: call(*arguments))

    def next_call(self) -> None:
        """Wait for the next call, and make it."""
        self._calls.get(timeout=60)()
