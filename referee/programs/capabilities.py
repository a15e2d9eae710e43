"""Examines how well this machine can confine programs. `referee doctor` tries each protection, and names remedies."""

import os
import resource
import shutil
import time
from pathlib import Path

from msgspec import Struct

from ..files.tree import MIB
from .control_groups import CONTROLLERS, find_control_groups
from .limits import ProgramLimits, find_prlimit
from .processes import can_die_with_parent, join_new_keyring
from .sandbox import KEYS_REMEDY, NoSandboxError, find_sandbox
from .system_calls import REFUSALS

FILES_A_PLAYER = 5
"""Open files for each player: its connection, its folder's lock, the pipe of its output, and two while it starts."""
OWN_FILES = 64
"""Open files of the referee itself: its libraries, records, sockets."""
PLAYERS = 64
"""Number of players at the same time: sixteen tables of four."""
FREE_MIB = 1024
"""Disk space of a tournament of ten thousand matches, at about 100 KiB a record."""
CLOCK_S = 0.001
"""Coarsest resolution of a clock that is good enough, since time limits are given in milliseconds."""


class Capability(Struct, frozen=True, kw_only=True):
    """One thing that a referee needs from its machine."""

    name: str
    is_fine: bool
    detail: str
    """Result of the trial."""
    remedy: str = ""
    """What goes wrong without it, and how to get it; empty if it is fine."""


def examine(logs: Path) -> list[Capability]:
    """Find out what this machine can enforce.

    Args:
        logs: folder of the records, which need not exist yet.
    """
    sandbox, calls = _sandbox()
    groups = _groups()
    working = {group.name for group in groups if group.is_fine}
    return [
        _namespaces(),
        sandbox,
        calls,
        _keyrings(),
        *groups,
        _process_limits(counted="control group pids" in working),
        _leftovers(is_held=sandbox.is_fine or bool(working)),
        _clock(),
        _open_files(),
        _disk(logs),
    ]


def _capability(name: str, is_fine: bool, detail: str, remedy: str) -> Capability:  # noqa: FBT001  # columns of a table
    return Capability(name=name, is_fine=is_fine, detail=detail, remedy="" if is_fine else remedy)


def _namespaces() -> Capability:
    settings = {name: text for name in _WRONG if (text := _setting(name)) is not None}
    # the other limits do not apply to root
    relevant = [name for name in settings if name.startswith("user/") or os.geteuid() != 0]
    bad = [name for name in relevant if settings[name] == _WRONG[name][0]]
    detail = ", ".join(f"{name} = {text}" for name, text in settings.items()) or "no setting to be seen"
    remedy = f"a sandbox needs them: sysctl -w {' '.join(f'{name}={_WRONG[name][1]}' for name in bad)}"
    return _capability("user namespaces", not bad, detail, remedy)


_WRONG = {
    "user/max_user_namespaces": ("0", "10000"),
    "kernel/unprivileged_userns_clone": ("0", "1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
}
"""Setting of the kernel -> (value that forbids user namespaces, value that allows them)."""


def _setting(name: str) -> str | None:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return None


def _sandbox() -> tuple[Capability, Capability]:
    """Try the sandbox, and the filter of system calls in it."""
    begun = time.monotonic()
    unfiltered = "programs in a sandbox can make every call of the kernel, and leave keys for others"
    try:
        sandbox = find_sandbox()
    except NoSandboxError as error:
        means = "without it programs can read and write what you can, keys and records included"
        missing = _capability("sandbox", False, error.what, f"{means}; {error.remedy}")
        return missing, _capability("system calls", False, "no sandbox, no filter", f"{unfiltered}; get the sandbox")
    took_ms = (time.monotonic() - begun) * 1000
    works = _capability("sandbox", True, f"{sandbox.program} works; a trial took {took_ms:.0f} ms", "")
    if not sandbox.is_filtered and sandbox.lacks is not None:
        return works, _capability("system calls", False, sandbox.lacks.what, f"{unfiltered}; {sandbox.lacks.remedy}")
    count = sum(len(refusal.calls) for refusal in REFUSALS)
    return works, _capability(
        "system calls", True, f"{count} are refused in the sandbox; a trial was refused keyctl", ""
    )


def _keyrings() -> Capability:
    trouble = join_new_keyring()
    detail = trouble or "each program has a session keyring of its own"
    return _capability("keyrings", trouble is None, detail, f"programs could read what is in yours; {KEYS_REMEDY}")


_CONSEQUENCE = {
    "memory": "the kernel limits the memory of each process by itself, and does not report it; by how fast a file "
    "of the system is read, a program can find out whether one read it in an earlier match",
    "pids": "processes are counted for each user in a sandbox, and not at all for root or without one",
    "cpu": "a program with many threads gets more of the cores than the others",
}


def _groups() -> list[Capability]:
    groups = find_control_groups()
    get_it = "run the referee as root, or with systemd as `systemd-run --user --scope referee ...`"
    get_it += "; in a container, let it write to /sys/fs/cgroup"
    capabilities = []
    for name in CONTROLLERS:
        folder = groups.folders.get(name)
        detail = f"version {groups.version}, {folder or 'not writable or not there'}"
        remedy = f"without it {_CONSEQUENCE[name]}; {get_it}"
        capabilities.append(_capability(f"control group {name}", folder is not None, detail, remedy))
    return capabilities


def _process_limits(*, counted: bool) -> Capability:
    limits = ProgramLimits()
    memory = f"{limits.memory_mib} MiB of memory (--memory)"
    detail = f"{memory}, {limits.cpu_s} s of CPU, {limits.file_mib} MiB a file, {limits.open_files} open files"
    if find_prlimit() is None:
        return _capability("process limits", False, "there is no prlimit", "install util-linux")
    uncounted = os.geteuid() == 0 and not counted
    remedy = "root's processes are not counted: run the referee as another user, or see control group pids"
    return _capability("process limits", not uncounted, detail, remedy)


def _leftovers(*, is_held: bool) -> Capability:
    name = "nothing is left behind"
    if not is_held:
        remedy = "a process that changes it can outlive its match; get the sandbox or a control group"
        detail = "a process that leaves its group is found only by a variable in its environment"
        return _capability(name, False, detail, remedy)
    detail = "everything that a program starts ends with it, and with the referee"
    remedy = "there is no setpriv, so programs outlive a referee that is killed; install util-linux"
    return _capability(name, can_die_with_parent(), detail, remedy)


def _clock() -> Capability:
    tick_s = time.get_clock_info("monotonic").resolution
    remedy = "time limits are only as fine as the clock; use another machine for short ones"
    return _capability("clock", tick_s <= CLOCK_S, f"ticks every {tick_s * 1e9:.0f} ns", remedy)


def _open_files() -> Capability:
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_endless = allowed == resource.RLIM_INFINITY
    players = PLAYERS if is_endless else max(0, (allowed - OWN_FILES) // FILES_A_PLAYER)
    detail = "no limit" if is_endless else f"{allowed}, enough for {players} players at once"
    remedy = f"{PLAYERS} players need {OWN_FILES + PLAYERS * FILES_A_PLAYER}: ulimit -n {most if most > 0 else 4096}"
    return _capability("open files", players >= PLAYERS, detail, remedy)


def _disk(logs: Path) -> Capability:
    folder = next(path for path in (logs.absolute(), *logs.absolute().parents) if path.is_dir())
    free_mib = shutil.disk_usage(folder).free // MIB
    is_writable = os.access(folder, os.W_OK)
    detail = f"{free_mib} MiB free in {folder}" + ("" if is_writable else ", which is not writable")
    remedy = f"records need a folder to write to, with {FREE_MIB} MiB free: see --logs"
    return _capability("disk for records", is_writable and free_mib >= FREE_MIB, detail, remedy)
