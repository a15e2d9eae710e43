"""Runs a coroutine on Twisted's reactor until it is done or interrupted, with output that never blocks the reactor."""

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any, TextIO, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ReactorNotRunning
from twisted.python.failure import Failure

from ..errors import Interrupted
from ..net.event_loop import collect_garbage_rarely
from .interrupts import ask_by_calling, take_signals

MOST_WAITING = 4 * 1024 * 1024
"""Bytes that may wait for their reader: a tournament of some ten thousand matches, line by line."""
LINGER_S = 5.0
"""Seconds that the end waits for a reader that reads nothing; for a reader that goes on reading it waits longer."""
_PIECE = 4096
"""Bytes that are written at once: as many as a pipe takes whole, so that each read is noticed soon."""


# A pipe that is held open and not read takes some 64 KiB. Without a thread, the next line would stop the loop, and all
# matches with it, until somebody reads on.


class UnblockedStream:
    """A text stream whose `write` never waits: a thread of its own writes everything to the stream's descriptor.

    If a reader reads nothing, and more than MOST_WAITING bytes wait, `write` fails as if the reader were gone.

    Args:
        stream: stdout or stderr; nothing else may use it at the same time.
    """

    def __init__(self, stream: TextIO) -> None:
        stream.flush()
        self._stream = stream
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._taken_bytes = 0
        self._written_bytes = 0
        """Bytes written so far; only the thread changes it."""
        self._error: OSError | None = None
        self._thread = Thread(target=self._work, name="output", daemon=True)
        self._thread.start()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Have the thread write a text.

        Raises:
            OSError: an earlier text could not be written; BrokenPipeError if too many bytes wait.
        """
        data = text.encode(self._stream.encoding or "utf-8", self._stream.errors or "backslashreplace")
        waiting_bytes = self._taken_bytes - self._written_bytes
        # Nobody reads, or much too slowly. The writer sees what it would see if the reader had gone.
        if waiting_bytes + len(data) > MOST_WAITING:
            raise BrokenPipeError(errno.EPIPE, f"{waiting_bytes} bytes wait for a reader")
        error, self._error = self._error, None
        if error is not None:
            raise error
        self._taken_bytes += len(data)
        self._waiting.put(data)
        return len(text)

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as it can."""

    def close(self) -> bool:
        """Wait until all is written, as long as somebody reads; write nothing more.

        Returns:
            Whether all was written.
        """
        self._waiting.put(None)
        before = -1
        while self._thread.is_alive() and before != self._written_bytes:
            before = self._written_bytes
            self._thread.join(LINGER_S)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (data := self._waiting.get()) is not None:
            try:
                while data:
                    count = os.write(self._stream.fileno(), data[:_PIECE])
                    data = data[count:]
                    self._written_bytes += count
            except OSError as error:
                self._error = error
                self._written_bytes += len(data)


@contextlib.contextmanager
def unblocked_output() -> Iterator[None]:
    """Print without waiting for the reader within a block; output not read LINGER_S after its end is lost."""
    with contextlib.ExitStack() as stack:
        for name in ("stdout", "stderr"):
            stack.enter_context(_unblock(name))
        yield


@contextlib.contextmanager
def _unblock(name: str) -> Iterator[None]:
    before: TextIO = getattr(sys, name)
    stream: TextIO = getattr(before, "rich_proxied_file", before)  # rich may have put its own before it
    try:
        stream.fileno()
    except (AttributeError, OSError, ValueError):  # a stream in memory keeps nobody waiting
        yield
        return
    unblocked = UnblockedStream(stream)
    setattr(sys, name, unblocked)
    try:
        yield
    finally:
        setattr(sys, name, before)
        if not unblocked.close():
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())  # else the next line would wait for ever
            os.close(nowhere)


# Twisted's reactor runs once in a process, and handles the first Ctrl-C itself, by stopping at once. Here the coroutine
# is cancelled instead, and the reactor runs until it has cleaned up: programs are ended, records get their last lines.
# A second signal ends the process at once, through app/interrupts.py. What is left behind then is no worse than after
# a power failure, which every record survives, so there is nothing to gain from a slower end.

T = TypeVar("T")


def run_reactor(main: Callable[[Any], Coroutine[Deferred[Any], Any, T]]) -> T:
    """Run a coroutine on Twisted's reactor, until it is done or the user interrupts it.

    Args:
        main: called with the running reactor.

    Returns:
        The result of the coroutine.

    Raises:
        Interrupted: the user interrupted it, and the coroutine was cancelled.
        BaseException: the coroutine raised it.
    """
    from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

    running: Any = reactor
    outcome: list[Any] = []
    finished: Deferred[None] = Deferred()
    tasks: list[Deferred[T]] = []

    def _begin() -> None:
        tasks.append(Deferred.fromCoroutine(main(running)))
        tasks[0].addBoth(_done)

    def _done(value: Any) -> None:
        outcome.append(value)
        running.callLater(0, _stop_once, running)
        finished.callback(None)

    def _stop() -> Deferred[None]:
        if tasks and not outcome:
            tasks[0].cancel()  # the user interrupted: wait until the coroutine has cleaned up
        return finished

    collect_garbage_rarely()
    running.addSystemEventTrigger("before", "shutdown", _stop)
    running.callWhenRunning(take_signals)  # after Twisted has set its own handlers, which ignore a second signal
    running.callWhenRunning(_begin)
    with unblocked_output(), ask_by_calling(lambda: running.callFromThread(_stop_once, running)):
        running.run()
    value: T = _unwrap(outcome)
    return value


def _stop_once(running: Any) -> None:
    """Stop the reactor, unless an interrupt has done so already."""
    with contextlib.suppress(ReactorNotRunning):
        running.stop()


def _unwrap(outcome: list[Any]) -> Any:
    value = outcome[0] if outcome else Failure(CancelledError())
    if isinstance(value, Failure):
        if value.check(CancelledError):
            raise Interrupted("stopped before it was done")
        value.raiseException()
    return value
