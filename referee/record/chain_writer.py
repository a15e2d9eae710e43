"""Writes a file of chained lines: the record of a match, or of a tournament.

Every line is flushed before the caller goes on.
"""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from typing import Any

from ..errors import RefereeError
from ..files.whole import sync_folder
from .hidden_fields import hide
from .reader import ChainEnd
from .schema import FIRST_PREV, encode_plain, line_hash, linked_core, with_open
from .seal import RECORD_PURPOSE, Sealer

_LOOK_S = 0.02
_LOOKS = 250
"""So often it is looked whether a process that dies has left a record: for five seconds."""


class NotWritten(RefereeError, OSError):
    """A line of a record that can't be written: nothing that stands in it may happen."""

    def __str__(self) -> str:
        return f"the record {self.filename} can't be written: {self.strerror}; what it was for was not finished"


class ChainWriter:
    """A file of chained lines that grows.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals it.
        after: where it ends, if it is gone on with; a torn line behind that is cut off.

    Raises:
        FileExistsError: there is a record of that name.
        BlockingIOError: another referee is writing it.
        OSError: the file can't be made or written.
    """

    def __init__(self, path: Path, sealer: Sealer, after: ChainEnd | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.head = FIRST_PREV if after is None else after.head
        """Hash of the last line written."""
        self.sealed_head = self.head
        """Hash of the last line before the seal, once that is written."""
        self._sealer = sealer
        self.count = 0 if after is None else after.count
        """Lines written."""
        self._refusal: NotWritten | None = None
        """Why the disk has refused something: a part of it may stand there, so nothing is written behind that."""
        self.is_named = False
        """Whether the file's name in its folder is on the disk, too."""
        self._file = path.open("xb" if after is None else "r+b")
        self._lock(after)
        if after is not None:
            self._file.truncate(after.size_bytes)
            self._file.seek(after.size_bytes)

    def _lock(self, after: ChainEnd | None) -> None:
        """Keep other referees from the record, until this one closes it or dies."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if after is not None and os.fstat(self._file.fileno()).st_size != after.size_bytes + after.torn_bytes:
                raise BlockingIOError  # it went on after it had been read
        except BlockingIOError:
            self._file.close()
            raise BlockingIOError(errno.EWOULDBLOCK, "another referee writes this record", str(self.path)) from None

    def seal(self) -> None:
        """Sign what is written, if the key is here; the signature is not synced.

        Raises:
            NotWritten: the disk refused.
        """
        self.sealed_head = self.head
        if self._sealer.can_sign:
            self.write("seal", signature=self._sealer.sign(RECORD_PURPOSE, self.head))

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line.

        Args:
            kind: of line.
            fields: plain values.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        plain = {"kind": kind, **fields}
        opened = hide(plain)
        self.append(encode_plain(plain)[1:-1], encode_plain(opened)[1:-1])

    def append(self, fields: bytes, opened: bytes) -> None:
        """Number a line, chain it to the one before, and write it.

        Args:
            fields: keys and values of its core from `kind` on, as JSON without braces; hidden ones are hashes.
            opened: keys and values of what the hashes stand for, in the same way.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        if self._refusal is not None:
            raise self._refusal
        core = linked_core(self.count, self.head, fields)
        try:
            self._file.write(with_open(core, opened) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self.refuse(error) from None
        self.head = line_hash(core)
        self.count += 1

    def sync(self) -> None:
        """Let what is written outlive the machine.

        Raises:
            NotWritten: the disk refused.
        """
        if self._refusal is not None:
            raise self._refusal
        try:
            self.sync_file()
            if not self.is_named:
                sync_folder(self.path.parent)
                self.is_named = True
        except OSError as error:
            raise self.refuse(error) from None

    def sync_file(self) -> None:
        """Have the disk keep what is written, but for the file's name; in any thread, while this one writes on.

        Raises:
            OSError: the disk refused; `refuse` is to be told, in this writer's own thread.
            ValueError: the file is closed.
        """
        os.fsync(self._file.fileno())

    def refuse(self, error: OSError) -> NotWritten:
        """Write nothing more, because the disk has refused something; return the error for whoever waits for it."""
        if self._refusal is None:
            self._refusal = NotWritten(error.errno, error.strerror, str(self.path))
        return self._refusal

    def close(self) -> None:
        """Leave the file as it is; what could not be written before can't be now."""
        with contextlib.suppress(OSError):
            self._file.close()


def wait_until_left(path: Path) -> None:
    """Wait until nobody writes a file of lines any more, but not for ever: whoever opens it then is told who does.

    A worker outlives a tournament's process that is killed, for as long as it takes to notice.

    Args:
        path: the file.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        for _ in range(_LOOKS):
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOOK_S)
            else:
                return
