"""Turns errors into words and an exit status, for all commands.

Exit statuses: 0 success, 1 failure (a check did not pass, or the work can't be done), 2 usage error, 3 fault of the
referee's own code during an audit.
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

# Scripts decide by the exit status, so its values must not be mixed up. A mistyped command must not look like a failed
# audit. A fault of the auditor must not look like a forged record, because that would accuse somebody.
FINE, FAILED, USAGE, FAULT = 0, 1, 2, 3
# A full disk (ENOSPC) or a failing disk (EIO) is no usage error: the command itself was right.
_PATH_ERRORS = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS)
"""Numbers of errors that a wrong path causes."""


class ErrorReport(Struct, frozen=True, kw_only=True):
    """Output of a command with --json that failed."""

    version: Literal[1] = 1
    """Version of this object's form."""
    error: str
    """What happened, where, and what to do; stderr has the same text."""
    exit_status: int
    """Exit status of the command."""


@contextlib.contextmanager
def word_errors(*, as_json: bool) -> Iterator[None]:
    """If the command in the block raises an error, print what to do, and exit.

    Args:
        as_json: whether the command prints JSON; if so, the error is also printed as an object on stdout.

    Raises:
        click.UsageError: the user made a mistake.
        SystemExit: the command failed, the user interrupted it, or nobody reads stdout.
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
    except (RefereeError, click.ClickException) as error:  # `say` does not wrap lines, so paths and hashes stay whole
        console.say(str(error))
        _report(printable_lines(str(error)), FAILED)
        sys.exit(FAILED)
    except BrokenPipeError:  # nobody reads stdout any more: exit as other programs do, which says nothing about results
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
    """Exit with status 3 if this program, its rules or the machine fails: that says nothing against a record.

    Args:
        what: words that are printed after the error.

    Raises:
        SystemExit: there was such a fault.
    """
    try:
        yield
    except BadMove as error:  # an audit catches illegal moves; one that arrives here is a fault of the rules' code
        _blame(error, what)
    except (RefereeError, click.ClickException, click.Abort, BrokenPipeError):
        raise
    except OSError as error:
        console.say(printable_lines(f"{_refusal(error)}; {what}"))
        _exit_for_fault(f"{_refusal(error)}; {what}")
    except Exception as error:  # noqa: BLE001  # a broken record raises RefereeError, so this is a bug
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
    """Return in words what the operating system refused."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"the operating system refused: {reason}"
    remedy = "fix that path, or use another folder (--logs; in a tournament's file, logs)"
    return f"can't use {error.filename}: {reason}; {remedy}"
