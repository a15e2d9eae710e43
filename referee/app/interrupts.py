"""What Ctrl-C and SIGTERM do: the first one asks what is going on to end, the second one ends the process at once.

What is left behind when the process is killed is no worse when it is ended at once, so nothing is tidied up then.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""
_SHOW_CURSOR = b"\x1b[?25h"
_NUMBERS = (signal.SIGINT, signal.SIGTERM)


def _raise(number: int) -> None:
    """End whatever is being done, and tidy up on the way out."""
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(SIGNALLED + number)


class _Signals:
    """What this process does with the next signal."""

    ask: Callable[[int], None] = staticmethod(_raise)
    was_asked = False

    @classmethod
    def take(cls, number: int, _where: FrameType | None) -> None:
        """Take a signal; called by Python."""
        if cls.was_asked:
            if sys.stderr.isatty():
                os.write(sys.stderr.fileno(), _SHOW_CURSOR)
            os._exit(SIGNALLED + number)
        cls.was_asked = True
        cls.ask(number)


def take_signals() -> None:
    """Let the first signal ask the command to end, and the second one end it, but for signals that are ignored."""
    for number in _NUMBERS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _Signals.take)


@contextlib.contextmanager
def asked_by(ask: Callable[[], None]) -> Iterator[None]:
    """Say how the command is asked to end meanwhile.

    Args:
        ask: called in the middle of anything; returns at once.
    """
    _Signals.ask = staticmethod(lambda _number: ask())
    try:
        yield
    finally:
        _Signals.ask = staticmethod(_raise)
