"""The command line of bubblewrap that shows a program its own folder and the system, and nothing else of this machine.

What holds inside: no network but the referee's socket, no other process to be seen, nothing to be written but an empty
home and /tmp, no capability, no user namespace of its own; everything ends with the first process.

Of /proc, a program is not shown what the kernel counts for the whole machine. Such a number carries words: one program
has it count, another reads it, if need be in a later match. What runtimes ask for at their start is there all the same,
and says the same at all times. One file is hidden because all cores work for whoever reads it: sys/vm/stat_refresh.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..errors import RemediableError
from ..files.tree import MIB
from .file_view import SETTINGS, SYSTEM, FileView, is_within, own_runtime, real_place
from .limits import ProgramLimits, found_program, without_dumps
from .starting import ProcessCommand, in_memory, join_new_keyring, keyctl_number
from .system_calls import ABSENT, REFUSALS, REFUSALS_OF_BUILDS, NoFilterError, system_call_filter

HOME = "/home/player"
SOCKET = "/run/referee.sock"
"""Where the program finds the referee, whatever the socket is called outside."""
_TMP, _SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108  # the program's own, empty
SHARED_MEMORY_MIB = 16
"""Python's semaphores and shared memory of small players."""
_ANY_COPY = Path("/", secrets.token_hex(16))
"""Stands for a copy where it is all one which; nothing else is called that."""
_TRIAL_S = 5.0
_TRIAL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(ctypes.c_long(int(sys.argv[1])), ctypes.c_int(0), ctypes.c_long(-3), ctypes.c_long(0))
print(os.strerror(ctypes.get_errno()))
"""
"""Asks for its session keyring."""
_REFUSED = os.strerror(ABSENT)
_FILTER_IT = "it takes a kernel with CONFIG_SECCOMP_FILTER"
MORE_KEYS = "raise the kernel's limits: `sysctl kernel.keys.maxkeys=2000`"
_GET_IT = "install bubblewrap 0.8 or newer (Debian, Ubuntu, Fedora, Arch: the package bubblewrap)"
_LET_IT = "let users make user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu also "
_LET_IT += "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, allow them to it"


class NoSandboxError(RemediableError):
    """This machine has no sandbox, or none that holds what it should."""


class Sandbox(Struct, frozen=True, kw_only=True):
    """A bubblewrap that works on this machine."""

    program: str
    """Its path."""
    is_filtered: bool = False
    """Whether a filter refuses programs inside calls of the kernel; else nothing is that it does not refuse anyway."""
    lacks: RemediableError | None = None
    """Why programs are held to less than they should be; None: nothing is missing."""

    def wrapped(self, argv: Sequence[str], view: FileView, limits: ProgramLimits) -> ProcessCommand:
        """Return a command line that runs a program inside.

        Only that program stands there for the program to see: what is shown and hidden stays in a descriptor.

        Args:
            argv: the program.
            view: what it is shown.
            limits: how much it may put into its home and /tmp.
        """
        options: list[str] = []
        descriptors = []
        if self.is_filtered:
            descriptors.append(
                in_memory(system_call_filter(REFUSALS if view.workspace is None else REFUSALS_OF_BUILDS))
            )
            options += ["--seccomp", str(descriptors[-1])]
        for path, content in _shown_of_kernel().items():
            descriptors.append(in_memory(content))
            options += ["--ro-bind-data", str(descriptors[-1]), path]
        content = _listed(_namespaces(view)) + _same_for_all(limits.tmp_mib) + _own(view) + _listed(options)
        descriptors.append(in_memory(content))
        box = without_dumps([self.program, "--args", str(descriptors[-1]), "--", *argv])
        boxed = ProcessCommand(tuple(box), tuple(descriptors))
        return (
            boxed.within(_with_devices_locked())
            if os.geteuid() == 0 and not (view.workspace and view.workspace.users)
            else boxed
        )


def _listed(options: Iterable[str]) -> bytes:
    """Return options as bubblewrap reads them."""
    return b"".join(os.fsencode(option) + b"\0" for option in options)


@cache
def _same_for_all(tmp_mib: int) -> bytes:
    """Return the options that do not depend on the program; the system stays as it is while matches are played."""
    return _listed(
        ("--die-with-parent", "--new-session", "--hostname", "player", *_system(), *_own_places(str(tmp_mib * MIB)))
    )


def _own(view: FileView) -> bytes:
    """Return the options that show a program what is its own."""
    if view.own_copy is None:
        places = _listed(_places(view))
    else:
        same = replace(view, socket=None, told=None, own_copy=_ANY_COPY)
        places = os.fsencode(view.own_copy).join(_options_around_copy(same))
    socket = () if view.socket is None else ("--ro-bind", str(view.socket), SOCKET)
    return places + _listed((*socket, "--remount-ro", "/", "--chdir", str(view.where)))


@lru_cache(maxsize=256)
def _options_around_copy(view: FileView) -> Sequence[bytes]:
    """Return the options before and behind the place of a program's copy: from match to match, they are the same."""
    return _listed(_places(view)).split(os.fsencode(_ANY_COPY))


def _with_devices_locked() -> list[str]:
    """Return what stands before bubblewrap so that root can't change the times and modes of the machine's devices.

    A read-only place is the one thing that keeps their owner from that, and bubblewrap shows no device in such a place.
    """
    own_mounts = [found_program("unshare") or "unshare", "--user", "--map-root-user", "--mount"]
    return [*own_mounts, "/bin/sh", "-c", 'mount --rbind -o ro /dev /dev && exec "$@"', "sh"]


def _namespaces(view: FileView) -> Iterator[str]:
    if view.told is not None:
        yield from ("--info-fd", str(view.told))
    workspace = view.workspace
    if workspace is None or workspace.users is None:
        yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
        return
    yield from ("--userns", str(workspace.users), "--cap-drop", "ALL")
    yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from (f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try"))


def _system() -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    for pattern in SETTINGS:
        for path in sorted(Path("/etc").glob(pattern)):
            yield from (*_passable(path), "--ro-bind-try", str(path), str(path))


def _passable(path: Path) -> Iterator[str]:
    """Let everybody pass the folders above; of its own accord, bubblewrap lets its own user alone."""
    for above in reversed(path.parents):
        yield from ("--dir", str(above))


def _own_places(size: str) -> Iterator[str]:
    yield from ("--dev", "/dev", "--size", str(SHARED_MEMORY_MIB * MIB), "--tmpfs", _SHARED_MEMORY)
    # no terminals: what is written to one passes through threads of the kernel's, which no control group is charged for
    yield from ("--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts", "--remount-ro", "/dev")
    yield from ("--proc", "/proc")
    for path in _hidden_of_kernel():
        yield from ("--ro-bind", "/dev/null", path) if Path(path).is_file() else ("--tmpfs", path, "--remount-ro", path)
    # read-only: a referee that runs as root is root in there, too, and the kernel's settings ask for no capability
    yield from ("--remount-ro", "/proc")
    yield from ("--size", size, "--tmpfs", _TMP, "--size", size, "--tmpfs", HOME, "--dir", "/run")


def _places(view: FileView) -> Iterator[str]:
    """Show and hide, an outer folder before what is in it; what is covered is closed last: something may lie inside.

    What a program is not shown needs no cover, and gets none: covers need a place.
    """
    steps = {path: (*_passable(path), "--ro-bind", str(path), str(path)) for path in view.shown}
    steps |= _working_directory(view)
    real = {path: real_place(path) for path in view.shown if path.is_dir()}
    if view.workspace is not None or view.own_copy is not None:
        real.pop(view.where, None)  # it has only what is copied into it
    real |= {path: path for path in map(Path, SYSTEM)}
    closed = []
    for folder, names in view.sifted:
        for inside in _inside(folder, real):
            steps[inside] = ("--tmpfs", str(inside))
            steps = {inside / name: _same(folder / name, inside / name) for name in names} | steps
            closed.append(inside)
    for path in set(view.hidden):
        for inside in _inside(path, real) if path.exists() else ():
            steps[inside] = ("--tmpfs", str(inside)) if path.is_dir() else ("--ro-bind", "/dev/null", str(inside))
            closed += [inside] if path.is_dir() else []
    for path in sorted(steps):
        yield from steps[path]
    for path in sorted(closed):
        yield from ("--remount-ro", str(path))


def _working_directory(view: FileView) -> dict[Path, tuple[str, ...]]:
    """Return the step that shows the working directory, unless it is shown with the rest."""
    where = str(view.where)
    if view.own_copy is not None:
        return {view.where: (*_passable(view.where), "--ro-bind", str(view.own_copy), where)}
    if view.workspace is not None:
        return {view.where: (*_passable(view.where), "--size", str(view.workspace.size_bytes), "--tmpfs", where)}
    return {} if is_within(view.where, view.shown) else {view.where: ("--dir", where)}


def _inside(path: Path, real: Mapping[Path, Path]) -> list[Path]:
    """Return where a path is to be seen in the sandbox, given what its places are without links."""
    return [place / path.relative_to(target) for place, target in real.items() if is_within(path, (target,))]


def _same(path: Path, inside: Path) -> tuple[str, ...]:
    """Show an entry of a folder as what it is: a link stays one, and leads to what else is shown."""
    if path.is_symlink():
        return ("--symlink", str(path.readlink()), str(inside))
    return ("--ro-bind-try", str(path), str(inside)) if path.is_file() or path.is_dir() else ()


def find_sandbox() -> Sandbox:
    """Find bubblewrap and try it, with a filter of system calls if one can be had.

    Raises:
        NoSandboxError: it is not installed, or does not work here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandboxError("bubblewrap is not installed", _GET_IT)
    sandbox = _with_filter(program)
    trouble = join_new_keyring()
    if trouble is not None and not sandbox.lacks:
        return replace(sandbox, lacks=RemediableError(f"programs have no keyring of their own: {trouble}", MORE_KEYS))
    return sandbox


def _with_filter(program: str) -> Sandbox:
    """Return a sandbox that was seen to work: with a filter that was seen to refuse, or with what is in its way."""
    try:
        system_call_filter()
        sandbox = Sandbox(program=program, is_filtered=True)
        said = _tried(sandbox)
        if said == _REFUSED:
            return sandbox
        lacks = RemediableError(f"the filter of system calls is not in force ({said})", _FILTER_IT)
    except NoFilterError as error:
        lacks = error
    except NoSandboxError as error:
        lacks = RemediableError(f"the filter of system calls can't be loaded ({error})", _FILTER_IT)
    plain = Sandbox(program=program, lacks=lacks)
    _tried(plain)
    return plain


def _tried(sandbox: Sandbox) -> str:
    """Run a program inside that tries a call which the filter refuses; return what came of it.

    Raises:
        NoSandboxError: it can't be run.
    """
    view = FileView(where=Path(_TMP), shown=own_runtime())
    argv = [sys.executable, "-I", "-S", "-c", _TRIAL, str(keyctl_number())]
    try:
        with sandbox.wrapped(argv, view, ProgramLimits()) as command:
            trial = subprocess.run(
                command.argv, pass_fds=command.pass_fds, capture_output=True, text=True, timeout=_TRIAL_S, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSandboxError(f"bubblewrap does not start: {error}", _GET_IT) from None
    if trial.returncode:
        said = trial.stderr.strip() or f"exit status {trial.returncode}"
        raise NoSandboxError(f"bubblewrap does not work here ({said})", _LET_IT if _is_new(sandbox) else _GET_IT)
    return trial.stdout.strip()


def _is_new(sandbox: Sandbox) -> bool:
    """Tell whether a bubblewrap knows the newest of the options: it says its version once it has read those before."""
    probe = [sandbox.program, "--disable-userns", "--version"]
    try:
        return subprocess.run(probe, capture_output=True, timeout=_TRIAL_S, check=False).returncode == 0
    except OSError:
        return False


_COUNTED = (
    *("buddyinfo", "diskstats", "fs", "interrupts", "key-users", "keys", "kpagecgroup", "kpagecount", "kpageflags"),
    *("pagetypeinfo", "pressure", "schedstat", "slabinfo", "softirqs", "sys/fs", "sys/kernel/pty"),
    *("sys/vm/stat_refresh", "timer_list", "uptime", "vmallocinfo", "vmstat", "zoneinfo"),
)
_NUMBER = re.compile(rb"(?<= )\d+")
_LOAD = b"0.00 0.00 0.00 1/1 1\n"
_KIB = 1024


@cache
def _hidden_of_kernel() -> tuple[str, ...]:
    """Return the files and folders that are not shown: those of this kernel that the referee's user could read."""
    return tuple(path for name in _COUNTED if os.access(path := f"/proc/{name}", os.R_OK))


@cache
def _shown_of_kernel() -> Mapping[str, bytes]:
    """Return what is shown in the place of files with such numbers: the processors and the memory that there are."""
    memory = b"".join(b"%s: %d kB\n" % (name, _memory_kib()) for name in (b"MemTotal", b"MemFree", b"MemAvailable"))
    processors = _NUMBER.sub(b"0", Path("/proc/stat").read_bytes())
    return {"/proc/loadavg": _LOAD, "/proc/meminfo": memory, "/proc/stat": processors}


def _memory_kib() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _KIB
