"""Runs an observer in a thread of its own, so that however long it takes, the referee's loop does not wait for it."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Self

from ..tournament.machine import Tournament
from .base import Observer

MOST_WAITING = 10_000
"""Calls that may wait for an observer: some minutes of a busy tournament."""
GATHER_S = 0.02
"""How long calls may follow the first one: to wake a thread for each call costs the loop more than the call."""
LINGER_S = 5.0
"""How long an observer may take at the end for what it still has to hear."""
_Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class ObserverTooSlow(Exception):  # a plain word for what happened
    """An observer that has not kept up with what happens."""


class InThread(Observer):
    """Tells an observer everything in a thread of its own, in order.

    What it fails with is raised when it is to be told the next thing, or at the end.

    Args:
        observer: entered, told and left in that thread. A tournament is handed to it as a copy.
        most_waiting: so many calls may wait for it; more is a failure.
        linger_s: how long the end waits for it, in seconds.
    """

    def __init__(self, observer: Observer, *, most_waiting: int = MOST_WAITING, linger_s: float = LINGER_S) -> None:
        self._observer = observer
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()  # to put something into a Queue costs ten times as much
        self._most_waiting = most_waiting
        self._linger_s = linger_s
        self._error: BaseException | None = None
        self._is_leaving = Event()
        self._thread = Thread(target=self._work, name=f"observer {observer.label}", daemon=True)

    @property
    def label(self) -> str:
        """The observer's own."""
        return self._observer.label

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_exc: object) -> None:
        if kind is not None:
            self._abandon()
            return
        if self._error is None:
            self._leave()
        self._thread.join(self._linger_s)
        if self._thread.is_alive():
            self._abandon()
            raise ObserverTooSlow(f"it was not through {self._linger_s} s after the end")
        if self._error is not None:
            raise self._error

    def hears(self, method: Callable[..., object]) -> bool:
        """Tell whether the observer does anything when it is told something."""
        return self._observer.hears(method)

    def told(self, method: str, args: tuple[Any, ...], facts: dict[str, Any]) -> None:
        """Let the observer be told, if it wants to hear of that.

        Raises:
            ObserverTooSlow: too many calls wait for it.
            BaseException: what it failed with.
        """
        if self._error is not None:
            raise self._error
        if self._observer.hears(getattr(Observer, method)):
            own = tuple(copy.deepcopy(value) if isinstance(value, Tournament) else value for value in args)
            if self._most_waiting <= self._calls.qsize():
                raise ObserverTooSlow(f"{self._most_waiting} calls wait for it")
            self._calls.put((method, own, facts))

    def _abandon(self) -> None:
        """Let it end after what it is at, and wait for nothing."""
        with contextlib.suppress(Empty):
            while True:
                self._calls.get_nowait()
        self._leave()

    def _leave(self) -> None:
        self._calls.put(None)
        self._is_leaving.set()

    def _work(self) -> None:
        try:
            with self._observer as observer:
                while (call := self._calls.get()) is not None:
                    self._is_leaving.wait(GATHER_S)
                    for each in self._waiting_calls(call):
                        observer.told(*each)
        except BaseException as error:  # noqa: BLE001  # told when it is told something next
            self._error = error

    def _waiting_calls(self, first: _Call) -> Iterator[_Call]:
        """Yield a call and those that wait behind it."""
        yield first
        with contextlib.suppress(Empty):
            while (call := self._calls.get_nowait()) is not None:
                yield call
            self._calls.put(None)  # nothing follows
