"""Writes a record, line by line, through structlog.

The logger is built complete, so that no global configuration of structlog can silence it. Every line is flushed
before the caller goes on; the last ones are synced to the disk.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

from ..errors import RefereeError
from ..match.commands import Command, Result
from ..match.events import Event
from ..match.setup import MatchSetup
from ..tournament.match_context import MatchContext
from .reader import Chain
from .redaction import hide
from .schema import FIRST_PREV, FORMAT, encode_line, plain_command
from .seal import RECORD_PURPOSE, Sealer


class _LineLogger(structlog.BoundLoggerBase):
    """structlog's wrapper with the one method that a record needs."""

    def line(self, **fields: Any) -> None:
        """Render and write one line."""
        self._proxy_to_logger("msg", **fields)


class NotWritten(RefereeError, OSError):
    """A line of a record that can't be written: nothing that stands in it may happen."""

    def __str__(self) -> str:
        return f"the record {self.filename} can't be written: {self.strerror}; the match was not finished"


class RecordWriter:
    """The record of one running match.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals the record.
        after: what there is of the record if its referee died; a torn line behind it is cut off.

    Raises:
        FileExistsError: there is a record of that name.
        BlockingIOError: another referee is writing it.
        OSError: the file can't be made or written.
    """

    def __init__(self, path: Path, sealer: Sealer, after: Chain | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.head = FIRST_PREV if after is None else after.head
        """Hash of the last line written."""
        self.result_head = self.head
        """Hash of the result line, once it is written."""
        self._sealer = sealer
        self._count = 0 if after is None else len(after.lines)
        self._file = path.open("xb" if after is None else "r+b")
        self._lock(after)
        if after is not None:
            self._file.truncate(after.size_bytes)
            self._file.seek(after.size_bytes)
        self._log = structlog.wrap_logger(
            structlog.BytesLogger(self._file),
            processors=[self._chained],
            wrapper_class=_LineLogger,
            context_class=dict,
            cache_logger_on_first_use=False,
        ).bind()

    def _lock(self, after: Chain | None) -> None:
        """Keep other referees from the record, until this one closes it or dies."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if after is not None and os.fstat(self._file.fileno()).st_size != after.size_bytes + len(after.rest):
                raise BlockingIOError  # it went on after it had been read
        except BlockingIOError:
            self._file.close()
            raise BlockingIOError(errno.EWOULDBLOCK, "another referee writes this record", str(self.path)) from None

    def write_header(
        self,
        setup: MatchSetup,
        seed: bytes,
        *,
        is_fixed: bool,
        referee: str,
        opened: str,
        programs: list[str] | None = None,
        folder: str | None = None,
        context: MatchContext | None = None,
    ) -> None:
        """Write the first line.

        Args:
            setup: what was settled beforehand.
            seed: the match's seed; it is written so that this key alone can read it.
            is_fixed: whether the seed is no secret: it is written openly, too.
            referee: version of this program.
            opened: wall-clock time, ISO 8601 in UTC.
            programs: how the players' programs were given, by seat, if the referee started them.
            folder: the one in which they were.
            context: what the match was opened for, if it is one of a tournament.
        """
        self._write(
            "header",
            format=FORMAT,
            referee=referee,
            opened=opened,
            key=self._sealer.public,
            setup=msgspec.to_builtins(setup),
            locked_seed=self._sealer.lock(seed, setup.commitment),
            seed=seed.hex() if is_fixed else None,
            programs=programs,
            **({} if folder is None else {"folder": folder}),
            **({} if context is None else {"context": msgspec.to_builtins(context)}),
        )

    def write_step(self, event: Event, commands: tuple[Command, ...]) -> None:
        """Write an event and the commands it gave.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        self._write("step", event=msgspec.to_builtins(event), commands=[plain_command(command) for command in commands])

    def write_result(self, result: Result, *, seed: str, nonces: list[str | None]) -> None:
        """Write the result and the seal, and sync the file to the disk."""
        self._write("result", result=msgspec.to_builtins(result), seed=seed, nonces=nonces)
        self.write_seal()

    def write_seal(self) -> None:
        """Sign what is written, and sync the file to the disk."""
        self.result_head = self.head
        self._write("seal", signature=self._sealer.sign(RECORD_PURPOSE, self.head))
        with self._told():
            os.fsync(self._file.fileno())
            self._file.close()

    def close(self) -> None:
        """Leave the record as it is, unfinished; what could not be written before can't be now."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, kind: str, **fields: Any) -> None:
        with self._told():
            self._log.line(kind=kind, **fields)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tell what the disk refuses, as NotWritten, from all else that a machine may refuse."""
        try:
            yield
        except OSError as error:
            raise NotWritten(error.errno, error.strerror, str(self.path)) from None

    def _chained(self, _logger: Any, _name: str, fields: MutableMapping[str, Any]) -> bytes:
        """Number a line, chain it to the one before, hide what is to be hidden, and render it."""
        core = {"n": self._count, "prev": self.head, "kind": fields.pop("kind")}
        if "event" in fields:
            core["event"] = fields.pop("event")  # structlog puts it last
        core.update(fields)
        opened = hide(core)
        line, self.head = encode_line(core, opened)
        self._count += 1
        return line
