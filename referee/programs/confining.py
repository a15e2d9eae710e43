"""What launched programs are held to, as an organiser wants it and as this machine can do it."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from .control_groups import clear_groups, find_control_groups
from .file_view import PrivateNames
from .folder_image import FolderImages
from .fork_server import ForkServer
from .limits import ProgramLimits
from .program import Confinement
from .sandbox import NoSandboxError, Sandbox, find_sandbox


class SandboxMode(StrEnum):
    """Whether programs run in a sandbox."""

    REQUIRED = "required"
    AUTO = "auto"
    """Where this machine has one."""
    OFF = "off"


def find_confinement(
    mode: str,
    limits: ProgramLimits,
    *,
    hidden: Iterable[Path],
    private_names: PrivateNames,
    warn: Callable[[str], None],
) -> Confinement:
    """Find out what programs can be held to, and clear up after referees that were killed.

    Args:
        mode: one of `SandboxMode`.
        limits: of one program.
        hidden: what no program may read; files that this process prints into are added.
        private_names: tells what no program may read wherever it lies.
        warn: told of what is less than it could be.

    Raises:
        NoSandboxError: a sandbox is required and this machine has none, or one that holds less than it should.
    """
    groups = find_control_groups()
    clear_groups(groups)
    return Confinement(
        sandbox=_find_sandbox(mode, warn),
        groups=groups,
        limits=limits,
        hidden=tuple(path.absolute() for path in (*hidden, *_redirected())),
        private_names=private_names,
        images=FolderImages(),
        fork_server=ForkServer(),
    )


def _redirected() -> Iterator[Path]:
    """Yield the files that stdout and stderr go to."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            path = Path("/proc/self/fd", str(descriptor)).readlink()
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and path.is_file():
                yield path


def _find_sandbox(mode: str, warn: Callable[[str], None]) -> Sandbox | None:
    if mode == SandboxMode.OFF:
        return None
    try:
        sandbox = find_sandbox()
    except NoSandboxError as error:
        if mode == SandboxMode.REQUIRED:
            raise
        warn(f"programs run without a sandbox, and can read and write what you can: {error}")
        return None
    if sandbox.lacks and mode == SandboxMode.REQUIRED:
        raise NoSandboxError(sandbox.lacks.what, sandbox.lacks.remedy)
    if sandbox.lacks:
        warn(f"programs run in a sandbox that holds less than it should: {sandbox.lacks}")
    return sandbox
