"""Control groups: a group for each launched program, which holds all that it starts, and is removed with it.

Both versions of the kernel's control groups will do. A group is made beneath the referee's own (or, where the kernel
forbids that, beside it), so that what holds for the referee holds for what it starts.

A referee that is killed leaves its groups behind: another one tells them by their names from what a living one needs. A
name has the process and when it started, for numbers of processes come back, and the namespace in which they count:
another container's processes can't be seen from here, and are nobody's to end.
"""

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
from .limits import ProgramLimits

PREFIX = "referee-"
_MARK = re.compile(re.escape(PREFIX) + r"([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)-")
_STARTED = 19
"""Among the fields behind the program's name: the clock tick at which the process began."""


def own_prefix() -> str:
    """Return how the name of everything begins that goes with this process."""
    return _prefix(os.getpid())


@cache
def _prefix(pid: int) -> str:
    return f"{PREFIX}{_namespace():x}-{pid:x}-{_started(pid) or 0:x}-"


def is_left_behind(name: str) -> bool:
    """Tell whether a name is one of a process that is no more."""
    mark = _MARK.match(name)
    if mark is None:
        return False
    namespace, pid, started = (int(part, 16) for part in mark.groups())
    return namespace == _namespace() and _started(pid) != started


def _namespace() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _started(pid: int) -> int | None:
    """Return when a process began; None if there is none of that number."""
    try:
        return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[_STARTED])
    except (OSError, ValueError, IndexError):
        return None


ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")
"""In the order in which a program joins their groups, so that the first one that there is has all of it.

The last one has no limit: in a group of its own, a program with many threads gets no more of a core than another.
"""
_RUNS_THE_PROGRAM = 3
"""Processes that start a program and wait for it: they count, but are not the player's."""
CLEAR_S = 5.0
"""How long what was killed may take to be gone."""
_BRIEFLY_S = 0.002
"""How long it is waited for that groups are removed: most are in that time."""
_AT_ONCE = 8
"""Groups that are removed at the same time."""
_READ_BYTES = 65_536
_numbers = itertools.count(1)

JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 126; shift; done; shift; exec "$@"'
"""Joins groups, then becomes the program: from the first instant, nothing of the program is outside."""


class ControlGroups(Struct, frozen=True, kw_only=True):
    """The control groups beneath which those of programs are made."""

    version: int
    folders: dict[str, Path]
    """Controller -> the group beneath which a program's group can be made; what is missing can't be enforced."""


def find_control_groups() -> ControlGroups:
    """Find out, by trying, where this process may make groups."""
    try:
        lines = [line.split(":", 2) for line in OWN.read_text().splitlines()]
    except OSError:
        lines = []
    version = 2 if (ROOT / "cgroup.controllers").exists() else 1
    found = _second(lines) if version == 2 else _first(lines)
    return ControlGroups(version=version, folders={name: folder for name, folder in found.items() if _can_make(folder)})


def _first(lines: list[list[str]]) -> dict[str, Path]:
    """Return this process's group of each controller; in a container, it is what is mounted."""
    found = {}
    for _, names, path in lines:
        for name in set(names.split(",")) & set(CONTROLLERS):
            inner = ROOT / name / path.lstrip("/")
            found[name] = inner if inner.is_dir() else ROOT / name
    return {name: found[name] for name in CONTROLLERS if name in found and found[name].is_dir()}


def _second(lines: list[list[str]]) -> dict[str, Path]:
    """Return the nearest group that hands its controllers on: a group with processes of its own may not."""
    paths = [path for _, names, path in lines if not names]
    own = ROOT / paths[0].lstrip("/") if paths else ROOT
    for folder in (own, own.parent) if own != ROOT else (ROOT,):
        with contextlib.suppress(OSError):
            handed_on = (folder / "cgroup.subtree_control").read_text().split()
            if "memory" in handed_on or "pids" in handed_on:
                return {name: folder for name in CONTROLLERS if name in handed_on}
    return {}


def _can_make(folder: Path) -> bool:
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
        groups: where to make them.
        limits: of the program.

    Raises:
        OSError: they can't be made.
    """

    def __init__(self, groups: ControlGroups, limits: ProgramLimits) -> None:
        self._version = groups.version
        name = f"{own_prefix()}{next(_numbers)}"
        self._folders = {controller: f"{folder}/{name}" for controller, folder in groups.folders.items()}
        self._paths = list(dict.fromkeys(self._folders.values()))
        self._removal: Future[bool] | None = None
        try:
            for path in self._paths:
                os.mkdir(path)  # noqa: PTH102  # paths are text here: more is done to make objects of them
            self._write_limits(limits)
        except OSError:
            _removed(self._paths)
            raise

    def _write_limits(self, limits: ProgramLimits) -> None:
        memory, processes = str(limits.memory_mib * MIB), str(limits.processes + _RUNS_THE_PROGRAM)
        if "memory" in self._folders:
            folder = self._folders["memory"]
            names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
            limit, swap = names if self._version == 1 else ("memory.max", "memory.swap.max")
            _write(f"{folder}/{limit}", memory, os.O_CREAT)
            with contextlib.suppress(OSError):  # a kernel that does not count swap
                _write(f"{folder}/{swap}", memory if self._version == 1 else "0", os.O_CREAT)
        if "pids" in self._folders:
            _write(f"{self._folders['pids']}/pids.max", processes, os.O_CREAT)

    def joining(self) -> list[str]:
        """Return what goes before a command line, so that it joins the groups before all else."""
        return ["/bin/sh", "-c", JOIN, "sh", *self._paths, "--"]

    def opened(self) -> list[int]:
        """Open the lists of its processes: who writes 0 into all of them, joins the groups."""
        return [os.open(f"{path}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for path in self._paths]

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed something in here for want of memory."""
        if "memory" not in self._folders:
            return False
        name = "memory.oom_control" if self._version == 1 else "memory.events"
        with contextlib.suppress(OSError):
            words = [line.split() for line in _read(f"{self._folders['memory']}/{name}").splitlines()]
            return any(word[0] == "oom_kill" and word[1] != "0" for word in words)
        return False

    def is_filled(self, share: float) -> bool:
        """Tell whether so much of the memory or of the processes that are allowed is in use."""
        return any(_use(path, self._version) >= share for path in self._paths)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to everything in here, and to what is born meanwhile, unless that may go on anyway."""
        told: set[int] = set()
        while new := {*_members(self._paths[0])} - told:
            told |= new
            for pid in new:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            if number is signal.SIGCONT:
                break

    def kill(self) -> None:
        """Kill everything in here, whoever started it."""
        _kill(self._paths)

    def end(self) -> None:
        """Kill everything in here, and wait until the groups can be removed."""
        _end([self._paths])

    def remove(self) -> bool:
        """Begin to remove the groups, unless that has begun.

        Returns:
            Whether nothing is left; what is being killed may take a moment to be gone, and large files to be forgotten.
        """
        if self._removal is None:
            self._removal = _removing().submit(_removed, self._paths)
        with contextlib.suppress(TimeoutError):
            is_gone = self._removal.result(_BRIEFLY_S)
            self._removal = None
            return is_gone
        return False


@cache
def _removing() -> ThreadPoolExecutor:
    """Return the threads that remove groups: what a program has read may be much, and the loop must not wait for it."""
    return ThreadPoolExecutor(_AT_ONCE, "removal of control groups")


def _use(path: str, version: int) -> float:
    """Return how much of what a group allows is in use, of the larger share; 0 of what it has no limit of."""
    memory = ("memory.usage_in_bytes", "memory.limit_in_bytes") if version == 1 else ("memory.current", "memory.max")
    found = [0.0]
    for used, most in (memory, ("pids.current", "pids.max")):
        with contextlib.suppress(OSError, ValueError):
            found.append(int(_read(f"{path}/{used}")) / int(_read(f"{path}/{most}")))
    return max(found)


def _removed(paths: Sequence[str]) -> bool:
    """Remove the groups of one program if nothing runs in them; tell whether none is left."""
    if not _listed(paths[0]):
        with contextlib.suppress(OSError):
            _forget(paths[0])
        for path in paths:
            with contextlib.suppress(OSError):
                os.rmdir(path)  # noqa: PTH106  # as above
    return _are_gone(paths)


def _are_gone(paths: Sequence[str]) -> bool:
    return not any(map(os.path.exists, paths))


def _forget(path: str) -> None:
    """Have the kernel drop from memory the files that this group alone has read: how fast one is read tells of that."""
    try:
        _write(f"{path}/memory.force_empty", "0")
    except FileNotFoundError:
        _write(f"{path}/memory.reclaim", _read(f"{path}/memory.current"))


def _end(programs: Sequence[Sequence[str]]) -> None:
    """Kill what is in the groups of some programs, and remove them once all of it is gone."""
    give_up = time.monotonic() + CLEAR_S
    while (programs := [paths for paths in programs if not _removed(paths)]) and time.monotonic() < give_up:
        for paths in programs:
            _kill(paths)
        time.sleep(0.01)


def _kill(paths: Sequence[str]) -> None:
    """Kill what is in the groups of one program, if anything is, and let nothing be born there meanwhile."""
    if not _listed(paths[0]):
        return
    for path in paths:
        for name, text in (("pids.max", "0"), ("cgroup.kill", "1")):
            with contextlib.suppress(OSError):  # not every kernel has it
                _write(f"{path}/{name}", text)
    for pid in _members(paths[0]):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _members(path: str) -> list[int]:
    """Return the processes of a group; those of other namespaces, which have no number here, are left out."""
    return [pid for line in _listed(path).split() if (pid := int(line))]


def _listed(path: str) -> str:
    """Return the list of a group's processes; empty if the group is gone."""
    try:
        return _read(f"{path}/cgroup.procs")
    except OSError:
        return ""


def _read(path: str) -> str:
    """Return what one of the kernel's files says: a start of a program reads and writes dozens, without buffers."""
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
    """Kill what is still running in groups of referees that are no more, then remove the groups."""
    programs = defaultdict[str, list[str]](list)
    for folder in dict.fromkeys(groups.folders.values()):
        for path in folder.glob(f"{PREFIX}*"):
            if is_left_behind(path.name):
                programs[path.name].append(str(path))
    _end([*programs.values()])
