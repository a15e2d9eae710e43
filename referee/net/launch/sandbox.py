"""The command line of bubblewrap that shows a program its own folder and the system, and nothing else of this machine.

Knows bubblewrap's options and the order in which they take effect. Refuses to know what the program needs (reach.py)
and how much of the machine it may use (limits.py, groups.py).

What holds inside: no network but the referee's socket, no other process to be seen, nothing to be written but an empty
home and /tmp, no capability, no user namespace of its own; everything ends with the first process.
"""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from .limits import MIB, ProgramLimits
from .players import Launch, PlayerError
from .reach import SETTINGS, SYSTEM, is_shared, is_within, named, own_runtime, records_in, runtimes

HOME = "/home/player"
SOCKET = "/run/referee.sock"
"""Where the program finds the referee, whatever the socket is called outside."""
_TMP, _SHARED_MEMORY = "/tmp", "/dev/shm"  # noqa: S108  # the program's own, empty
SHARED_MEMORY_MIB = 16
"""Python's semaphores and shared memory of small players."""
_TRIAL_S = 5.0
_GET_IT = "install bubblewrap 0.8 or newer (Debian, Ubuntu, Fedora, Arch: the package bubblewrap)"
_LET_IT = "let users make user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu also "
_LET_IT += "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, allow them to it"


class NoSandboxError(Exception):
    """This machine has no sandbox; the text says why and how to get it."""


class Scratch(Struct, frozen=True, kw_only=True):
    """A working directory of a program's own: empty at first, in memory, and gone with the program."""

    size_bytes: int
    """How much may be written into it."""
    told: int
    """Descriptor on which bubblewrap tells the program's process id."""
    users: int | None = None
    """Descriptor of a user namespace for it, in which it may change its user; None: it has the referee's."""


class View(Struct, frozen=True, kw_only=True):
    """What one program is shown."""

    where: Path
    """Its working directory, absolute."""
    shown: tuple[Path, ...]
    """Folders and files to read, absolute, besides the system's; an outer one before those inside of it."""
    hidden: tuple[Path, ...] = ()
    """Of these, what is not to be read."""
    socket: Path | None = None
    """The referee's; None: there is none."""
    scratch: Scratch | None = None
    """What is in the place of the working directory; None: that itself, to read."""


def view_of(
    launch: Launch, argv: Sequence[str], *, hidden: Sequence[Path], others: Sequence[Path], socket: Path | None
) -> View:
    """Return what a program is to be shown.

    Args:
        launch: how it is started.
        argv: its command line, the program by its whole path.
        hidden: folders and files that it must never read; those that it is not shown anyway do no harm.
        others: folders of other players, hidden as well unless the program runs in them or its command line names them.
        socket: the referee's.

    Raises:
        PlayerError: it would have to read what must stay hidden.
    """
    where = launch.where
    own = [] if launch.is_house else _own_files(launch, argv)
    for path in hidden:
        if where in own and where.resolve().is_relative_to(path.resolve()):
            detail = f"{launch.name} runs in {where}, and {path} must stay hidden from it"
            raise PlayerError(f"{detail}; keep records and players apart (--logs), or use --sandbox off")
    theirs = [folder for folder in others if not any(path.is_relative_to(folder) for path in own)]
    shown = {*own_runtime(), *runtimes(Path(argv[0])), *own}
    return View(where=where, shown=tuple(sorted(shown)), hidden=(*hidden, *theirs), socket=socket)


def _own_files(launch: Launch, argv: Sequence[str]) -> list[Path]:
    """Return the working directory, unless it is shared with other things, and what the command line names."""
    where = launch.where
    own = [] if is_shared(where) else [where]
    if launch.folder is None:
        return [*own, *named(argv[1:], where)]
    if not own:
        raise PlayerError(f"{launch.name}: {where} is no folder of the player's own; put its files into one")
    return own


class Sandbox(Struct, frozen=True, kw_only=True):
    """A bubblewrap that works on this machine."""

    program: str
    """Its path."""

    def around(self, argv: Sequence[str], view: View, limits: ProgramLimits) -> list[str]:
        """Return a command line that runs a program inside.

        Args:
            argv: the program.
            view: what it is shown.
            limits: how much it may put into its home and /tmp.
        """
        return [
            self.program,
            *_namespaces(view.scratch),
            *("--die-with-parent", "--new-session", "--hostname", "player"),
            *_system(),
            *_own_places(limits),
            *_shown(view),
            *(("--ro-bind", str(view.socket), SOCKET) if view.socket is not None else ()),
            *_hidden(view),
            *("--remount-ro", "/", "--chdir", str(view.where), "--"),
            *argv,
        ]


def _namespaces(scratch: Scratch | None) -> Iterator[str]:
    if scratch is not None:
        yield from ("--info-fd", str(scratch.told))
    if scratch is None or scratch.users is None:
        yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
        return
    yield from ("--userns", str(scratch.users), "--cap-drop", "ALL")
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


def _own_places(limits: ProgramLimits) -> Iterator[str]:
    size = str(limits.tmp_mib * MIB)
    yield from ("--dev", "/dev", "--size", str(SHARED_MEMORY_MIB * MIB), "--tmpfs", _SHARED_MEMORY)
    yield from ("--remount-ro", "/dev")
    # read-only: a referee that runs as root is root in there, too, and the kernel's settings ask for no capability
    yield from ("--proc", "/proc", "--remount-ro", "/proc")
    yield from ("--size", size, "--tmpfs", _TMP, "--size", size, "--tmpfs", HOME, "--dir", "/run")


def _shown(view: View) -> Iterator[str]:
    for path in view.shown:
        yield from _passable(path)
        if path == view.where and view.scratch is not None:
            yield from ("--size", str(view.scratch.size_bytes), "--tmpfs", str(path))
        else:
            yield from ("--ro-bind", str(path), str(path))
    if not is_within(view.where, view.shown):
        yield from ("--dir", str(view.where))


def _hidden(view: View) -> Iterator[str]:
    """Cover what must not be read; what a program is not shown needs no cover, and gets none: covers need a place."""
    shown = (path for path in view.shown if view.scratch is None or path != view.where)
    places = [(path, path.resolve()) for path in shown if path.is_dir()]
    places += [(Path(name), Path(name)) for name in SYSTEM]
    hidden = {path.resolve() for path in view.hidden}
    records = records_in(view.where.resolve(), hidden) if view.where in dict(places) else ()
    covered: list[Path] = []
    for path in sorted({*hidden, *records}):
        if is_within(path, covered) or not path.exists():
            continue
        covered.append(path)
        for place, real in places:
            if path.is_relative_to(real) and path != real:
                yield from _covered(place / path.relative_to(real), is_folder=path.is_dir())


def _covered(inside: Path, *, is_folder: bool) -> tuple[str, ...]:
    if is_folder:
        return ("--tmpfs", str(inside), "--remount-ro", str(inside))
    return ("--ro-bind", "/dev/null", str(inside))


def find_sandbox() -> Sandbox:
    """Find bubblewrap and try it.

    Raises:
        NoSandboxError: it is not installed, or does not work here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandboxError(f"bubblewrap is not installed; {_GET_IT}")
    sandbox = Sandbox(program=program)
    view = View(where=Path(_TMP), shown=())
    command = sandbox.around(["/bin/sh", "-c", ":"], view, ProgramLimits())
    try:
        trial = subprocess.run(command, capture_output=True, text=True, timeout=_TRIAL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSandboxError(f"bubblewrap does not start: {error}; {_GET_IT}") from None
    if trial.returncode:
        said = trial.stderr.strip() or f"exit status {trial.returncode}"
        remedy = _GET_IT if "nknown option" in said else _LET_IT
        raise NoSandboxError(f"bubblewrap does not work here ({said}); {remedy}")
    return sandbox
