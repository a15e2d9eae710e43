"""What launched programs are held to, as an organiser wants it and as this machine can do it.

In a sandbox a program is shown a copy of its player's folder, in one match: nothing of it is shared with another's.
What the kernel keeps with a file, such as what of it is in memory, would otherwise be seen by the player's other seats,
and by its next match.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from ..files.copies import LeftOut, copied
from ..files.scratch import memory_for, scratch
from ..files.tree import opened_folder, walk
from .control_groups import ControlGroups, Group, clear_groups, find_control_groups
from .file_view import FileAccess, FileView, PrivateNames, is_shared, nothing_private, private_to, rustup_home
from .folder_image import FolderImages
from .fork_server import ForkServer
from .limits import ProgramLimits, limited
from .player_spec import Launch, PlayerError, telling_whose
from .sandbox import HOME, NoSandboxError, Sandbox, find_sandbox
from .starting import ProcessCommand, if_alive

_PAGE_BYTES = 4096
"""What an entry takes at least."""
CHECK_VARIABLE = "REFEREE_CHECK"
"""Marks the processes of a check that is one of many, and what they leave behind."""
_PASSED_ON = (CHECK_VARIABLE, "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT")
"""Of the referee's own environment, what a program needs to run at all; secrets stay here."""
_OUTSIDE = ("HOME", "TMPDIR")
"""Of these, what names places that a sandbox does not have."""


class SandboxMode(StrEnum):
    """Whether programs run in a sandbox."""

    REQUIRED = "required"
    AUTO = "auto"
    """Where this machine has one."""
    OFF = "off"


class Confinement(Struct, frozen=True, kw_only=True):
    """What launched programs are held to."""

    sandbox: Sandbox | None = None
    """None: they can read and write what the referee's user can."""
    groups: ControlGroups | None = None
    """None, or groups without folders: the kernel limits each process, not the whole program."""
    limits: ProgramLimits = ProgramLimits()
    hidden: tuple[Path, ...] = ()
    """Files and folders that no program may read, whatever else it is shown: records and keys."""
    private_names: PrivateNames = nothing_private
    """Tells what no program may read wherever it lies: records of other runs."""
    images: FolderImages | None = None
    """Of players' folders that were copied; None: they are read for each copy."""
    fork_server: ForkServer | None = None
    """What house players are forked from; None: each has an interpreter of its own to start."""

    @property
    def controllers(self) -> frozenset[str]:
        """What control groups hold."""
        return frozenset(self.groups.folders) if self.groups is not None else frozenset()

    def command(self, argv: Sequence[str], view: Callable[[], FileView], group: Group | None) -> ProcessCommand:
        """Return a command line that runs a program within its bounds, for `start`.

        Args:
            argv: the program by its whole path.
            view: returns what it is shown in a sandbox.
            group: the control groups that it joins.
        """
        boxed = self.sandbox is not None
        inner = limited(
            argv,
            self.limits,
            holds_memory="memory" not in self.controllers,
            counts_processes=boxed and "pids" not in self.controllers,
        )
        inner = if_alive(inner)
        command = (
            ProcessCommand(tuple(inner)) if self.sandbox is None else self.sandbox.wrapped(inner, view(), self.limits)
        )
        return command if group is None else command.within(group.joining())

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a program.

        Args:
            own: added to what is passed on.
        """
        passed_on = {key: value for key in _PASSED_ON if (value := os.environ.get(key)) is not None}
        if self.sandbox is not None:
            passed_on = {key: value for key, value in passed_on.items() if key not in _OUTSIDE}
            passed_on |= {"HOME": HOME, "RUSTUP_HOME": str(rustup_home())}
        return {**passed_on, "REFEREE_MEMORY_MIB": str(self.limits.memory_mib), **own}

    def group(self) -> Group | None:
        """Make the control groups of one program.

        Raises:
            PlayerError: they can't be made.
        """
        if self.groups is None or not self.groups.folders:
            return None
        try:
            return Group(self.groups, self.limits)
        except OSError as error:
            raise PlayerError(f"no control group can be made: {error}; see `referee doctor`") from None

    def close(self) -> None:
        """End what is kept running for programs to come."""
        if self.fork_server is not None:
            self.fork_server.close()


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


def is_copied(launch: Launch, confinement: Confinement) -> bool:
    """Tell whether a program is shown a copy: in a sandbox, unless its folder is none of the player's own."""
    return confinement.sandbox is not None and launch.folder is not None and not is_shared(launch.where)


@contextlib.contextmanager
def own_copy(launch: Launch, confinement: Confinement, access: FileAccess) -> Iterator[Path | None]:
    """Copy a player's folder, and remove the copy at the end; a killed referee's is removed when one is next made.

    Args:
        launch: the player.
        confinement: what its program is held to.
        access: what it may not read: that is not copied.

    Returns:
        The copy; None if the program is shown its files themselves.

    Raises:
        PlayerError: the folder can't be copied.
        OSError: the disk can't take the copy.
    """
    if not is_copied(launch, confinement):
        yield None
        return
    key, hidden = _key(launch, confinement, access)
    left_out = private_to(launch.where, hidden, confinement.private_names)
    with telling_whose(launch.place, "copied"):
        place = memory_for(_size_bytes(launch.place, left_out))
    with scratch("player", place) as above:
        folder = above / "copy"
        try:
            folder.mkdir()
            with opened_folder(folder) as target, telling_whose(launch.place, "copied"):
                copied(launch.place, target, left_out=left_out, is_new=True)
                if confinement.images is not None:
                    confinement.images.hold(key, launch.place, left_out)
        except OSError as error:
            detail = f"{error.strerror}: {launch.place} is copied into {above} for a match"
            raise OSError(error.errno, f"{detail}; TMPDIR may name another place") from None
        yield folder


def quick_copy(
    launch: Launch, confinement: Confinement, access: FileAccess
) -> contextlib.AbstractContextManager[Path | None] | None:
    """Return what makes a copy at once; None if its folder is not held in memory, or has changed since.

    Args:
        launch: the player.
        confinement: what its program is held to.
        access: what it may not read.
    """
    key, _ = _key(launch, confinement, access)
    image = None if confinement.images is None else confinement.images.current(key)
    return None if image is None else image.copied()


def _key(launch: Launch, confinement: Confinement, access: FileAccess) -> tuple[tuple[object, ...], list[Path]]:
    """Return what tells a copy from any other, and what must not be in it."""
    theirs = (folder for folder in access.others if not launch.where.is_relative_to(folder))
    hidden = [*confinement.hidden, *access.hidden, *theirs]
    return (launch.place, *hidden), hidden


def _size_bytes(folder: Path, left_out: LeftOut) -> int:
    """Return how much memory a copy takes, about: a few small files are copied there in a third of the time."""
    return sum(node.status.st_size + _PAGE_BYTES for node in walk(folder, left_out=left_out))
