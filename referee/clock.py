"""Clocks: the time of day, and what is needed of Twisted's reactor as types, for its interfaces show checkers none."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol


def wall_clock() -> str:
    """Return the time of day in UTC, ISO 8601; for people, nothing is derived from it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Timer(Protocol):
    """A call that is due later; Twisted's IDelayedCall."""

    def active(self) -> bool:
        """Tell whether it is still to come."""

    def cancel(self) -> None:
        """Call it off."""

    def getTime(self) -> float:
        """Return when it is due, on the clock's own scale in seconds."""

    def reset(self, delay_s: float, /) -> None:
        """Make it due so long from now."""


class Clock(Protocol):
    """A clock that calls back; Twisted's IReactorTime."""

    def seconds(self) -> float:
        """Return the clock's own time in seconds."""

    def callLater(self, delay_s: float, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Timer:
        """Call a function after a delay."""


class Port(Protocol):
    """Something that listens; Twisted's IListeningPort."""

    def getHost(self) -> Any:
        """Return the address it listens on."""

    def stopListening(self) -> Any:
        """Listen no more; returns a Deferred or None."""
