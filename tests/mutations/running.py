"""Reads changed files with the product's own readers, in this process, and reports forbidden outcomes.

A reader may report that a file is not valid, or that the request is wrong. It may not crash or run for ever.
"""

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from click.testing import CliRunner
from msgspec import Struct

from referee.cli.errors import FAILED, FINE, USAGE
from referee.cli.main import main
from referee.errors import RefereeError

MOST_S = 30.0
"""Limit for one reader and one file of some kilobytes; it usually takes a hundredth of a second."""


class Failed(Exception):
    """A reader failed at a file; the text says which, and how."""


class _TooLong(BaseException):
    """A reader took too long; no reader catches this."""


Reader = Callable[[Path], object]
"""Reads the files in a folder."""


class Kind(Struct, frozen=True):
    """A kind of file: how a valid folder of it is made, how it is changed, and its readers."""

    make: Callable[[Path], None]
    change: Callable[[Path, Random], str]
    """Changes something in a copy of the folder; returns a short description."""
    readers: dict[str, Reader]


def command(*arguments: str) -> Reader:
    """Return a command of the product as a reader; `.` in its arguments is the folder."""

    def _read(folder: Path) -> int:
        with contextlib.chdir(folder):
            done = CliRunner().invoke(main, arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code not in (FINE, FAILED, USAGE) or "Traceback" in done.output:
            raise Failed(f"exit status {done.exit_code}: {done.output[-2000:]}")
        return int(done.exit_code)

    return _read


@contextlib.contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    def _stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def tried(read: Reader, folder: Path) -> tuple[bool, str]:
    """Let a reader read a folder.

    Returns:
        Whether it accepted the files, and the forbidden outcome; empty if there was none.
    """
    try:
        with _in_time(MOST_S):
            return read(folder) not in (FAILED, USAGE), ""
    except (RefereeError, OSError):
        return False, ""
    except (Exception, _TooLong) as error:  # noqa: BLE001  # whatever it is, it is told
        return False, "".join(traceback.format_exception(error)[-6:])
