"""Handles Ctrl-C and SIGTERM: the first one asks the running command to end, the second one ends the process at once.

The second one tidies nothing up: a process that ends at once leaves no more behind than one that is killed.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

SIGNALLED = 128
"""Number that a shell adds to the signal that ended a program."""
_SHOW_CURSOR = b"\x1b[?25h"
_NUMBERS = (signal.SIGINT, signal.SIGTERM)


# How to end depends on what is running. In plain Python code an exception in the middle of anything is fine, and
# `finally` cleans up. In the reactor it is not: an exception out of a signal handler would be logged by whichever
# callback happens to run, and the reactor would go on. So a running reactor asks to be called instead. While modules
# are imported neither works, so the process ends at once.


def _end(number: int, _where: FrameType | None = None) -> NoReturn:
    """End this process at once."""
    if sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), _SHOW_CURSOR)
    # Not `sys.exit`: that would run every `finally` and every exit handler, and one of them may be what hangs.
    os._exit(SIGNALLED + number)


def _raise(number: int, where: FrameType | None) -> None:
    """Raise an exception, so that the running code ends and cleans up on the way out.

    An exception in the middle of an import may be lost in one of Python's own callbacks, or leave a module half made.
    """
    if _is_importing(where):
        if number == signal.SIGINT and sys.stderr is not None:
            os.write(sys.stderr.fileno(), b"stopped\n")
        _end(number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(SIGNALLED + number)


def _is_importing(where: FrameType | None) -> bool:
    """Return whether a module is being imported where a signal came."""
    while where is not None:
        if where.f_code.co_filename.startswith("<frozen importlib"):
            return True
        where = where.f_back
    return False


class _Signals:
    """The reaction of this process to the next signal."""

    ask: Callable[[int, FrameType | None], None] = staticmethod(_end)
    was_asked = False

    @classmethod
    def take(cls, number: int, where: FrameType | None) -> None:
        """Take a signal; called by Python."""
        if cls.was_asked:
            _end(number)
        cls.was_asked = True
        cls.ask(number, where)


def take_signals() -> None:
    """Let the first signal ask the command to end, and the second one end it; ignored signals stay ignored."""
    for number in _NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _Signals.take)


def interruptible() -> contextlib.AbstractContextManager[None]:
    """Let a signal raise KeyboardInterrupt or SystemExit during a block; outside of it, nothing needs cleaning up."""
    return _asking(_raise)


def ask_by_calling(ask: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
    """Let a signal call a function during a block.

    Args:
        ask: called at any point of the running code; must return at once.
    """
    return _asking(lambda _number, _where: ask())


@contextlib.contextmanager
def _asking(ask: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = _Signals.ask
    _Signals.ask = staticmethod(ask)
    try:
        yield
    finally:
        _Signals.ask = staticmethod(before)
