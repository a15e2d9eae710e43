"""Lets plain code wait on Twisted's reactor: the reactor runs only during a wait, one iteration after the other."""

# Thanks to this, a step of the check reads from top to bottom, without callbacks. A real match, which is a coroutine,
# runs on the same reactor. The price: the reactor stands still between two waits, so its timers do not fire there.

import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

T = TypeVar("T")
_TURN_S = 0.05
"""Longest iteration of the reactor. A condition may become true without any socket event, so it is tested often."""
_TICK_S = 0.001
"""Shortest time that the reactor can wait, in seconds."""


class Loop:
    """The reactor of this process; no other code may run it."""

    def __init__(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

        self.reactor: Any = reactor

    def seconds(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def wait(self, is_over: Callable[[], bool], limit_s: float) -> bool:
        """Run until a condition holds.

        Args:
            is_over: the condition; it is tested after each iteration.
            limit_s: longest wait, in seconds.

        Returns:
            Whether the condition holds.
        """
        give_up = self.seconds() + limit_s
        while not is_over():
            left_s = give_up - self.seconds()
            if left_s <= 0:
                return False
            self._turn(left_s)
        return True

    def pause(self, pause_s: float) -> None:
        """Run for a number of seconds."""
        self.wait(lambda: False, pause_s)

    def result(self, main: Coroutine[Deferred[Any], Any, T]) -> T:
        """Run until a coroutine is done, and return its result; an interrupt cancels it first.

        Raises:
            BaseException: the error of the coroutine, or the interrupt.
        """
        with self._threads():
            return self._run(main)

    def _run(self, main: Coroutine[Deferred[Any], Any, T]) -> T:
        task, results = Deferred.fromCoroutine(main), list[Any]()
        task.addBoth(results.append)
        try:
            while not results:
                self._turn(_TURN_S)
        except BaseException:
            task.cancel()
            while not results:
                self._turn(_TURN_S)
            raise
        if isinstance(results[0], Failure):
            results[0].raiseException()
        value: T = results[0]
        return value

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Start the reactor's threads, and stop them at the end. `reactor.run` would do so; `iterate` does not."""
        pool = self.reactor.getThreadPool()
        pool.start()
        try:
            yield
        finally:
            pool.stop()
            self.reactor.threadpool = None  # a stopped pool can't be started again

    def _turn(self, most_s: float) -> None:
        """Run one iteration of the reactor: due calls, and sockets that become readable within `most_s` seconds."""
        if most_s < _TICK_S:
            time.sleep(most_s)
            most_s = 0.0
        due_s = self.reactor.timeout()
        self.reactor.iterate(min(most_s, _TURN_S, _TURN_S if due_s is None else due_s))
