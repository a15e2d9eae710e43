"""Notifies observers so that the failure of one affects neither the matches nor the other observers."""

import copy
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Concatenate, ParamSpec, Self

from ..errors import RefereeError
from .base import MatchTransition, Observer, is_unusual, unusual_events

# Three things could go wrong with an observer:
#
# - It raises an exception. After any exception, even SystemExit, the observer is dropped, the failure is noted, and the
#   other observers go on. It is not called again: it may be in any state, and would probably fail at every move.
# - It is slow now and then. An observer from an installed package runs in its own thread (InThread), so the event loop
#   never waits for it. The referee's own observers run in the thread of the loop and must return at once: to wake
#   another thread for every move would cost more than they do.
# - It is always too slow. Its calls wait in a queue, which must not fill the memory: if more than MOST_WAITING calls
#   wait, the observer counts as failed. Dropping single calls would be worse: the observer would show wrong numbers.
#
# Hardly any observer listens to every method, and there are many moves a second. So the listeners of a method are
# looked up once, not at every call.

P = ParamSpec("P")
Note = Callable[..., None]
"""Function that takes the name of an event, in the past tense, and plain facts by keyword."""
Listener = Callable[..., object]


class Observers:
    """All observers of one referee.

    Args:
        observers: observers in the order in which they are entered and notified. They are exited in the reverse order.
    """

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)
        self._listeners: dict[Listener, tuple[tuple[Observer, Listener], ...]] = {}
        """Cache: method of Observer -> the observers that listen to it. It is emptied when the observers change."""

    def __enter__(self) -> Self:
        self._each(self._observers, lambda observer: observer.__enter__())
        return self

    def __exit__(self, *_exc: object) -> None:
        self._leave(self._observers)

    @contextmanager
    def also(self, *observers: Observer) -> Iterator[Self]:
        """Notify more observers within a `with` block.

        Args:
            observers: observers that are entered at the beginning of the block, and exited at its end.
        """
        self._change([*self._observers, *observers])
        self._each(observers, lambda observer: observer.__enter__())
        try:
            yield self
        finally:
            self._leave(observers)
            self._change([observer for observer in self._observers if observer not in observers])

    def add(self, make: Callable[[], Observer]) -> None:
        """Create an observer from an installed package, and notify it from now on, in a thread of its own.

        If it can't be created, the failure is noted.

        Args:
            make: function that returns the observer.
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
            if observer in self._observers:  # False if it was dropped during this loop
                try:
                    listen(*args, **facts)
                except BaseException as error:  # noqa: BLE001  # as in _each
                    self._drop(observer, error)

    def note(self, event: str, /, **facts: Any) -> None:
        """Notify every observer of a technical event; see Observer.note."""
        self.notify(Observer.note, event, **facts)

    def notify_transition(self, transition: MatchTransition) -> None:
        """Notify observers of a transition of a match, and of the unusual events in it."""
        self.notify(Observer.on_match_advanced, transition)
        if is_unusual(transition.event, transition.commands):
            self.note_unusual(transition)

    def note_unusual(self, transition: MatchTransition) -> None:
        """Notify observers of the unusual events in a transition; see Observer.note."""
        for event, facts in unusual_events(transition.event, transition.commands, transition.setup):
            self.note(event, **facts)

    def _find_listeners(self, method: Listener) -> tuple[tuple[Observer, Listener], ...]:
        """Return the observers that listen to a method, each with the function to call."""
        if method not in self._listeners:
            listeners = ((observer, observer.find_listener(method)) for observer in self._observers)
            self._listeners[method] = tuple([(observer, listen) for observer, listen in listeners if listen])
        return self._listeners[method]

    def _change(self, observers: Iterable[Observer]) -> None:
        self._observers = list(observers)
        self._listeners.clear()

    def _each(self, observers: Iterable[Observer], call: Callable[[Observer], object]) -> None:
        for observer in tuple(observers):
            if observer in self._observers:  # False if it was dropped during this loop
                try:
                    call(observer)
                except BaseException as error:  # noqa: BLE001  # safe: signals don't raise here while the loop runs
                    self._drop(observer, error)

    def _leave(self, observers: Iterable[Observer]) -> None:
        self._each(reversed(list(observers)), lambda observer: observer.__exit__(None, None, None))

    def _drop(self, observer: Observer, error: BaseException) -> None:
        """Exit a failed observer, and note the failure. This note can make another observer fail and be dropped."""
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
"""Number of calls that may wait for an observer: some minutes of a busy tournament."""
GATHER_S = 0.02
"""Seconds that a thread waits after the first call, to handle several at once: waking it costs more than a call."""
LINGER_S = 5.0
"""Seconds that an observer gets at the end to handle the calls that are still waiting."""
_Call = tuple[Listener, tuple[Any, ...], dict[str, Any]]


class ObserverTooSlow(Exception):  # a plain word for what happened
    """An observer handles its calls more slowly than new ones come."""


class InThread(Observer):
    """Makes every call of an observer in a thread of its own, in order.

    If the observer raises an exception, the next call raises it again; if no call follows, `__exit__` raises it.

    Args:
        observer: the observer. It is entered, notified and exited in that thread, and gets copies of tournaments.
        most_waiting: number of calls that may wait for it. It fails if there are more.
        linger_s: longest wait for it at the end, in seconds.
    """

    def __init__(self, observer: Observer, *, most_waiting: int = MOST_WAITING, linger_s: float = LINGER_S) -> None:
        self._observer = observer
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()  # ten times faster than Queue
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
            raise ObserverTooSlow(f"it was still handling calls {self._linger_s} s after the end")
        if self._error is not None:
            raise self._error

    def find_listener(self, method: Callable[..., object]) -> Listener | None:
        """Return a function that puts a call into the queue; None if the observer does not listen to the method."""
        listen = self._observer.find_listener(method)
        return None if listen is None else partial(self._enqueue, listen)

    def _enqueue(self, listen: Listener, /, *args: Any, **facts: Any) -> None:
        """Put a call into the thread's queue.

        Raises:
            ObserverTooSlow: too many calls wait.
            BaseException: the exception of an earlier call.
        """
        from ..tournament.machine import Tournament  # noqa: PLC0415  # a match alone starts without it

        if self._error is not None:
            raise self._error
        # The event loop goes on changing a tournament, but the thread must see its present state.
        copies = tuple([copy.deepcopy(value) if isinstance(value, Tournament) else value for value in args])
        if self._most_waiting <= self._calls.qsize():
            raise ObserverTooSlow(f"{self._most_waiting} calls wait for it")
        self._calls.put((listen, copies, facts))

    def _abandon(self) -> None:
        """Drop all waiting calls, so that the thread ends after the call that it is making."""
        with suppress(Empty):
            while True:
                self._calls.get_nowait()
        self._end_calls()

    def _end_calls(self) -> None:
        self._calls.put(None)
        self._is_leaving.set()

    def _work(self) -> None:
        """Make the calls from the queue until the end; runs in the thread."""
        try:
            with self._observer:
                while (call := self._calls.get()) is not None:
                    self._is_leaving.wait(GATHER_S)
                    for listen, args, facts in self._take_waiting(call):
                        listen(*args, **facts)
        except BaseException as error:  # noqa: BLE001  # raised by the next call
            self._error = error

    def _take_waiting(self, first: _Call) -> Iterator[_Call]:
        """Yield a call and all calls that wait behind it."""
        yield first
        with suppress(Empty):
            while (call := self._calls.get_nowait()) is not None:
                yield call
            self._calls.put(None)  # put the end mark back for the loop in _work
