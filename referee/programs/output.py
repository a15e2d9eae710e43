"""The output of a program. The referee reads it at once, and stores only its end, in memory and in a file.

So a program can print as much as it likes: it never has to wait for the referee, and uses little memory and disk space.
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
"""Size of the stored end. Many long tracebacks fit into it."""
SAVE_S = 0.2
"""Time between two writes of the file. So the author can follow it, and little is lost if the referee is killed."""
LAST_WORDS_CHARS = 300
"""Number of characters at the end of the output that a foul quotes."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_READ_BYTES = 65_536
"""Size of one read: as much as a pipe holds. Between two reads, the event loop handles everything else."""
_TRACEBACK_BYTES = 16_384
"""Size of the end of the output in which a traceback is searched."""
_FRAME = re.compile(r'^\s+File "(.+)", line (\d+)(?:, in (.+))?$')
_LINKS = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
"""Lines between the tracebacks of two exceptions, if the first one caused the second one."""
_REFEREE = re.escape(f"{Path(__file__).parents[1]}/")
_LIBRARY = re.compile(rf"^<|^{_REFEREE}|/site-packages/|/lib/python3[^/]*/|/protocol/\w+\.py$|\.pyx$")
"""Files in a traceback that the author has not written: the interpreter, packages, the client library, the referee."""
_CALL = re.compile(r"^\s+(?:at |\.\.\. \d+ more)")
_PLACE = re.compile(r"^\s+at (?:(\S.*?) ?\()?(?:file://)?([^():]+):(\d+)(?::\d+)?\)?$")
_FOREIGN = re.compile(r"\bnode:|/node_modules/|\bat (?:java|jdk|sun)\.")
"""Places in a trace that are not in the author's code."""
_MATCH_LINE = re.compile(r"^match [^\s:]{1,100}: no end came; (?!THE REFEREE BROKE).*\n?", re.MULTILINE)
"""Line that the client library prints if a match breaks off. It must not hide the last lines of the program itself."""
_BEFORE_EXCEPTION = re.compile(r'^(?:Exception in thread "[^"]*" |Caused by: |Uncaught )')
_TRACE_HEAD = re.compile(r'^(?:Exception in thread "|(?:/|file://|node:)\S*:\d+$)')
"""First line of a trace of Java, or of JavaScript, which shows the place before the exception."""
_GO_PLACE = re.compile(r"^\s+(\S+\.go):(\d+)")
_PLACE_CHARS = 100
_MOST_LINES_AFTER = 3
"""An exception counts as the end of the output if at most so many lines follow, since messages have several lines."""
_LAST_READS = 16
"""Number of reads after the program's end. They read more than a pipe holds, but a child may go on writing for ever."""


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
        """Number of bytes so far."""
        return self._dropped + len(self._end)

    @property
    def is_empty(self) -> bool:
        """True if there were no bytes."""
        return not self._end

    @property
    def content(self) -> bytes:
        """The stored end. If something is missing before it, the first line says how much."""
        note = f"[{self._dropped} bytes before this are left out]\n" if self._dropped else ""
        return note.encode() + bytes(self._end)

    @property
    def last_words(self) -> str:
        """The end of the output, as one printable line of at most `LAST_WORDS_CHARS` characters.

        A traceback is replaced by a summary: the exception, and the innermost place in the author's code.
        """
        text = _MATCH_LINE.sub("", bytes(self._end[-_TRACEBACK_BYTES:]).decode(errors="replace"))
        if (crash := find_crash(text)) is not None:
            return crash.summary
        line = _to_line(text[-4 * LAST_WORDS_CHARS :])
        return line if len(line) <= LAST_WORDS_CHARS else f"...{line[3 - LAST_WORDS_CHARS :]}"


class Crash(Struct, frozen=True):
    """A traceback at the end of a program's output, in the form of Python, JavaScript, Java or Go."""

    summary: str
    """The exception and its place in one line, such as `KeyError: 'tile' (player.py:29, in choose)`."""
    before: str
    """Output before the traceback."""


def find_crash(text: str) -> Crash | None:
    r"""Find a traceback at the end of a text; return None if the text does not end with one.

    The place is the innermost one that is not in a library. A mistake is nearly always in the author's own code, even
    if a library that it has called raises the exception.

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
    # A syntax error in the program itself has no such line, and the beginning of a long traceback may be missing.
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
    if earlier is None:  # the beginning of the output is missing
        return Crash(summary, "")
    # The first exception often shows the mistake itself.
    return Crash(f"{summary}, after {earlier.summary}"[:LAST_WORDS_CHARS], earlier.before)


def _find_stack_trace(lines: list[str]) -> Crash | None:
    """Find a trace of JavaScript or Java: the exception, then a line `at FUNCTION (FILE:LINE)` for each call."""
    calls = [index for index, line in enumerate(lines) if _CALL.match(line)]
    if not calls or sum(1 for line in lines[calls[-1] + 1 :] if line.strip()) > _MOST_LINES_AFTER:
        return None
    first = next((index for index in range(calls[-1], -1, -1) if not _CALL.match(lines[index])), -1)
    # Java prints the cause of an exception after it, with `Caused by`, so the last block shows the mistake.
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
    """Replace a traceback at the end of a text by its summary, or remove it if the reader already knows the summary.

    The client library's line about a match that broke off is left out.

    Args:
        text: output of a program.
        known: text that is shown to the reader anyway.
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
    """The referee's end of the pipe for a program's stdout and stderr. It is a reader for Twisted.

    Args:
        reactor: Twisted's reactor.
        path: file for the end of the output; it is created with the first byte.
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
        """Close the program's end in this process, after the program has inherited it."""
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
            ConnectionDone if no process holds the other end any more; otherwise None.
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
        """Write the output so far into the present file, and later output into another one."""
        self.save()
        self.tail, self._path = Tail(), path

    def close(self) -> None:
        """Read the rest, write the file, and close the pipe."""
        self._reactor.removeReader(self)
        self.save()
        os.close(self._fd)

    def save(self) -> None:
        """Read the bytes that are there, and write the file."""
        # The pipe may still hold the last output of the program. But a child of it may go on printing for ever.
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
