"""A loop without threads that is run only while something is waited for: timers, and descriptors that can be read.

Knows time and `select`. It is what launched programs need of a reactor. Refuses to know what is read.
"""

import select
import time
from collections.abc import Callable
from typing import Any

_STEP_S = 0.05
"""Longest sleep: what is waited for may be no descriptor's affair."""


class _Timer:
    """A call that is due later."""

    def __init__(self, loop: "Loop", due_s: float, call: Callable[[], Any]) -> None:
        self._loop = loop
        self.due_s = due_s
        self.call = call

    def active(self) -> bool:
        """Tell whether it is still to come."""
        return self in self._loop.timers

    def cancel(self) -> None:
        """Call it off."""
        self._loop.timers.remove(self)

    def getTime(self) -> float:
        """Return when it is due, in monotonic seconds."""
        return self.due_s

    def reset(self, delay_s: float, /) -> None:
        """Make it due so long from now."""
        self.due_s = self._loop.seconds() + delay_s


class Loop:
    """Timers and readers."""

    def __init__(self) -> None:
        self.timers: list[_Timer] = []
        self._readers: list[Any] = []

    def seconds(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def callLater(self, delay_s: float, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> _Timer:
        """Call a function after a delay, as far as the loop is run then."""
        timer = _Timer(self, self.seconds() + delay_s, lambda: function(*args, **kwargs))
        self.timers.append(timer)
        return timer

    def addReader(self, reader: Any) -> None:
        """Call the reader's doRead whenever there is something to read."""
        self._readers.append(reader)

    def removeReader(self, reader: Any) -> None:
        """Call it no more."""
        if reader in self._readers:
            self._readers.remove(reader)

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
            self._look(min(left_s, _STEP_S))
        return True

    def pause(self, pause_s: float) -> None:
        """Run for a while."""
        self.wait(lambda: False, pause_s)

    def _look(self, wait_s: float) -> None:
        """Do once what is due, and read once what is there, waiting a moment for it."""
        due_s = min((timer.due_s for timer in self.timers), default=self.seconds() + wait_s)
        wait_s = min(max(due_s - self.seconds(), 0.0), wait_s)
        for reader in select.select(self._readers, [], [], wait_s)[0]:
            lost = reader.doRead()
            if lost is not None:
                self.removeReader(reader)
                reader.connectionLost(lost)
        now_s = self.seconds()
        for timer in [timer for timer in self.timers if timer.due_s <= now_s]:
            if timer in self.timers:  # one before it may have called it off
                self.timers.remove(timer)
                timer.call()
