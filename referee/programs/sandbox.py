"""The sandbox: a command line of bubblewrap that shows a program only its own files and the system."""

# The attacker is the author of a player, who may have written anything into it. Four aims are assumed. The player wants
# to read secrets: the organiser's files, other players' programs, the hands of other seats. It wants to harm the
# machine or the record. It wants to slow down other players, so that they are expelled. Or it wants to pass messages
# from one seat of a match to another, or from one match of a duplicate deal to the next. The organiser, the house
# players and the referee's own code are trusted. So are the kernel and bubblewrap: a hole in them is a hole in the
# sandbox.
#
# There are four protections. Each one covers gaps of the ones before it:
#
# 1. Namespaces. A program has its own file system; file_view.py says which files are in it. It is read-only, except for
#    an empty home, /tmp and shared memory, which are in memory and end with the program. The program has no network,
#    only the referee's socket. It sees only its own processes and has no capabilities. Everything in the sandbox ends
#    with its first process. The program can't make a user namespace: as root in such a namespace, it could reach those
#    parts of the kernel that had the most holes.
# 2. The filter of system calls (seccomp), in system_calls.py. Namespaces do not cover the kernel's keyrings, locks on
#    files that all can read, the cache of files, or work that the kernel does for a program in its own threads. A
#    refused call gets the answer of an older kernel, so that honest runtimes use another call instead.
# 3. The control group, in control_groups.py. It limits memory and the number of processes, gives a fair share of the
#    cores, and lists all processes, so that they can be stopped and killed. If there is none, prlimit limits each
#    process.
# 4. Hidden files of /proc. Counters for the whole machine could carry messages: one program makes them grow, and
#    another one reads them, perhaps in a later match. Files that runtimes read at their start are replaced by constant
#    ones. sys/vm/stat_refresh is hidden for another reason: to read it makes all cores work.
#
# Some attacks remain possible. Programs that run at the same time share cores, caches and the memory bus, and can
# signal by how much they use: two cooperating programs can exchange some bits. Without a control group for memory, a
# program can find out by timing which files of the system were read in an earlier match. Without a sandbox (`--sandbox
# off`), a program can do everything that the referee's user can.

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
from .environment import HOME, SOCKET
from .file_view import SETTINGS, SYSTEM, FileView, is_within, own_runtime, real_place
from .limits import ProgramLimits, find_program, forbid_dumps
from .processes import ProcessCommand, join_new_keyring, keyctl_number, open_memory
from .system_calls import ABSENT, REFUSALS, REFUSALS_OF_BUILDS, NoFilterError, system_call_filter

_TMP, _SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108  # the program's own, empty
SHARED_MEMORY_MIB = 16
"""Size of shared memory, enough for Python's semaphores and for small players."""
_ANY_COPY = Path("/", secrets.token_hex(16))
"""Placeholder for the path of a program's copy in cached options; no other path contains it."""
_TRIAL_S = 5.0
_TRIAL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(ctypes.c_long(int(sys.argv[1])), ctypes.c_int(0), ctypes.c_long(-3), ctypes.c_long(0))
print(os.strerror(ctypes.get_errno()))
"""
"""Program for a trial. It makes a call that the filter refuses (for its session keyring), and prints the answer."""
_REFUSED = os.strerror(ABSENT)
_FILTER_REMEDY = "use a kernel with CONFIG_SECCOMP_FILTER"
KEYS_REMEDY = "raise the kernel's limits: `sysctl kernel.keys.maxkeys=2000`"
_INSTALL_REMEDY = "install bubblewrap 0.8 or newer (Debian, Ubuntu, Fedora, Arch: the package bubblewrap)"
_NAMESPACE_REMEDY = "allow users to make user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu also "
_NAMESPACE_REMEDY += "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, it must be allowed"


class NoSandboxError(RemediableError):
    """This machine has no sandbox, or only an incomplete one."""


class Sandbox(Struct, frozen=True, kw_only=True):
    """A bubblewrap that works on this machine."""

    program: str
    """Path of bubblewrap."""
    is_filtered: bool = False
    """True if the filter of system calls works inside."""
    lacks: RemediableError | None = None
    """A missing protection, with its remedy; None if the sandbox is complete."""

    def wrap(self, argv: Sequence[str], view: FileView, limits: ProgramLimits) -> ProcessCommand:
        """Return a command line that runs a program in the sandbox.

        A program can read the command line of its sandbox. So this contains only the program's own command line.
        Bubblewrap reads its options, which name hidden files, from a descriptor.

        Args:
            argv: the program.
            view: the files that the program sees.
            limits: limits of its home and /tmp.
        """
        options: list[str] = []
        descriptors = []
        if self.is_filtered:
            refusals = REFUSALS if view.workspace is None else REFUSALS_OF_BUILDS
            descriptors.append(open_memory(system_call_filter(refusals)))
            options += ["--seccomp", str(descriptors[-1])]
        # The descriptors are files in memory: they are never on the disk, and vanish when they were read.
        for path, content in _kernel_files().items():
            descriptors.append(open_memory(content))
            options += ["--ro-bind-data", str(descriptors[-1]), path]
        content = (
            _encode(_namespace_options(view))
            + _common_options(limits.tmp_mib)
            + _program_options(view)
            + _encode(options)
        )
        descriptors.append(open_memory(content))
        argv = forbid_dumps([self.program, "--args", str(descriptors[-1]), "--", *argv])
        boxed = ProcessCommand(tuple(argv), tuple(descriptors))
        has_users = view.workspace is not None and view.workspace.users is not None
        return boxed.within(_lock_devices()) if os.geteuid() == 0 and not has_users else boxed


def _encode(options: Iterable[str]) -> bytes:
    """Encode options in the form in which bubblewrap reads them."""
    return b"".join(os.fsencode(option) + b"\0" for option in options)


@cache
def _common_options(tmp_mib: int) -> bytes:
    """Return the options that do not depend on the program. They are cached, as the system does not change."""
    own_places = _own_place_options(str(tmp_mib * MIB))
    return _encode(("--die-with-parent", "--new-session", "--hostname", "player", *_system_options(), *own_places))


def _program_options(view: FileView) -> bytes:
    """Return the options that show a program its own files and the referee's socket."""
    if view.own_copy is None:
        places = _encode(_place_options(view))
    else:
        same = replace(view, socket=None, info_fd=None, own_copy=_ANY_COPY)
        places = os.fsencode(view.own_copy).join(_options_around_copy(same))
    socket = () if view.socket is None else ("--ro-bind", str(view.socket), SOCKET)
    return places + _encode((*socket, "--remount-ro", "/", "--chdir", str(view.where)))


@lru_cache(maxsize=256)
def _options_around_copy(view: FileView) -> Sequence[bytes]:
    """Return the parts of the options between the paths of a program's copy. They are the same in every match."""
    return _encode(_place_options(view)).split(os.fsencode(_ANY_COPY))


def _lock_devices() -> list[str]:
    """Return a command that starts bubblewrap so that root can't change times and modes of the machine's devices.

    Only a read-only mount prevents their owner from doing this, and bubblewrap can't mount devices read-only.
    """
    new_mounts = [find_program("unshare") or "unshare", "--user", "--map-root-user", "--mount"]
    return [*new_mounts, "/bin/sh", "-c", 'mount --rbind -o ro /dev /dev && exec "$@"', "sh"]


def _namespace_options(view: FileView) -> Iterator[str]:
    if view.info_fd is not None:
        yield from ("--info-fd", str(view.info_fd))
    workspace = view.workspace
    if workspace is None or workspace.users is None:
        yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
        return
    yield from ("--userns", str(workspace.users), "--cap-drop", "ALL")
    yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    yield from (f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup-try"))


def _system_options() -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    for pattern in SETTINGS:
        for path in sorted(Path("/etc").glob(pattern)):
            yield from (*_parent_options(path), "--ro-bind-try", str(path), str(path))


def _parent_options(path: Path) -> Iterator[str]:
    """Yield options that make the folders above a path accessible to all users, not only to bubblewrap's own user."""
    for above in reversed(path.parents):
        yield from ("--dir", str(above))


def _own_place_options(size: str) -> Iterator[str]:
    yield from ("--dev", "/dev", "--size", str(SHARED_MEMORY_MIB * MIB), "--tmpfs", _SHARED_MEMORY)
    # There are no terminals: their data pass through threads of the kernel, whose work no control group counts.
    yield from ("--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts", "--remount-ro", "/dev")
    yield from ("--proc", "/proc")
    for path in _hidden_kernel_files():
        yield from ("--ro-bind", "/dev/null", path) if Path(path).is_file() else ("--tmpfs", path, "--remount-ro", path)
    # /proc is read-only, because root is also root in the sandbox, and can change /proc/sys without capabilities.
    yield from ("--remount-ro", "/proc")
    yield from ("--size", size, "--tmpfs", _TMP, "--size", size, "--tmpfs", HOME, "--dir", "/run")


def _place_options(view: FileView) -> Iterator[str]:
    """Yield the options that show and hide a program's files.

    The order matters: an outer folder comes before the files in it, and covers become read-only at the end, because
    something may be mounted inside of them. A hidden path that the program would not see anyway gets no cover.
    """
    mounts = {path: (*_parent_options(path), "--ro-bind", str(path), str(path)) for path in view.shown}
    mounts |= _working_directory(view)
    real = {path: real_place(path) for path in view.shown if path.is_dir()}
    if view.workspace is not None or view.own_copy is not None:
        real.pop(view.where, None)  # a copy has no hidden files
    real |= {path: path for path in map(Path, SYSTEM)}
    covers = []
    for folder, names in view.sifted:
        for inside in _paths_inside(folder, real):
            mounts[inside] = ("--tmpfs", str(inside))
            mounts = {inside / name: _show_entry(folder / name, inside / name) for name in names} | mounts
            covers.append(inside)
    for path in set(view.hidden):
        for inside in _paths_inside(path, real) if path.exists() else ():
            mounts[inside] = ("--tmpfs", str(inside)) if path.is_dir() else ("--ro-bind", "/dev/null", str(inside))
            covers += [inside] if path.is_dir() else []
    for path in sorted(mounts):
        yield from mounts[path]
    for path in sorted(covers):
        yield from ("--remount-ro", str(path))


def _working_directory(view: FileView) -> dict[Path, tuple[str, ...]]:
    """Return the options that show the working directory; none if it is inside of another folder that is shown."""
    where = str(view.where)
    if view.own_copy is not None:
        return {view.where: (*_parent_options(view.where), "--ro-bind", str(view.own_copy), where)}
    if view.workspace is not None:
        return {view.where: (*_parent_options(view.where), "--size", str(view.workspace.size_bytes), "--tmpfs", where)}
    return {} if is_within(view.where, view.shown) else {view.where: ("--dir", where)}


def _paths_inside(path: Path, real: Mapping[Path, Path]) -> list[Path]:
    """Return the paths under which a file or folder can be seen in the sandbox.

    Args:
        path: the file or folder, with links resolved.
        real: shown path -> the same path with links resolved.
    """
    return [place / path.relative_to(target) for place, target in real.items() if is_within(path, (target,))]


def _show_entry(path: Path, inside: Path) -> tuple[str, ...]:
    """Return the options that show an entry of a folder. A link stays a link, and works if its target is shown."""
    if path.is_symlink():
        return ("--symlink", str(path.readlink()), str(inside))
    return ("--ro-bind-try", str(path), str(inside)) if path.is_file() or path.is_dir() else ()


def find_sandbox() -> Sandbox:
    """Find bubblewrap and try it, if possible with a filter of system calls.

    Raises:
        NoSandboxError: bubblewrap is not installed, or does not work here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandboxError("bubblewrap is not installed", _INSTALL_REMEDY)
    sandbox = _try_filter(program)
    trouble = join_new_keyring()
    if trouble is not None and not sandbox.lacks:
        return replace(sandbox, lacks=RemediableError(f"programs have no keyring of their own: {trouble}", KEYS_REMEDY))
    return sandbox


def _try_filter(program: str) -> Sandbox:
    """Return a sandbox that has worked in a trial, with a filter or with the reason why it has none.

    Raises:
        NoSandboxError: the sandbox does not even work without a filter.
    """
    try:
        system_call_filter()
        sandbox = Sandbox(program=program, is_filtered=True)
        answer = _try_call(sandbox)
        if answer == _REFUSED:
            return sandbox
        lacks = RemediableError(f"the filter of system calls is not in force ({answer})", _FILTER_REMEDY)
    except NoFilterError as error:
        lacks = error
    except NoSandboxError as error:
        lacks = RemediableError(f"the filter of system calls can't be loaded ({error})", _FILTER_REMEDY)
    plain = Sandbox(program=program, lacks=lacks)
    _try_call(plain)
    return plain


def _try_call(sandbox: Sandbox) -> str:
    """Run a program in the sandbox that tries a refused call; return the kernel's answer to the call.

    Raises:
        NoSandboxError: the program can't be run.
    """
    view = FileView(where=Path(_TMP), shown=own_runtime())
    argv = [sys.executable, "-I", "-S", "-c", _TRIAL, str(keyctl_number())]
    try:
        with sandbox.wrap(argv, view, ProgramLimits()) as command:
            trial = subprocess.run(
                command.argv, pass_fds=command.pass_fds, capture_output=True, text=True, timeout=_TRIAL_S, check=False
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSandboxError(f"bubblewrap does not start: {error}", _INSTALL_REMEDY) from None
    if trial.returncode:
        reason = trial.stderr.strip() or f"exit status {trial.returncode}"
        remedy = _NAMESPACE_REMEDY if _is_new(sandbox) else _INSTALL_REMEDY
        raise NoSandboxError(f"bubblewrap does not work here ({reason})", remedy)
    return trial.stdout.strip()


def _is_new(sandbox: Sandbox) -> bool:
    """Return whether bubblewrap knows the newest option that is used here.

    It parses all options before it prints its version, and fails if it does not know one.
    """
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
"""Files and folders of /proc with counters for all programs of the machine together."""
_NUMBER = re.compile(rb"(?<= )\d+")
_LOAD = b"0.00 0.00 0.00 1/1 1\n"
_KIB = 1024


@cache
def _hidden_kernel_files() -> tuple[str, ...]:
    """Return the files and folders of /proc to hide, as far as this kernel has them and the user can read them."""
    return tuple(path for name in _COUNTED if os.access(path := f"/proc/{name}", os.R_OK))


@cache
def _kernel_files() -> Mapping[str, bytes]:
    """Return the replaced files of /proc: they show the processors and the memory, but no counters."""
    memory = b"".join(b"%s: %d kB\n" % (name, _memory_kib()) for name in (b"MemTotal", b"MemFree", b"MemAvailable"))
    processors = _NUMBER.sub(b"0", Path("/proc/stat").read_bytes())
    return {"/proc/loadavg": _LOAD, "/proc/meminfo": memory, "/proc/stat": processors}


def _memory_kib() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _KIB
