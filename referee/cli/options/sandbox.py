"""What launched programs are held to, as the organiser wants it and this machine can do it. Knows the command line."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click

from ...launch import (
    MEMORY_MIB,
    Confinement,
    NoSandboxError,
    ProgramLimits,
    Sandbox,
    clear_groups,
    find_ground,
    find_sandbox,
)
from ...record.key_file import default_path
from ..common import console

REQUIRED, AUTO, OFF = "required", "auto", "off"
F = TypeVar("F", bound=Callable[..., Any])


def confinement_options(function: F) -> F:
    """Add the options that say what programs are held to."""
    sandbox = click.option(
        "--sandbox",
        "sandbox_mode",
        type=click.Choice((REQUIRED, AUTO, OFF)),
        default=AUTO,
        show_default=True,
        help="Run programs in a sandbox: always, where this machine can (see `referee doctor`), or never.",
    )
    memory = click.option(
        "--memory",
        "memory_mib",
        type=click.IntRange(*MEMORY_MIB),
        metavar="MIB",
        default=ProgramLimits().memory_mib,
        show_default=True,
        help="Memory of each program, in MiB, all its processes and its /tmp included.",
    )
    return sandbox(memory(function))


def find_confinement(
    mode: str, key: Path | None, logs: Path, *, memory_mib: int, written: Iterable[Path | None] = ()
) -> Confinement:
    """Return what programs are held to, and say so if that is less than it could be; clear up after killed referees.

    Args:
        mode: `required`, `auto` or `off`.
        key: file of the key that seals records; None: where it is kept by default.
        logs: folder of the records.
        memory_mib: what one program may use.
        written: other files that the referee writes while programs run; what it prints into one is known here.

    Raises:
        click.UsageError: a sandbox is required and this machine has none, or one that holds less than it should.
    """
    ground = find_ground()
    clear_groups(ground)
    secret = (logs, key or default_path(os.environ), *(path for path in written if path is not None), *_redirected())
    return Confinement(
        sandbox=_find_sandbox(mode),
        ground=ground,
        limits=ProgramLimits(memory_mib=memory_mib),
        hidden=tuple(path.absolute() for path in secret),
    )


def _redirected() -> Iterator[Path]:
    """Yield the files that stdout and stderr go to."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            path = Path("/proc/self/fd", str(descriptor)).readlink()
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and path.is_file():
                yield path


def _find_sandbox(mode: str) -> Sandbox | None:
    if mode == OFF:
        return None
    try:
        sandbox = find_sandbox()
    except NoSandboxError as error:
        if mode == REQUIRED:
            raise click.UsageError(f"--sandbox required: {error}") from None
        _warn(f"programs run without a sandbox, and can read and write what you can: {error}")
        return None
    if sandbox.lacks and mode == REQUIRED:
        raise click.UsageError(f"--sandbox required: {sandbox.lacks}")
    if sandbox.lacks:
        _warn(f"programs run in a sandbox that holds less than it should: {sandbox.lacks}")
    return sandbox


def _warn(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
