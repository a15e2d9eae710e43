"""The diagnostic log: connections, stalls, failures and the like, as lines of JSON for the referee's administrator."""

import contextlib
from pathlib import Path
from typing import Any

import msgspec
import structlog

from ..text import printable_json
from .base import Observer


def _write_line(line: Any, **_: Any) -> str:
    """Return a line of JSON without control characters that a terminal would obey; called by structlog."""
    return printable_json(msgspec.json.encode(line, enc_hook=repr).decode())


class DiagnosticLog(Observer):
    """A log of JSON lines. Unlike the records, it is unsigned and proves nothing.

    Args:
        path: the file; new lines are appended.

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._log = structlog.wrap_logger(
            structlog.WriteLogger(self._file),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(_write_line),
            ],
            wrapper_class=structlog.BoundLogger,
            context_class=dict,
        ).bind()  # bound once, because an unbound logger creates a bound one for each line

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    def note(self, event: str, /, **facts: Any) -> None:
        """Write a line.

        Raises:
            OSError: the line can't be written.
        """
        self._log.info(event, **facts)
