"""The output of a program: read as fast as it comes, and of which only the end is stored, in memory and in a file.

However much a program prints, it never has to wait for the referee, and uses no more than a few pages of the referee's
memory and disk.
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
"""Size of the stored end. Kaggle stores 10,000 characters a step; many long tracebacks fit into this."""
SAVE_S = 0.2
"""Time between two writes of the file: the author can follow it, and little is lost when a referee is killed."""
LAST_WORDS_CHARS = 300
"""Length of the end that a foul quotes in one sentence; the file has the rest."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_READ_BYTES = 65_536
"""Size of one read: as much as a pipe holds. Between two reads, the loop looks at everything else."""
_LAST_READS = 16
"""Number of reads after the program's end: more than a pipe holds, and bounded, for a child may go on writing."""


class Reactor(Clock, Protocol):
    """The part of Twisted's reactor that programs need: IReactorTime, IReactorFDSet and IReactorFromThreads."""

    def addReader(self, reader: Any, /) -> None:
        """Call the reader's doRead whenever there is something to read."""

    def removeReader(self, reader: Any, /) -> Any:
        """Stop calling the reader."""

    def callFromThread(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call a function in the loop's thread."""


class Tail:
    """The end of a stream of bytes."""

    def __init__(self) -> None:
        self._end = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Append bytes, and drop what is too far from the end."""
        self._end += data
        too_many = len(self._end) - KEPT_BYTES
        if too_many > 0:
            del self._end[:too_many]
            self._dropped += too_many

    @property
    def total(self) -> int:
        """Number of bytes that came."""
        return self._dropped + len(self._end)

    @property
    def is_empty(self) -> bool:
        """Whether nothing ever came."""
        return not self._end

    @property
    def content(self) -> bytes:
        """The stored end, below a line that says how much is missing before it."""
        note = f"[{self._dropped} bytes before this are left out]\n" if self._dropped else ""
        return note.encode() + bytes(self._end)

    @property
    def last_words(self) -> str:
        """The end of what came, as one printable line of at most `LAST_WORDS_CHARS` characters."""
        text = self._end[-4 * LAST_WORDS_CHARS :].decode(errors="replace")
        signs = (sign if sign.isprintable() else " " for sign in _COLOURS.sub("", text))
        line = " ".join("".join(signs).split())
        return line if len(line) <= LAST_WORDS_CHARS else f"...{line[3 - LAST_WORDS_CHARS :]}"


class OutputPipe:
    """The referee's end of a pipe that takes a program's stdout and stderr; one of Twisted's readers.

    Args:
        reactor: Twisted's.
        path: file that takes the end of the output; made with the first byte.
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
        """Close the program's end in this process, once the program has its own."""
        os.close(self.write_fd)

    def fileno(self) -> int:
        """Return the descriptor to wait for; called by Twisted."""
        return self._fd

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "output of a program"

    def doRead(self) -> Exception | None:
        """Read the bytes that are there; called by Twisted.

        Returns:
            ConnectionDone once no process holds the other end; None before.
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
        """Do nothing; called by Twisted. A program may run on after it has closed its stdout and stderr."""

    def switch_file(self, path: Path) -> None:
        """Write everything so far into the present file, and what comes from now on into another."""
        self.save()
        self.tail, self._path = Tail(), path

    def close(self) -> None:
        """Read the rest, write the file, and close the pipe."""
        self._reactor.removeReader(self)
        self.save()
        os.close(self._fd)

    def save(self) -> None:
        """Read the bytes that are there, and write the file."""
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
