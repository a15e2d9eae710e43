"""Clocks: the time of day, and types for the parts of Twisted's reactor that are used here; Twisted itself has none."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol


def wall_clock() -> str:
    """Return the time of day in UTC, ISO 8601, for people to read; no decision depends on it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Timer(Protocol):
    """A call that is due later; Twisted's IDelayedCall."""

    def active(self) -> bool:
        """Return whether the call is still due."""

    def cancel(self) -> None:
        """Cancel the call."""

    def getTime(self) -> float:
        """Return the instant at which the call is due, in seconds of the clock."""

    def reset(self, delay_s: float, /) -> None:
        """Postpone the call to `delay_s` seconds from now."""


class Clock(Protocol):
    """A clock that calls back; Twisted's IReactorTime."""

    def seconds(self) -> float:
        """Return the clock's own time in seconds."""

    def callLater(self, delay_s: float, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Timer:
        """Call a function after a delay."""


class Port(Protocol):
    """A listening port; Twisted's IListeningPort."""

    def getHost(self) -> Any:
        """Return the address that it listens on."""

    def stopListening(self) -> Any:
        """Stop listening; return a Deferred or None."""
