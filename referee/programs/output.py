"""The output of a program. It is read as fast as it comes; only its end is stored, in memory and in a file.

However much a program prints, it never has to wait for the referee, and uses no more than a few pages of the referee's
memory and disk.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, Protocol

from msgspec import Struct
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
_TRACEBACK_BYTES = 16_384
"""Part of the output in which a traceback is looked for."""
_FRAME = re.compile(r'^\s+File "(.+)", line (\d+)(?:, in (.+))?$')
_LINKS = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
"""Lines between the tracebacks of two exceptions, the second of which was raised because of the first."""
_REFEREE = re.escape(f"{Path(__file__).parents[1]}/")
_LIBRARY = re.compile(rf"^<|^{_REFEREE}|/site-packages/|/lib/python3[^/]*/|/protocol/\w+\.py$|\.pyx$")
"""Files of a traceback that are not the author's: the interpreter, its packages, the client library, the referee."""
_CALL = re.compile(r"^\s+(?:at |\.\.\. \d+ more)")
_PLACE = re.compile(r"^\s+at (?:(\S.*?) ?\()?(?:file://)?([^():]+):(\d+)(?::\d+)?\)?$")
_FOREIGN = re.compile(r"\bnode:|/node_modules/|\bat (?:java|jdk|sun)\.")
"""Places of a trace that are not the author's."""
_MATCH_LINE = re.compile(r"^match [^\s:]{1,100}: no end came; (?!THE REFEREE BROKE).*\n?", re.MULTILINE)
"""Line of the client library about a match that broke off. It hides what the program itself printed last."""
_BEFORE_EXCEPTION = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: |Uncaught )')
_TRACE_HEAD = re.compile(r'^(?:Exception in thread "|(?:/|file://|node:)\S*:\d+$)')
"""First line of a trace: of Java, and of JavaScript, which shows the place and its line before the exception."""
_GO_PLACE = re.compile(r"^\s+(\S+\.go):(\d+)")
_PLACE_CHARS = 100
_MOST_LINES_AFTER = 3
"""Number of lines after an exception with which it still counts as the end of the output: messages have several lines.
"""
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
        """Append bytes, and drop the oldest ones beyond the limit."""
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
        """The end of what came, as one printable line of at most `LAST_WORDS_CHARS` characters.

        A traceback of Python is summed up: the exception, and the place where the author's code has raised it.
        """
        text = _MATCH_LINE.sub("", bytes(self._end[-_TRACEBACK_BYTES:]).decode(errors="replace"))
        if (crash := find_crash(text)) is not None:
            return crash.summary
        line = _to_line(text[-4 * LAST_WORDS_CHARS :])
        return line if len(line) <= LAST_WORDS_CHARS else f"...{line[3 - LAST_WORDS_CHARS :]}"


class Crash(Struct, frozen=True):
    """A traceback at the end of a program's output, as Python, JavaScript, Java and Go print one."""

    summary: str
    """The exception and its place in one line, such as `KeyError: 'tile' (player.py:29, in choose)`."""
    before: str
    """Output before the traceback."""


def find_crash(text: str) -> Crash | None:
    r"""Find a traceback at the end of a text; None if the text does not end with one.

    The place is the innermost one that is not in a library: a mistake is nearly always in the author's own code, even
    when the exception is raised by what that has called.

    >>> find_crash('thinking\nTraceback (most recent call last):\n  File "me.py", line 3, in f\nKeyError: 1\n')
    Crash(summary='KeyError: 1 (me.py:3, in f)', before='thinking')
    """
    lines = text.splitlines()
    return _find_python_crash(lines) or _find_stack_trace(lines) or _find_panic(lines)


def _find_python_crash(lines: list[str]) -> Crash | None:
    frames = [(index, match) for index, line in enumerate(lines) if (match := _FRAME.match(line))]
    if not frames:
        return None
    last = frames[-1][0]
    first = next((index for index in range(last + 1, len(lines)) if lines[index][:1].strip()), None)
    if first is None or sum(1 for line in lines[first + 1 :] if line.strip()) > _MOST_LINES_AFTER:
        return None
    # A mistake in the syntax of the program itself has no such line. Nor has a traceback whose beginning was not kept.
    headless = 0 if frames[0][1][3] else last
    begin = next((index for index in range(last, -1, -1) if lines[index].startswith("Traceback ")), headless)
    places = [match for index, match in frames if index >= begin]
    own_places = [match for match in places if not _LIBRARY.search(match[1])] or places
    file, number, function = own_places[-1].groups()
    summary = _summarise(lines[first], file, number, "" if function == "<module>" else function)
    before = "\n".join(lines[:begin])
    head, _, link = before.rstrip().rpartition("\n")
    if link not in _LINKS:
        return Crash(summary, before)
    earlier = find_crash(head)
    if earlier is None:  # its beginning was not kept
        return Crash(summary, "")
    # The exception that was raised first is often the mistake itself.
    return Crash(f"{summary}, after {earlier.summary}"[:LAST_WORDS_CHARS], earlier.before)


def _find_stack_trace(lines: list[str]) -> Crash | None:
    """Find a trace of JavaScript or Java: the exception, then a line `at FUNCTION (FILE:LINE)` for each call."""
    calls = [index for index, line in enumerate(lines) if _CALL.match(line)]
    if not calls or sum(1 for line in lines[calls[-1] + 1 :] if line.strip()) > _MOST_LINES_AFTER:
        return None
    first = next((index for index in range(calls[-1], -1, -1) if not _CALL.match(lines[index])), -1)
    # Java prints the cause of an exception behind it, with `Caused by`: so the last block is that of the mistake.
    places = [match for line in lines[first + 1 : calls[-1] + 1] if (match := _PLACE.match(line))]
    own_places = [match for match in places if not _FOREIGN.search(match[0])] or places
    if first < 0 or not own_places:
        return None
    function, file, number = own_places[0].groups()
    summary = _summarise(_BEFORE_EXCEPTION.sub("", lines[first]), file, number, function)
    begin = next((index for index, line in enumerate(lines) if _TRACE_HEAD.match(line)), first)
    return Crash(summary, "\n".join(lines[: min(begin, first)]))


def _find_panic(lines: list[str]) -> Crash | None:
    """Find a panic of Go: its reason, then for each call two lines, the function and the place."""
    begin = next((index for index in range(len(lines) - 1, -1, -1) if lines[index].startswith("panic: ")), None)
    places = [] if begin is None else [(index, _GO_PLACE.match(lines[index])) for index in range(begin, len(lines))]
    index, match = next(
        ((index, match) for index, match in places if match and "/src/runtime/" not in match[0]), (0, None)
    )
    if begin is None or match is None:
        return None
    function = lines[index - 1].partition("(")[0]
    return Crash(_summarise(lines[begin], match[1], match[2], function), "\n".join(lines[:begin]))


def _summarise(exception: str, file: str, number: str, function: str | None) -> str:
    """Return an exception and its place in one line."""
    where = f", in {function}" if function else ""
    place = _to_line(f"({PurePath(file).name}:{number}{where})")[:_PLACE_CHARS]
    return f"{_to_line(exception)[: LAST_WORDS_CHARS - _PLACE_CHARS - 1]} {place}"


def shorten_crash(text: str, known: str) -> str:
    """Return a text in which a Python traceback at the end is one line, or nothing if that line is known.

    The client library's line about a match that broke off is left out.

    Args:
        text: what a program printed.
        known: what the reader is told anyway.
    """
    text = _MATCH_LINE.sub("", text)
    crash = find_crash(text)
    if crash is None:
        return text
    return crash.before if crash.summary in known else "\n".join(filter(None, (crash.before, crash.summary)))


def _to_line(text: str) -> str:
    """Return a text as one printable line, without colours."""
    signs = (sign if sign.isprintable() else " " for sign in _COLOURS.sub("", text))
    return " ".join("".join(signs).split())


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
        # The pipe may still hold what the program printed last, and a child of it may go on printing for ever.
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
