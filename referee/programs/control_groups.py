"""Control groups: one for each launched program. It contains all processes that the program starts."""

# Both versions of the kernel's control groups are supported. A group is made below the referee's own group, so that the
# limits of the referee also hold for its programs. If the kernel forbids this, it is made next to that group.
#
# A referee that is killed leaves its groups behind, and the next referee removes them. It recognises them by their
# names. A name contains the number of the process, its start time (since numbers are used again), and its namespace.
# Processes of another container can't be seen from here, so their groups must be left alone.

import contextlib
import itertools
import os
import re
import signal
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

from msgspec import Struct

from ..files.tree import MIB
from .limits import CLEAR_S, ProgramLimits

PREFIX = "referee-"
_MARK = re.compile(re.escape(PREFIX) + r"([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)-")
_START_FIELD = 19
"""Index of the start time, in clock ticks, among the fields of /proc/PID/stat after the program's name."""


def own_prefix() -> str:
    """Return the first part of the names of this process's groups and scratch folders."""
    return _prefix(os.getpid())


@cache
def _prefix(pid: int) -> str:
    return f"{PREFIX}{_namespace():x}-{pid:x}-{_start_tick(pid) or 0:x}-"


def is_left_behind(name: str) -> bool:
    """Return whether a name of a group or scratch folder belongs to a process that no longer exists."""
    mark = _MARK.match(name)
    if mark is None:
        return False
    namespace, pid, tick = (int(part, 16) for part in mark.groups())
    return namespace == _namespace() and _start_tick(pid) != tick


def _namespace() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _start_tick(pid: int) -> int | None:
    """Return the start time of a process in clock ticks; None if there is no process with this number."""
    try:
        return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[_START_FIELD])
    except (OSError, ValueError, IndexError):
        return None


ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")
"""Controllers in the order in which a program joins their groups. The first group contains all its processes.

`cpu` gets no limit: the kernel shares the cores equally between groups, however many threads each group has.
"""
_RUNS_THE_PROGRAM = 3
"""Number of the referee's helper processes that start a program and wait for it; the kernel counts them, too."""
_BRIEFLY_S = 0.002
"""Time within which most groups are removed."""
_AT_ONCE = 8
"""Number of groups that are removed at the same time."""
_READ_BYTES = 65_536
_numbers = itertools.count(1)

JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 126; shift; done; shift; exec "$@"'
"""Shell command that joins groups and then becomes the program, so that the program is in the groups from the start."""


class ControlGroups(Struct, frozen=True, kw_only=True):
    """The control groups below which the groups of programs are made."""

    version: int
    folders: dict[str, Path]
    """Controller -> folder in which the groups of programs can be made. A missing controller can't be used."""


def find_control_groups() -> ControlGroups:
    """Find out, by trying, where this process may make groups."""
    try:
        lines = [line.split(":", 2) for line in OWN.read_text().splitlines()]
    except OSError:
        lines = []
    version = 2 if (ROOT / "cgroup.controllers").exists() else 1
    folders = _folders_v2(lines) if version == 2 else _folders_v1(lines)
    usable = {name: folder for name, folder in folders.items() if _can_make(folder)}
    return ControlGroups(version=version, folders=usable)


def _folders_v1(lines: list[list[str]]) -> dict[str, Path]:
    """Return this process's group for each controller; in a container, this is the mounted group."""
    folders = {}
    for _, names, path in lines:
        for name in set(names.split(",")) & set(CONTROLLERS):
            inner = ROOT / name / path.lstrip("/")
            folders[name] = inner if inner.is_dir() else ROOT / name
    return {name: folders[name] for name in CONTROLLERS if name in folders and folders[name].is_dir()}


def _folders_v2(lines: list[list[str]]) -> dict[str, Path]:
    """Return the nearest group that passes its controllers on to its children; a group with processes can't do this."""
    paths = [path for _, names, path in lines if not names]
    this = ROOT / paths[0].lstrip("/") if paths else ROOT
    for folder in (this, this.parent) if this != ROOT else (ROOT,):
        with contextlib.suppress(OSError):
            passed_on = (folder / "cgroup.subtree_control").read_text().split()
            if "memory" in passed_on or "pids" in passed_on:
                return {name: folder for name in CONTROLLERS if name in passed_on}
    return {}


def _can_make(folder: Path) -> bool:
    # Permissions are no sure sign: in containers, a folder may look writable, but the kernel refuses a new group.
    trial = folder / f"{own_prefix()}trial"
    try:
        trial.mkdir()
        trial.rmdir()
    except OSError:
        return False
    return os.access(folder / "cgroup.procs", os.W_OK)


class Group:
    """The control groups of one program.

    Args:
        groups: the groups below which the new groups are made.
        limits: limits of the program.

    Raises:
        OSError: the groups can't be made.
    """

    def __init__(self, groups: ControlGroups, limits: ProgramLimits) -> None:
        self._version = groups.version
        name = f"{own_prefix()}{next(_numbers)}"
        self._folders = {controller: f"{folder}/{name}" for controller, folder in groups.folders.items()}
        self.paths = list(dict.fromkeys(self._folders.values()))
        """Folders of the groups: one for each controller, or a single one for all."""
        self._most = {"memory": limits.memory_mib * MIB, "pids": limits.processes + _RUNS_THE_PROGRAM}
        """Limit by controller: bytes, and number of processes."""
        self._removal: Future[bool] | None = None
        try:
            for path in self.paths:
                os.mkdir(path)  # noqa: PTH102  # Path objects would cost more than the call
            self._write_limits()
        except OSError:
            remove_groups(self.paths)
            raise

    def _write_limits(self) -> None:
        memory, processes = map(str, self._most.values())
        if "memory" in self._folders:
            folder = self._folders["memory"]
            names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
            limit, swap = names if self._version == 1 else ("memory.max", "memory.swap.max")
            _write(f"{folder}/{limit}", memory, os.O_CREAT)
            with contextlib.suppress(OSError):  # some kernels do not count swap
                _write(f"{folder}/{swap}", memory if self._version == 1 else "0", os.O_CREAT)
        if "pids" in self._folders:
            _write(f"{self._folders['pids']}/pids.max", processes, os.O_CREAT)

    def joining(self) -> list[str]:
        """Return the beginning of a command line that joins the groups first."""
        return ["/bin/sh", "-c", JOIN, "sh", *self.paths, "--"]

    def open_lists(self) -> list[int]:
        """Open the process lists of the groups. A process that writes 0 into all of them joins the groups."""
        return [os.open(f"{path}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for path in self.paths]

    @property
    def ran_out_of_memory(self) -> bool:
        """True if the kernel has killed a process of the group because memory ran out."""
        if "memory" not in self._folders:
            return False
        name = "memory.oom_control" if self._version == 1 else "memory.events"
        with contextlib.suppress(OSError):
            words = [line.split() for line in _read(f"{self._folders['memory']}/{name}").splitlines()]
            return any(word[0] == "oom_kill" and word[1] != "0" for word in words)
        return False

    def list_members(self) -> list[int]:
        """Return the numbers of the group's processes."""
        return list_members(self.paths[0])

    def uses_at_least(self, share: float) -> bool:
        """Return whether the program uses this share of its memory or of its processes; False if it is not known."""
        files = {"memory": "memory.usage_in_bytes" if self._version == 1 else "memory.current", "pids": "pids.current"}
        with contextlib.suppress(OSError):  # the groups are gone
            return any(
                int(_read(f"{self._folders[controller]}/{file}")) >= share * self._most[controller]
                for controller, file in files.items()
                if controller in self._folders
            )
        return False

    def signal(self, number: signal.Signals) -> None:
        """Send a signal once to every process of the group.

        A process may fork in the meantime, so the list is read again until there are no new processes. For SIGCONT this
        is not needed, because a new process comes from one that is already running again.
        """
        signalled: set[int] = set()
        while new := {*list_members(self.paths[0])} - signalled:
            signalled |= new
            for pid in new:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            if number is signal.SIGCONT:
                break

    def kill(self) -> None:
        """Kill every process of the group."""
        _kill(self.paths)

    def end(self) -> None:
        """Kill every process of the group, and wait until the groups are removed."""
        _end([self.paths])

    def remove(self) -> bool:
        """Begin to remove the groups, if this has not begun yet.

        Returns:
            True if the groups are gone. This can take a moment: processes must end, and the kernel forgets large files.
        """
        if self._removal is None:
            self._removal = _removal_threads().submit(remove_groups, self.paths)
        with contextlib.suppress(TimeoutError):
            is_gone = self._removal.result(_BRIEFLY_S)
            self._removal = None
            return is_gone
        return False


@cache
def _removal_threads() -> ThreadPoolExecutor:
    """Return the threads that remove groups.

    To remove a group can take long if its program has read large files, and the event loop must not wait.
    """
    return ThreadPoolExecutor(_AT_ONCE, "removal of control groups")


def remove_groups(paths: Sequence[str]) -> bool:
    """Remove the groups of one program if no process is left in them; return whether all are gone."""
    if not _read_list(paths[0]):
        with contextlib.suppress(OSError):
            _drop_cache(paths[0])
        for path in paths:
            with contextlib.suppress(OSError):
                os.rmdir(path)  # noqa: PTH106  # as above
    return _are_gone(paths)


def _are_gone(paths: Sequence[str]) -> bool:
    return not any(map(os.path.exists, paths))


def _drop_cache(path: str) -> None:
    """Make the kernel drop the files from its cache that only this group has read.

    Otherwise a program in a later match could find out which files this one has read, because cached files are faster.
    """
    try:
        _write(f"{path}/memory.force_empty", "0")
    except FileNotFoundError:
        _write(f"{path}/memory.reclaim", _read(f"{path}/memory.current"))


def _end(programs: Sequence[Sequence[str]]) -> None:
    """Kill all processes in the groups of some programs, and remove the groups when the processes are gone."""
    give_up = time.monotonic() + CLEAR_S
    while (programs := [paths for paths in programs if not remove_groups(paths)]) and time.monotonic() < give_up:
        for paths in programs:
            _kill(paths)
        time.sleep(0.01)


def _kill(paths: Sequence[str]) -> None:
    """Kill all processes in the groups of one program."""
    if not _read_list(paths[0]):
        return
    # Forbid new processes first, because a program might fork faster than its processes are killed.
    for path in paths:
        for name, text in (("pids.max", "0"), ("cgroup.kill", "1")):
            with contextlib.suppress(OSError):  # not every kernel has both files
                _write(f"{path}/{name}", text)
    for pid in list_members(paths[0]):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def list_members(path: str) -> list[int]:
    """Return the processes of a group. Those of other namespaces are left out, because their number is 0 here."""
    return [pid for line in _read_list(path).split() if (pid := int(line))]


def _read_list(path: str) -> str:
    """Return the list of a group's processes; empty if the group is gone."""
    try:
        return _read(f"{path}/cgroup.procs")
    except OSError:
        return ""


def _read(path: str) -> str:
    """Read one of the kernel's files, without buffers, because each start of a program accesses dozens of them."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        pieces = []
        while piece := os.read(descriptor, _READ_BYTES):
            pieces.append(piece)
    finally:
        os.close(descriptor)
    return b"".join(pieces).decode()


def _write(path: str, text: str, flags: int = 0) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | flags)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def clear_groups(groups: ControlGroups) -> None:
    """Kill the processes in groups of referees that no longer exist, and remove the groups."""
    programs = defaultdict[str, list[str]](list)
    for folder in dict.fromkeys(groups.folders.values()):
        for path in folder.glob(f"{PREFIX}*"):
            if is_left_behind(path.name):
                programs[path.name].append(str(path))
    _end([*programs.values()])
