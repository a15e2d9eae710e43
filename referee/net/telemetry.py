"""What a running referee tells of itself, apart from its records: notes for a log, numbers for a monitor.

Knows events' names and what is measured. Refuses to influence anything: who notes something gets no answer.
"""

import contextlib
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ..match import commands as c
from ..match import events as e
from ..match.machine import Match

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

T = TypeVar("T")
Note = Callable[..., None]
"""Takes the name of an event, in the past tense, and plain facts by keyword."""


class Telemetry(Protocol):
    """Where a referee's notes go."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Take note of something that happened at the edges: connections, programs, stalls."""

    def step(self, event: e.Event, commands: tuple[c.Command, ...], match: Match) -> None:
        """Take note of a step of a match."""


class Silence:
    """Takes note of nothing."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Do nothing."""

    def step(self, event: e.Event, commands: tuple[c.Command, ...], match: Match) -> None:
        """Do nothing."""


class Isolated(Generic[T]):
    """Calls observers, so that none can touch what it observes: one that raises is noted and called no more.

    Observers that are context managers are entered and left with this one; one that is dropped is left at once.

    Args:
        observers: in the order in which they are called.
        note: takes note of a failure as `observer-failed`: observer, error, traceback.
    """

    def __init__(self, observers: Iterable[T], note: Note) -> None:
        self._observers = list(observers)
        self._note = note

    def __enter__(self) -> Self:
        self.tell(_enter)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.tell(_leave)

    def tell(self, call: Callable[[T], object]) -> None:
        """Call every observer.

        Args:
            call: what is done with each.
        """
        for observer in tuple(self._observers):
            if observer in self._observers:  # else one before it has had it dropped
                try:
                    call(observer)
                except Exception as error:  # noqa: BLE001  # whatever it is, it is the observer's own
                    self._drop(observer, error)

    def _drop(self, observer: T, error: Exception) -> None:
        if observer not in self._observers:
            return
        self._observers.remove(observer)
        with contextlib.suppress(Exception):
            _leave(observer)
        self._note(
            "observer-failed",
            observer=type(observer).__name__,
            error=f"{type(error).__name__}: {error}",
            traceback="".join(traceback.format_exception(error)),
        )


def _enter(observer: object) -> None:
    if isinstance(observer, AbstractContextManager):
        observer.__enter__()


def _leave(observer: object) -> None:
    if isinstance(observer, AbstractContextManager):
        observer.__exit__(None, None, None)


class Several(Isolated[Telemetry]):
    """Hands every note on to several, each isolated from the match and from the others, which note its failure.

    Args:
        sinks: in order.
    """

    def __init__(self, *sinks: Telemetry) -> None:
        super().__init__(sinks, self.note)

    def note(self, event: str, /, **facts: Any) -> None:
        """Hand it on."""
        self.tell(lambda sink: sink.note(event, **facts))

    def step(self, event: e.Event, commands: tuple[c.Command, ...], match: Match) -> None:
        """Hand it on."""
        self.tell(lambda sink: sink.step(event, commands, match))


class DiagnosticLog:
    """A log of JSON lines for whoever runs the referee; it proves nothing, the records do that.

    Args:
        path: the file; lines are added to it.

    Raises:
        OSError: it can't be opened.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._log = structlog.wrap_logger(
            structlog.WriteLogger(self._file),
            processors=[structlog.processors.TimeStamper(fmt="iso", utc=True), structlog.processors.JSONRenderer()],
            wrapper_class=structlog.BoundLogger,
            context_class=dict,
            cache_logger_on_first_use=False,
        )

    def note(self, event: str, /, **facts: Any) -> None:
        """Write a line.

        Raises:
            OSError: it can't be written.
        """
        self._log.info(event, **facts)

    def step(self, event: e.Event, commands: tuple[c.Command, ...], match: Match) -> None:
        """Write a line for what is out of the ordinary: the record has all the rest."""
        name = match.setup.match
        if isinstance(event, e.MatchOpened | e.MatchResumed | e.SeatReturned | e.RefereeFailed):
            self.note(_tag(event), match=name, names=list(match.setup.names))
        for command in commands:
            if isinstance(command, c.ExpelSeat):
                foul = command.foul
                self.note("seat-expelled", match=name, seat=foul.seat, cause=str(foul.cause), detail=foul.detail)
            elif isinstance(command, c.ExtendLimit):
                stalled_ms = getattr(event, "stalled_ms", 0.0)
                self.note("verdict-voided", match=name, seat=command.seat, stalled_ms=stalled_ms)
            elif isinstance(command, c.CloseMatch):
                self.note("match-ended", match=name, reason=command.result.reason, void=command.result.void)

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()


class Metrics:
    """The numbers of a running referee, for Prometheus.

    Args:
        registry: where they are kept; each referee has its own.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._connections = Counter("referee_connections", "Connections by event", ["event"], registry=registry)
        self._running = Gauge("referee_matches_running", "Matches that are being played", registry=registry)
        self._matches = Counter("referee_matches", "Matches that are over", ["game", "end"], registry=registry)
        self._fouls = Counter("referee_fouls", "Expulsions", ["game", "cause"], registry=registry)
        self._voided = Counter("referee_verdicts_voided", "Deadlines not judged for a stall", registry=registry)
        self._answers = Histogram(
            "referee_answer_seconds", "Time charged for an answer", ["game"], buckets=_SECONDS, registry=registry
        )
        self._lag = Histogram(
            "referee_lag_seconds", "Time of an answer that was the referee's", buckets=_SECONDS, registry=registry
        )
        self._stalls = Histogram(
            "referee_stall_seconds", "Standstills of the loop", buckets=_SECONDS, registry=registry
        )

    def note(self, event: str, /, **facts: Any) -> None:
        """Count a connection's event, or a stall."""
        if event.startswith("connection-"):
            self._connections.labels(event.removeprefix("connection-")).inc()
        elif event == "loop-stalled":
            self._stalls.observe(facts["stalled_s"])
        elif event == "match-paused":
            self._running.dec()

    def step(self, event: e.Event, commands: tuple[c.Command, ...], match: Match) -> None:
        """Count what a step means."""
        game = match.game.name
        if isinstance(event, e.MatchOpened | e.MatchResumed):
            self._running.inc()
        elif isinstance(event, e.Answer):
            self._answers.labels(game).observe(max(e.used_ms(event), 0.0) / 1000)
            self._lag.observe(event.lag_ms / 1000)
        for command in commands:
            if isinstance(command, c.ExpelSeat):
                self._fouls.labels(game, str(command.foul.cause)).inc()
            elif isinstance(command, c.ExtendLimit):
                self._voided.inc()
            elif isinstance(command, c.CloseMatch):
                self._running.dec()
                self._matches.labels(game, "void" if command.result.void else "played").inc()


def _tag(event: e.Event) -> str:
    return str(type(event).__struct_config__.tag)
