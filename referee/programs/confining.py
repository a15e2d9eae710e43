"""The bounds of launched programs: the organiser's settings, as far as this machine can enforce them."""

# `Confinement` holds all these settings. It is passed as one value from the command line to each start of a program,
# and it applies each protection: the sandbox, the control groups, the limits of a process, and the copy of a folder.

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from ..settings import RunTerms, SandboxMode
from .control_groups import ControlGroups, Group, clear_groups, find_control_groups
from .environment import build_environment
from .file_view import FileAccess, FileView, PrivateNames, find_private, is_shared, nothing_private
from .folder_copy import FolderImages, copy_folder
from .fork_server import ForkServer
from .limits import ProgramLimits, limit_process
from .player_spec import Launch, PlayerError, blame_player
from .processes import ProcessCommand, if_alive
from .sandbox import NoSandboxError, Sandbox, find_sandbox


class Confinement(Struct, frozen=True, kw_only=True):
    """The bounds of launched programs."""

    sandbox: Sandbox | None = None
    """The sandbox. If None, programs can read and write everything that the referee's user can."""
    groups: ControlGroups | None = None
    """The control groups. If None or without folders, the kernel limits each process, not the whole program."""
    limits: ProgramLimits = ProgramLimits()
    hidden: tuple[Path, ...] = ()
    """Files and folders that no program may read, such as records and keys."""
    private_names: PrivateNames = nothing_private
    """Function that finds the names in any folder that no program may read, such as records of other runs."""
    images: FolderImages | None = None
    """Players' folders that are held in memory. If None, each copy reads the folder again."""
    fork_server: ForkServer | None = None
    """Process from which house players are forked. If None, each of them starts its own interpreter."""

    @property
    def controllers(self) -> frozenset[str]:
        """Names of the controllers whose control groups limit programs."""
        return frozenset(self.groups.folders) if self.groups is not None else frozenset()

    def command(self, argv: Sequence[str], view: Callable[[], FileView], group: Group | None) -> ProcessCommand:
        """Return a command line that runs a program within its bounds, for `start`.

        Args:
            argv: the program with its whole path, and its arguments.
            view: function that returns the files that it sees in a sandbox.
            group: the control groups that it joins.
        """
        # The command is built from the inside out: the limits of the process, the check that the referee is still
        # running, the sandbox, the groups.
        is_boxed = self.sandbox is not None
        inner = limit_process(
            argv,
            self.limits,
            holds_memory="memory" not in self.controllers,
            counts_processes=is_boxed and "pids" not in self.controllers,
        )
        inner = if_alive(inner)
        command = (
            ProcessCommand(tuple(inner)) if self.sandbox is None else self.sandbox.wrap(inner, view(), self.limits)
        )
        return command if group is None else command.within(group.joining())

    def environment(self, added: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a program.

        Args:
            added: variables for this program alone.
        """
        return build_environment(added, memory_mib=self.limits.memory_mib, is_boxed=self.sandbox is not None)

    def group(self) -> Group | None:
        """Make the control groups of one program; return None if this machine has none.

        Raises:
            PlayerError: the groups can't be made.
        """
        if self.groups is None or not self.groups.folders:
            return None
        try:
            return Group(self.groups, self.limits)
        except OSError as error:
            raise PlayerError(f"no control group can be made: {error}; see `referee doctor`") from None

    def copies(self, launch: Launch) -> bool:
        """Return whether a program sees a copy of its folder: always in a sandbox, except for a shared folder."""
        return self.sandbox is not None and launch.folder is not None and not is_shared(launch.where)

    @contextlib.contextmanager
    def copy_folder(self, launch: Launch, access: FileAccess) -> Iterator[Path | None]:
        """Copy a player's folder, and remove the copy at the end.

        Args:
            launch: the player.
            access: files that its program may not read, and that are not copied.

        Yields:
            The copy; None if the program sees the original files.

        Raises:
            PlayerError: the folder can't be copied.
            OSError: the copy can't be written.
        """
        if not self.copies(launch):
            yield None
            return
        key, hidden = self._copy_key(launch, access)
        left_out = find_private(launch.where, hidden, self.private_names)
        with copy_folder(launch.place, left_out) as folder:
            if self.images is not None:
                with blame_player(launch.place, "copied"):
                    self.images.hold(key, launch.place, left_out)
            yield folder

    def copy_from_memory(
        self, launch: Launch, access: FileAccess
    ) -> contextlib.AbstractContextManager[Path | None] | None:
        """Return a context that writes a copy from memory; None if the folder is not in memory, or has changed.

        Args:
            launch: the player.
            access: files that its program may not read.
        """
        key, _ = self._copy_key(launch, access)
        image = None if self.images is None else self.images.current(key)
        return None if image is None else image.write()

    def _copy_key(self, launch: Launch, access: FileAccess) -> tuple[tuple[object, ...], list[Path]]:
        """Return the key that identifies a copy, and the files and folders that must not be in it."""
        theirs = (folder for folder in access.others if not launch.where.is_relative_to(folder))
        hidden = [*self.hidden, *access.hidden, *theirs]
        return (launch.place, *hidden), hidden

    def close(self) -> None:
        """End the processes that are kept ready for further programs."""
        if self.fork_server is not None:
            self.fork_server.close()


def find_confinement(
    terms: RunTerms,
    *,
    hidden: Iterable[Path],
    private_names: PrivateNames,
    warn: Callable[[str], None],
) -> Confinement:
    """Find out which limits this machine can enforce on programs, and clean up after referees that were killed.

    Args:
        terms: the wanted sandbox, and the memory of one program.
        hidden: files and folders that no program may read. Files into which this process prints are added.
        private_names: function that finds the names in any folder that no program may read.
        warn: function that is called with a text about each protection that is missing or weak.

    Raises:
        NoSandboxError: a sandbox is required, but this machine has none or only an incomplete one.
    """
    groups = find_control_groups()
    clear_groups(groups)
    return Confinement(
        sandbox=_find_sandbox(terms.sandbox, warn),
        groups=groups,
        limits=ProgramLimits(memory_mib=terms.memory_mib),
        hidden=tuple(path.absolute() for path in (*hidden, *_output_files())),
        private_names=private_names,
        images=FolderImages(),
        fork_server=ForkServer(),
    )


def _output_files() -> Iterator[Path]:
    """Yield the files into which this process's stdout and stderr go."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            path = Path("/proc/self/fd", str(descriptor)).readlink()
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and path.is_file():
                yield path


def _find_sandbox(mode: SandboxMode, warn: Callable[[str], None]) -> Sandbox | None:
    if mode is SandboxMode.OFF:
        return None
    try:
        sandbox = find_sandbox()
    except NoSandboxError as error:
        if mode is SandboxMode.REQUIRED:
            raise
        warn(f"programs run without a sandbox, and can read and write what you can: {error}")
        return None
    if sandbox.lacks and mode is SandboxMode.REQUIRED:
        raise NoSandboxError(sandbox.lacks.what, sandbox.lacks.remedy)
    if sandbox.lacks:
        warn(f"programs run in a sandbox that is incomplete: {sandbox.lacks}")
    return sandbox
