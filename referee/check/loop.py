"""Waits on Twisted's reactor from plain code: it is run only while something is waited for, one turn after the other.

So a step of the check reads from top to bottom, and a real match, which is a coroutine, runs on the same reactor.
"""

import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

T = TypeVar("T")
_TURN_S = 0.05
"""Longest turn of the reactor: what is waited for may be no descriptor's affair."""
_TICK_S = 0.001
"""The shortest time that the reactor can wait."""


class Loop:
    """The reactor of this process, which nobody else may run."""

    def __init__(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

        self.reactor: Any = reactor

    def seconds(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def wait(self, is_over: Callable[[], bool], limit_s: float) -> bool:
        """Run until something holds.

        Args:
            is_over: asked after everything that happens.
            limit_s: how long at most, in seconds.

        Returns:
            Whether it holds.
        """
        give_up = self.seconds() + limit_s
        while not is_over():
            left_s = give_up - self.seconds()
            if left_s <= 0:
                return False
            self._turn(left_s)
        return True

    def pause(self, pause_s: float) -> None:
        """Run for a while."""
        self.wait(lambda: False, pause_s)

    def result(self, main: Coroutine[Deferred[Any], Any, T]) -> T:
        """Run until a coroutine is done, and return what it returns; an interrupt cancels it first.

        Raises:
            BaseException: what the coroutine raised, or what has interrupted it.
        """
        with self._threads():
            return self._result(main)

    def _result(self, main: Coroutine[Deferred[Any], Any, T]) -> T:
        task, found = Deferred.fromCoroutine(main), list[Any]()
        task.addBoth(found.append)
        try:
            while not found:
                self._turn(_TURN_S)
        except BaseException:
            task.cancel()
            while not found:
                self._turn(_TURN_S)
            raise
        if isinstance(found[0], Failure):
            found[0].raiseException()
        value: T = found[0]
        return value

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Let the reactor's threads work: it starts and ends them itself only where it runs for good."""
        pool = self.reactor.getThreadPool()
        pool.start()
        try:
            yield
        finally:
            pool.stop()
            self.reactor.threadpool = None  # one that was stopped can't be started again

    def _turn(self, most_s: float) -> None:
        """Do what is due and what can be read, waiting a moment for it."""
        if most_s < _TICK_S:
            time.sleep(most_s)
            most_s = 0.0
        due_s = self.reactor.timeout()
        self.reactor.iterate(min(most_s, _TURN_S, _TURN_S if due_s is None else due_s))
