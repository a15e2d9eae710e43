"""How errors of the referee become words and an exit status. All of that is here, so that commands need not care.

Exit statuses: 0 fine, 1 what was asked for can't be done or does not hold, 2 usage error, 3 the auditor itself failed.
"""

import contextlib
import errno
import signal
import sys
import traceback
from collections.abc import Iterator
from typing import Literal, NoReturn

import rich_click as click
from msgspec import Struct

from ..app.interrupts import SIGNALLED
from ..errors import BadMove, BadRequest, RefereeError
from ..text import printable_lines
from .common import console, print_json

# Scripts decide by the exit status, so its values must not be mixed up. A mistake in the command must not look like a
# failed audit. And a fault of the auditor must not look like a forged record: that would accuse somebody.
FINE, FAILED, USAGE, FAULT = 0, 1, 2, 3
# A full disk (ENOSPC) or a failing one (EIO) is no usage error: the same command works on another day.
_PATH_ERRORS = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors of a path that the user gave, not of the machine."""


class ErrorReport(Struct, frozen=True, kw_only=True):
    """Why a command with --json has no result."""

    version: Literal[1] = 1
    """Version of this object's form."""
    error: str
    """What happened, where, and what to do, as on stderr."""
    exit_status: int
    """Exit status of the command."""


@contextlib.contextmanager
def word_errors(*, as_json: bool) -> Iterator[None]:
    """End a command that raises an error with words that say what to do.

    Args:
        as_json: whether the command prints JSON: then the error is an object on stdout, too.

    Raises:
        click.UsageError: the user made a mistake.
        SystemExit: it can't be done, the user interrupted it, nobody reads stdout, or what was checked does not hold.
    """

    def _report(error: str, exit_status: int) -> None:
        if as_json:
            print_json(ErrorReport(error=error, exit_status=exit_status))

    try:
        yield
    except click.UsageError as error:
        is_missing = isinstance(error, click.MissingParameter)
        text = (error.ctx.command.epilog or "" if error.ctx else "") if is_missing else error.message
        error.message = printable_lines(text)  # type: ignore[misc]  # there is no other place
        _report(error.format_message(), USAGE)
        raise
    except BadRequest as error:
        _report(printable_lines(str(error)), USAGE)
        raise click.UsageError(printable_lines(str(error))) from None
    except (RefereeError, click.ClickException) as error:  # paths and hashes are not to be broken into lines
        console.say(str(error))
        _report(printable_lines(str(error)), FAILED)
        sys.exit(FAILED)
    except BrokenPipeError:  # nobody reads on: it ends as other programs do then, and says nothing of what it checked
        sys.exit(SIGNALLED + signal.SIGPIPE)
    except KeyboardInterrupt:
        console.say("stopped")
        _report("stopped", SIGNALLED + signal.SIGINT)
        sys.exit(SIGNALLED + signal.SIGINT)
    except OSError as error:
        # Without a file name, the error comes from a socket or a process, where these numbers mean something else.
        is_usage = error.errno in _PATH_ERRORS and error.filename is not None
        _report(printable_lines(_refusal(error)), USAGE if is_usage else FAILED)
        if is_usage:
            raise click.UsageError(printable_lines(_refusal(error))) from None
        console.say(_refusal(error))
        sys.exit(FAILED)


@contextlib.contextmanager
def own_faults(what: str) -> Iterator[None]:
    """End with status 3 for a fault of this program, its rules or its machine, which says nothing against a record.

    Args:
        what: the failure in words.

    Raises:
        SystemExit: there was such a fault.
    """
    try:
        yield
    except BadMove as error:  # the rules refuse a move where none is judged: their fault, and no record's
        _blame(error, what)
    except (RefereeError, click.ClickException, click.Abort, BrokenPipeError):
        raise
    except OSError as error:
        console.say(printable_lines(f"{_refusal(error)}; {what}"))
        _exit_for_fault(f"{_refusal(error)}; {what}")
    except Exception as error:  # noqa: BLE001  # a record that does not hold is reported elsewhere
        _blame(error, what)


def _blame(error: Exception, what: str) -> NoReturn:
    console.say(f"{printable_lines(''.join(traceback.format_exception(error)))}{what}; please report this")
    _exit_for_fault(f"{what}; please report this")


def _exit_for_fault(text: str) -> NoReturn:
    context = click.get_current_context(silent=True)
    if context is not None and context.params.get("as_json"):
        print_json(ErrorReport(error=printable_lines(text), exit_status=FAULT))
    sys.exit(FAULT)


def _refusal(error: OSError) -> str:
    """Return what the machine refused, for errors that a command has no better words for."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"the machine refused: {reason}"
    remedy = "fix that path, or use another folder (--logs; in a tournament's file, logs)"
    return f"can't use {error.filename}: {reason}; {remedy}"
