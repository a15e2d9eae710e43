"""The diagnostic log: what happens at the edges of a running referee, as lines of JSON for whoever runs it."""

import contextlib
from pathlib import Path
from typing import Any

import structlog

from ..match import commands as c
from ..match import events as e
from .base import MatchStep, Observer


class DiagnosticLog(Observer):
    """A log of JSON lines; it proves nothing, the records do that.

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

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    def note(self, event: str, /, **facts: Any) -> None:
        """Write a line.

        Raises:
            OSError: it can't be written.
        """
        self._log.info(event, **facts)

    def match_stepped(self, step: MatchStep) -> None:
        """Write a line for what is out of the ordinary: the record has all the rest."""
        event, name = step.event, step.setup.match
        if isinstance(event, e.MatchOpened | e.MatchResumed | e.SeatReturned | e.RefereeFailed):
            self.note(str(type(event).__struct_config__.tag), match=name, names=list(step.setup.names))
        for command in step.commands:
            if isinstance(command, c.ExpelSeat):
                foul = command.foul
                self.note("seat-expelled", match=name, seat=foul.seat, cause=str(foul.cause), detail=foul.detail)
            elif isinstance(command, c.ExtendLimit):
                stalled_ms = getattr(event, "stalled_ms", 0.0)
                self.note("verdict-voided", match=name, seat=command.seat, stalled_ms=stalled_ms)
            elif isinstance(command, c.CloseMatch):
                self.note("match-ended", match=name, reason=command.result.reason, void=command.result.void)
