"""What the errors of the product become on the command line: words and an exit status, all of them here.

0 fine, 1 what was asked for can't be done or does not hold, 2 it was asked wrongly, 3 the auditor itself failed.
"""

import contextlib
import errno
import signal
import sys
import traceback
from collections.abc import Iterator

import rich_click as click

from ..app.interrupts import SIGNALLED
from ..errors import BadMove, BadRequest, RefereeError
from ..text import printable_lines
from .common import console

FINE, FAILED, USAGE, FAULT = 0, 1, 2, 3
_OF_PATHS = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS)
"""What is wrong with a path that was given, not with the machine."""


@contextlib.contextmanager
def word_errors() -> Iterator[None]:
    """Let the errors of a command end it with words that say what to do.

    Raises:
        click.UsageError: it was asked for wrongly.
        SystemExit: it can't be done, the user interrupted, nobody reads on, or what was checked does not hold.
    """
    try:
        yield
    except click.MissingParameter as error:
        error.message = printable_lines(error.ctx.command.epilog or "" if error.ctx else "")  # type: ignore[misc]  # as below
        raise
    except click.UsageError as error:
        error.message = printable_lines(error.message)  # type: ignore[misc]  # there is no other place
        raise
    except BadRequest as error:
        raise click.UsageError(printable_lines(str(error))) from None
    except (RefereeError, click.ClickException) as error:  # paths and hashes are not to be broken into lines
        console.say(str(error))
        sys.exit(FAILED)
    except BrokenPipeError:  # nobody reads on: it ends as other programs do then, and says nothing of what it checked
        sys.exit(SIGNALLED + signal.SIGPIPE)
    except KeyboardInterrupt:
        console.say("stopped")
        sys.exit(SIGNALLED + signal.SIGINT)
    except OSError as error:
        if error.errno in _OF_PATHS and error.filename is not None:
            raise click.UsageError(printable_lines(_refusal(error))) from None
        console.say(_refusal(error))
        sys.exit(FAILED)


@contextlib.contextmanager
def own_faults(what: str) -> Iterator[None]:
    """End with status 3 what is a fault of this program, its rules or its machine, and so accuses no record.

    Args:
        what: failed.

    Raises:
        SystemExit: there was one.
    """
    try:
        yield
    except BadMove as error:  # the rules refuse a move where none is judged: their fault, and no record's
        _blame(error, what)
    except (RefereeError, click.ClickException, click.Abort, BrokenPipeError):
        raise
    except OSError as error:
        console.say(printable_lines(f"{_refusal(error)}; {what}"))
        sys.exit(FAULT)
    except Exception as error:  # noqa: BLE001  # whatever it is, a record that does not hold is told otherwise
        _blame(error, what)


def _blame(error: Exception, what: str) -> None:
    console.say(f"{printable_lines(''.join(traceback.format_exception(error)))}{what}; please report this")
    sys.exit(FAULT)


def _refusal(error: OSError) -> str:
    """Return what the machine refused, where a command had no better word for it."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"the machine refused: {reason}"
    remedy = "see to that path, or work in another folder (--logs; in a tournament's file, logs)"
    return f"can't use {error.filename}: {reason}; {remedy}"
