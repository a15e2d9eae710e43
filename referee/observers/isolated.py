"""Notifies observers, each isolated from what it observes and from the others."""

import copy
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Concatenate, ParamSpec, Self

from ..errors import RefereeError
from ..tournament.machine import Tournament
from .base import MatchTransition, Observer, is_unusual, unusual_events

# Three things could go wrong with an observer:
#
# - It raises. Whatever that is, even SystemExit, the observer is dropped, the failure is noted, and the others go on.
#   It is not called again: after an exception it may be in any state, and would probably fail at every move.
# - It takes its time. An observer of a package runs in a thread of its own (InThread), so the loop never waits for it.
#   Those of the referee itself are called in the loop's thread, because waking a thread for every move would cost more
#   than what they do. They must return at once.
# - It is too slow for good. Calls wait in a queue, which must not fill the memory: beyond MOST_WAITING the observer has
#   failed. To drop single calls instead would be worse, for it would count or show something that never was.
#
# Hardly any observer listens to everything, and a move happens many times a second. So the listeners of a method are
# looked up once, not at every call.

P = ParamSpec("P")
Note = Callable[..., None]
"""Function that takes the name of an event, in the past tense, and plain facts by keyword."""
Listener = Callable[..., object]


class Observers:
    """All observers of one referee.

    Args:
        observers: observers in the order in which they are notified; they are left in the opposite order.
    """

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)
        self._listeners: dict[Listener, tuple[tuple[Observer, Listener], ...]] = {}
        """Method of Observer -> the observers that listen to it; a cache, emptied when the observers change."""

    def __enter__(self) -> Self:
        self._each(self._observers, lambda observer: observer.__enter__())
        return self

    def __exit__(self, *_exc: object) -> None:
        self._leave(self._observers)

    @contextmanager
    def also(self, *observers: Observer) -> Iterator[Self]:
        """Notify some more observers within a block.

        Args:
            observers: are entered at the beginning of the block, and left at its end.
        """
        self._change([*self._observers, *observers])
        self._each(observers, lambda observer: observer.__enter__())
        try:
            yield self
        finally:
            self._leave(observers)
            self._change([observer for observer in self._observers if observer not in observers])

    def add(self, make: Callable[[], Observer]) -> None:
        """Notify an observer of a package from now on, in a thread of its own, if it can be made.

        Args:
            make: returns the observer.
        """
        try:
            observer = InThread(make())
        except BaseException as error:  # noqa: BLE001  # as in _each
            self._note_failure(getattr(make, "__qualname__", repr(make)), error)
            return
        self._change([*self._observers, observer])
        self._each([observer], lambda added: added.__enter__())

    def has_listener(self, method: Callable[..., object]) -> bool:
        """Return whether any observer listens to this method of Observer."""
        return bool(self._find_listeners(method))

    def notify(self, method: Callable[Concatenate[Observer, P], object], /, *args: P.args, **facts: P.kwargs) -> None:
        """Call this method of every observer that listens to it.

        Args:
            method: method of Observer.
            args: arguments of the method.
            facts: keyword arguments of the method.
        """
        listeners = self._listeners.get(method)
        for observer, listen in self._find_listeners(method) if listeners is None else listeners:
            if observer in self._observers:  # else the failure of an earlier one has had it dropped
                try:
                    listen(*args, **facts)
                except BaseException as error:  # noqa: BLE001  # as in _each
                    self._drop(observer, error)

    def note(self, event: str, /, **facts: Any) -> None:
        """Notify every observer of what happened at the edges; see Observer.note."""
        self.notify(Observer.note, event, **facts)

    def notify_transition(self, transition: MatchTransition) -> None:
        """Notify observers of a transition of a match, and note what is unusual in it."""
        self.notify(Observer.on_match_advanced, transition)
        if is_unusual(transition.event, transition.commands):
            self.note_unusual(transition)

    def note_unusual(self, transition: MatchTransition) -> None:
        """Note what is unusual in a transition, see Observer.note; the record has all the rest."""
        for event, facts in unusual_events(transition.event, transition.commands, transition.setup):
            self.note(event, **facts)

    def _find_listeners(self, method: Listener) -> tuple[tuple[Observer, Listener], ...]:
        """Return the observers that listen to a method, each with what is to be called."""
        if method not in self._listeners:
            listeners = ((observer, observer.find_listener(method)) for observer in self._observers)
            self._listeners[method] = tuple([(observer, listen) for observer, listen in listeners if listen])
        return self._listeners[method]

    def _change(self, observers: Iterable[Observer]) -> None:
        self._observers = list(observers)
        self._listeners.clear()

    def _each(self, observers: Iterable[Observer], call: Callable[[Observer], object]) -> None:
        for observer in tuple(observers):
            if observer in self._observers:  # else the failure of an earlier one has had it dropped
                try:
                    call(observer)
                except BaseException as error:  # noqa: BLE001  # of whatever kind: no signal raises in a running loop
                    self._drop(observer, error)

    def _leave(self, observers: Iterable[Observer]) -> None:
        self._each(reversed(list(observers)), lambda observer: observer.__exit__(None, None, None))

    def _drop(self, observer: Observer, error: BaseException) -> None:
        """Leave an observer that failed, and note why; that note may drop another one."""
        if observer not in self._observers:
            return
        self._change([other for other in self._observers if other is not observer])
        with suppress(BaseException):
            observer.__exit__(type(error), error, error.__traceback__)
        self._note_failure(observer.label, error)

    def _note_failure(self, label: str, error: BaseException) -> None:
        self.note(
            "observer-failed",
            observer=label,
            error=str(error) if isinstance(error, RefereeError) else f"{type(error).__name__}: {error}",
            traceback="".join(traceback.format_exception(error)),
        )


MOST_WAITING = 10_000
"""Calls that may wait for an observer: some minutes of a busy tournament."""
GATHER_S = 0.02
"""Seconds that a thread lets calls gather behind the first one: waking it costs the loop more than the call."""
LINGER_S = 5.0
"""Seconds that an observer may take at the end for the calls that still wait."""
_Call = tuple[Listener, tuple[Any, ...], dict[str, Any]]


class ObserverTooSlow(Exception):  # a plain word for what happened
    """An observer that has not kept up with what happens."""


class InThread(Observer):
    """Makes every call of an observer in a thread of its own, in order.

    If the observer raises, the next call raises that again, or else leaving does.

    Args:
        observer: entered, notified and left in that thread. A tournament is passed to it as a copy.
        most_waiting: number of calls that may wait for it; one more is a failure.
        linger_s: longest wait for it at the end, in seconds.
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
        """The observer's own label."""
        return self._observer.label

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_exc: object) -> None:
        if kind is not None:
            self._abandon()
            return
        if self._error is None:
            self._end_calls()
        self._thread.join(self._linger_s)
        if self._thread.is_alive():
            self._abandon()
            raise ObserverTooSlow(f"it was not through {self._linger_s} s after the end")
        if self._error is not None:
            raise self._error

    def find_listener(self, method: Callable[..., object]) -> Listener | None:
        """Return what puts a call into the queue; None if the observer itself does not listen to the method."""
        listen = self._observer.find_listener(method)
        return None if listen is None else partial(self._enqueue, listen)

    def _enqueue(self, listen: Listener, /, *args: Any, **facts: Any) -> None:
        """Have the thread make a call.

        Raises:
            ObserverTooSlow: too many calls wait.
            BaseException: what the observer raised before.
        """
        if self._error is not None:
            raise self._error
        # The loop goes on changing a tournament; the thread has to see it as it was at this moment.
        copies = tuple([copy.deepcopy(value) if isinstance(value, Tournament) else value for value in args])
        if self._most_waiting <= self._calls.qsize():
            raise ObserverTooSlow(f"{self._most_waiting} calls wait for it")
        self._calls.put((listen, copies, facts))

    def _abandon(self) -> None:
        """Drop all calls that wait, so that the thread ends after the present one."""
        with suppress(Empty):
            while True:
                self._calls.get_nowait()
        self._end_calls()

    def _end_calls(self) -> None:
        self._calls.put(None)
        self._is_leaving.set()

    def _work(self) -> None:
        """Make all calls; runs in the thread."""
        try:
            with self._observer:
                while (call := self._calls.get()) is not None:
                    self._is_leaving.wait(GATHER_S)
                    for listen, args, facts in self._take_waiting(call):
                        listen(*args, **facts)
        except BaseException as error:  # noqa: BLE001  # raised by the next call
            self._error = error

    def _take_waiting(self, first: _Call) -> Iterator[_Call]:
        """Yield a call and those that wait behind it."""
        yield first
        with suppress(Empty):
            while (call := self._calls.get_nowait()) is not None:
                yield call
            self._calls.put(None)  # the end, for the outer loop
