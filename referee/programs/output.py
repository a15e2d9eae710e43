"""What a program prints: read as fast as it comes, only the end of it kept, in memory and in a file.

However much a program prints, it is never made to wait for the referee, and takes no more than a few pages of the
referee's memory and of its disk.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from twisted.internet.error import ConnectionDone
from twisted.python.failure import Failure

from ..clock import Clock, Timer

KEPT_BYTES = 65_536
"""Kaggle keeps 10,000 characters a step; a traceback with its story fits into this many times over."""
SAVE_S = 0.2
"""Between two writes of the file: its author can look on, and a referee that dies takes little with it."""
LAST_WORDS_CHARS = 300
"""Of the end of what was printed, where it is told in a sentence: a foul has room for it, and the file has the rest."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_READ_BYTES = 65_536
"""At once: what a pipe holds. In between, the loop looks at everything else."""
_LAST_READS = 16
"""After the program's end: more than a pipe holds, and an end to it, should somebody else go on writing."""


class Reactor(Clock, Protocol):
    """What is needed of Twisted's reactor: IReactorTime, IReactorFDSet and IReactorFromThreads."""

    def addReader(self, reader: Any, /) -> None:
        """Call the reader's doRead whenever there is something to read."""

    def removeReader(self, reader: Any, /) -> Any:
        """Call it no more."""

    def callFromThread(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call a function in the loop's thread."""


class Tail:
    """The end of a stream of bytes."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take what comes next."""
        self._kept += data
        too_many = len(self._kept) - KEPT_BYTES
        if too_many > 0:
            del self._kept[:too_many]
            self._dropped += too_many

    @property
    def total(self) -> int:
        """How many bytes came."""
        return self._dropped + len(self._kept)

    @property
    def is_empty(self) -> bool:
        """Whether nothing ever came."""
        return not self._kept

    @property
    def content(self) -> bytes:
        """What is kept, below a line that says how much is not."""
        note = f"[{self._dropped} bytes before this are left out]\n" if self._dropped else ""
        return note.encode() + bytes(self._kept)

    @property
    def last_words(self) -> str:
        """The end of what came, as one printable line of at most `LAST_WORDS_CHARS` characters."""
        text = self._kept[-4 * LAST_WORDS_CHARS :].decode(errors="replace")
        signs = (sign if sign.isprintable() else " " for sign in _COLOURS.sub("", text))
        line = " ".join("".join(signs).split())
        return line if len(line) <= LAST_WORDS_CHARS else f"...{line[3 - LAST_WORDS_CHARS :]}"


class OutputPipe:
    """The referee's end of a pipe that takes a program's stdout and stderr; one of Twisted's readers.

    Args:
        reactor: reads it.
        path: file that takes the end of it; made when there is something to keep.
    """

    def __init__(self, reactor: Reactor, path: Path) -> None:
        self.tail = Tail()
        self._reactor = reactor
        self._path = path
        self._save: Timer | None = None
        self._fd, self.write_fd = os.pipe()
        os.set_blocking(self._fd, False)
        reactor.addReader(self)

    def close_write_end(self) -> None:
        """Leave the other end to the program alone."""
        os.close(self.write_fd)

    def fileno(self) -> int:
        """Return what to wait for; called by Twisted."""
        return self._fd

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "output of a program"

    def doRead(self) -> Exception | None:
        """Read what is there; called by Twisted.

        Returns:
            ConnectionDone once nobody holds the other end; None before.
        """
        try:
            data = os.read(self._fd, _READ_BYTES)
        except BlockingIOError:
            return None
        if not data:
            return ConnectionDone()
        self.tail.add(data)
        if self._save is None or not self._save.active():
            self._save = self._reactor.callLater(SAVE_S, self._write)
        return None

    def connectionLost(self, reason: Failure) -> None:
        """Nothing more comes; called by Twisted. The program may run on without its stdout and stderr."""

    def turn_to(self, path: Path) -> None:
        """Let another file take what comes from now on; what has come is kept in the one before."""
        self.save()
        self.tail, self._path = Tail(), path

    def close(self) -> None:
        """Read what is left and write the file."""
        self._reactor.removeReader(self)
        self.save()
        os.close(self._fd)

    def save(self) -> None:
        """Read what is there, and write the file."""
        for _ in range(_LAST_READS):
            before = self.tail.total
            if self.doRead() is not None or self.tail.total == before:
                break
        if self._save is not None and self._save.active():
            self._save.cancel()
        self._write()

    def _write(self) -> None:
        if not self.tail.is_empty:
            self._path.write_bytes(self.tail.content)
