"""Writes a record, line by line, through structlog. Knows the file and the chain; refuses to know what a line means.

The logger is built complete, so that no global configuration of structlog can silence it. Every line is flushed
before the caller goes on; the last one is synced to the disk.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from ..match.commands import Command, Result
from ..match.events import Event
from ..match.setup import MatchSetup
from .schema import FIRST_PREV, FORMAT, encode_line, line_hash, without_view


class _LineLogger(structlog.BoundLoggerBase):
    """structlog's wrapper with the one method that a record needs."""

    def line(self, **fields: Any) -> None:
        """Render and write one line."""
        self._proxy_to_logger("msg", **fields)


class RecordWriter:
    """The record of one running match.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.

    Raises:
        FileExistsError: there is a record of that name.
        OSError: the file can't be made.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.head = FIRST_PREV
        """SHA-256 of the last line written."""
        self._count = 0
        self._file = path.open("xb")
        self._log = structlog.wrap_logger(
            structlog.BytesLogger(self._file),
            processors=[self._chained],
            wrapper_class=_LineLogger,
            context_class=dict,
            cache_logger_on_first_use=False,
        ).bind()

    def write_header(self, setup: MatchSetup, *, seed: str | None, referee: str, opened: str) -> None:
        """Write the first line.

        Args:
            setup: what was settled beforehand.
            seed: the seed in hex if it was fixed beforehand, else None.
            referee: version of this program.
            opened: wall-clock time, ISO 8601 in UTC.
        """
        self._write("header", format=FORMAT, referee=referee, opened=opened, setup=setup, seed=seed)

    def write_step(self, event: Event, commands: tuple[Command, ...]) -> None:
        """Write an event and the commands it gave."""
        self._write("step", event=event, commands=[without_view(command) for command in commands])

    def write_result(self, result: Result, *, seed: str, nonces: list[str | None]) -> None:
        """Write the last line, and sync the file to the disk."""
        self._write("result", result=result, seed=seed, nonces=nonces, signature=None)
        os.fsync(self._file.fileno())
        self._file.close()

    def close(self) -> None:
        """Leave the record as it is, unfinished."""
        self._file.close()

    def _write(self, kind: str, **fields: Any) -> None:
        self._log.line(kind=kind, **fields)

    def _chained(self, _logger: Any, _name: str, fields: MutableMapping[str, Any]) -> bytes:
        """Number a line, chain it to the one before, and render it."""
        line = encode_line({"n": self._count, "prev": self.head, **fields})
        self._count += 1
        self.head = line_hash(line)
        return line
