"""Tells observers what happens, each isolated from what it observes and from the others."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Concatenate, ParamSpec, Self

from ..errors import RefereeError
from .base import Observer
from .threads import InThread

P = ParamSpec("P")
Note = Callable[..., None]
"""Takes the name of an event, in the past tense, and plain facts by keyword."""


class Observers:
    """Tells observers what happens, so that none can touch what it observes: one that raises is told nothing more.

    Args:
        observers: in the order in which they are told; they are left in the opposite one.
    """

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)
        self._hearing: dict[str, tuple[Observer, ...]] = {}
        """Method of Observer -> those that do anything when they are told by it; empty after every change of them."""

    def __enter__(self) -> Self:
        self._each(self._observers, lambda observer: observer.__enter__())
        return self

    def __exit__(self, *_exc: object) -> None:
        self._leave(self._observers)

    @contextmanager
    def also(self, *observers: Observer) -> Iterator[Self]:
        """Tell some others, too, within a block.

        Args:
            observers: are entered at its beginning, and left at its end.
        """
        self._change([*self._observers, *observers])
        self._each(observers, lambda observer: observer.__enter__())
        try:
            yield self
        finally:
            self._leave(observers)
            self._change([observer for observer in self._observers if observer not in observers])

    def add(self, make: Callable[[], Observer]) -> None:
        """Tell an observer of a package from now on, in a thread of its own, if it can be made.

        Args:
            make: returns it.
        """
        try:
            observer = InThread(make())
        except BaseException as error:  # noqa: BLE001  # as in _each
            self._note_failure(getattr(make, "__qualname__", repr(make)), error)
            return
        self._change([*self._observers, observer])
        self._each([observer], lambda added: added.__enter__())

    def hear(self, method: Callable[..., object]) -> bool:
        """Tell whether anybody would hear of what is told by this method of Observer."""
        return bool(self._hearers(method))

    def tell(self, method: Callable[Concatenate[Observer, P], object], /, *args: P.args, **facts: P.kwargs) -> None:
        """Tell every observer that has this method of Observer."""
        for observer in self._hearers(method):
            if observer in self._observers:  # else one before it has had it dropped
                try:
                    observer.told(method.__name__, args, facts)
                except BaseException as error:  # noqa: BLE001  # as in _each
                    self._drop(observer, error)

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell every observer what happened at the edges; see Observer.note."""
        self.tell(Observer.note, event, **facts)

    def _hearers(self, method: Callable[..., object]) -> tuple[Observer, ...]:
        hearers = self._hearing.get(method.__name__)
        if hearers is None:
            hearers = tuple(observer for observer in self._observers if observer.hears(method))
            self._hearing[method.__name__] = hearers
        return hearers

    def _change(self, observers: Iterable[Observer]) -> None:
        self._observers = list(observers)
        self._hearing.clear()

    def _each(self, observers: Iterable[Observer], call: Callable[[Observer], object]) -> None:
        for observer in tuple(observers):
            if observer in self._observers:  # else one before it has had it dropped
                try:
                    call(observer)
                except BaseException as error:  # noqa: BLE001  # whatever it is: a signal raises nothing while the loop runs
                    self._drop(observer, error)

    def _leave(self, observers: Iterable[Observer]) -> None:
        self._each(reversed(list(observers)), lambda observer: observer.__exit__(None, None, None))

    def _drop(self, observer: Observer, error: BaseException) -> None:
        if observer not in self._observers:
            return
        self._change([kept for kept in self._observers if kept is not observer])
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
