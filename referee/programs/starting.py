"""Starts a process that ends with this one, and that shares no keyring with it; finds what such a process has left.

The kernel kills a process with the thread that started it (PR_SET_PDEATHSIG), but only once the process has asked for
that: whoever dies before leaves it alone in the world. So the last thing before the program itself writes into a socket
whose other end this process alone has: with nobody there, that write ends it. All programs share it, and it stays open
in the first process of a sandbox: a pipe could be opened there once more and carry words from one to another.

Processes that a program has started and that left its process group are found by what they inherited. In a sandbox
there are none: its end is theirs. Without one, and without control groups, a process that leaves its group and changes
its environment can't be told from the user's own.
"""

import contextlib
import ctypes
import errno
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import IO, Any, Protocol, Self

from msgspec import Struct
from twisted.python.failure import Failure

from ..files.opened import opened
from .output import Reactor

_TAKING = Lock()
"""Held while the status of a process is taken, or its group gets a signal: its number is nobody else's meanwhile."""
ALIVE = '{ echo >&0; } 2>/dev/null; exec "$@" </dev/null'
"""Ends by SIGPIPE if the referee is dead; else becomes the program. A socket that is full is no reason to wait."""
_KEYCTL = {"x86_64": 250, "i686": 288, "armv7l": 311, "ppc64le": 271, "s390x": 280}
"""The call's number; newer machines have one in common."""
_KEYCTL_COMMON = 219
_GET_KEYRING_ID, _JOIN_SESSION_KEYRING = 0, 1
_SESSION_KEYRING = -3
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
_TRIAL_S = 5.0
_TOLD_BYTES = 4096


class ProcessCommand(Struct, frozen=True):
    """A command line with the descriptors that it reads from; closes them behind."""

    argv: tuple[str, ...]
    pass_fds: tuple[int, ...] = ()

    def within(self, argv: Sequence[str]) -> "ProcessCommand":
        """Return a command line that ends with this one, and starts with another."""
        return ProcessCommand((*argv, *self.argv), self.pass_fds)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the descriptors: whoever was started has its own."""
        for descriptor in self.pass_fds:
            os.close(descriptor)


def start(
    command: ProcessCommand,
    *,
    cwd: Path | None,
    env: Mapping[str, str],
    output: int | IO[bytes],
    errors: int | IO[bytes] = subprocess.STDOUT,
    pass_fds: tuple[int, ...] = (),
) -> "subprocess.Popen[bytes]":
    """Start a process in a session and in a session keyring of its own, which ends with this thread.

    Args:
        command: what to run; `if_alive` is to stand before the program itself.
        cwd: its working directory; None: this process's.
        env: its whole environment.
        output: takes its stdout, as `subprocess.Popen` has it.
        errors: takes its stderr; where its stdout goes if not given.
        pass_fds: descriptors that it gets, besides those of the command.

    Raises:
        OSError: it can't be started.
    """
    join_new_keyring()
    return subprocess.Popen(
        [*_dying_with_parent(), *command.argv],
        cwd=cwd,
        env=env,
        stdin=_lifeline(),
        stdout=output,
        stderr=errors,
        start_new_session=True,
        pass_fds=(*command.pass_fds, *pass_fds),
    )


class RunningProcess(Protocol):
    """A process that was started, with what it has left in its process group."""

    def when_ended(self, told: Callable[[int], object], /) -> None:
        """Call back once it has ended, and what it has left in its group is killed.

        Args:
            told: called with the exit status, as `Popen` counts: the negative number of a signal.
        """

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send a signal to all of the group, unless the process has ended."""


class ChildProcess:
    """A process that `start` has started.

    Args:
        process: it.
        reactor: Twisted's, in whose thread its end is told of; None: in a thread of its own.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", reactor: Reactor | None = None) -> None:
        self._process = process
        self._reactor = reactor

    def when_ended(self, told: Callable[[int], object]) -> None:
        """Call back once it has ended: a descriptor of the process costs less than a thread that waits for it."""
        if self._reactor is None:
            return self._wait(told)
        try:
            descriptor = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):  # an old kernel, or no descriptor left
            return self._wait(partial(self._reactor.callFromThread, told))
        return self._reactor.addReader(_End(self._reactor, descriptor, lambda: told(self.taken())))

    def _wait(self, told: Callable[[int], object]) -> None:
        name = f"end of process {self._process.pid}"
        Thread(target=lambda: told(self.taken()), name=name, daemon=True).start()

    def taken(self) -> int:
        """Wait for its end, kill what is left of its group, and return its status."""
        with contextlib.suppress(ChildProcessError):  # somebody has taken its status, and ended its group before
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with _TAKING:
            self._signal(signal.SIGKILL)
            return self._process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to all of the group."""
        with _TAKING:
            self._signal(number)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:  # else nobody is left, and the number may be another's by now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


class _End:
    """The descriptor of a process, which can be read once it has ended; one of Twisted's readers."""

    def __init__(self, reactor: Reactor, descriptor: int, told: Callable[[], object]) -> None:
        self._reactor = reactor
        self._descriptor = descriptor
        self._told = told

    def fileno(self) -> int:
        """Return what to wait for; called by Twisted."""
        return self._descriptor

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "end of a process"

    def doRead(self) -> None:
        """Tell of the end; called by Twisted."""
        self._reactor.removeReader(self)
        os.close(self._descriptor)
        self._told()

    def connectionLost(self, reason: Failure) -> None:
        """Nothing more comes; called by Twisted."""


class FirstProcess:
    """The first process of a sandbox, with which all of the sandbox ends; no signal to the program's group reaches it.

    The kernel kills it once whoever made the sandbox has ended; that takes a moment. One of Twisted's readers, of what
    bubblewrap tells: the number is taken at once, as long as nobody else can have it.

    Args:
        reactor: Twisted's.
    """

    def __init__(self, reactor: Reactor) -> None:
        self.is_gone = False
        """Whether nothing of the sandbox is left; also where that can't be known."""
        self._reactor = reactor
        self._said = b""
        self._fd, self.write_fd = os.pipe()
        """The second is for bubblewrap, and is closed by whoever hands it on."""
        reactor.addReader(self)

    def fileno(self) -> int:
        """Return what to wait for; called by Twisted."""
        return self._fd

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "first process of a sandbox"

    def doRead(self) -> None:
        """Read what is told, and watch the process once all of it is; called by Twisted."""
        data = os.read(self._fd, _TOLD_BYTES)
        self._said += data
        if not data:
            self._reactor.removeReader(self)
            os.close(self._fd)
            self._watch()

    def connectionLost(self, reason: Failure) -> None:
        """Nothing more comes; called by Twisted."""

    def _watch(self) -> None:
        try:
            descriptor = os.pidfd_open(json.loads(self._said)["child-pid"])
        except (AttributeError, OSError, ValueError):  # an old kernel; gone by now; ended before it was told
            self.is_gone = True
        else:
            self._reactor.addReader(_End(self._reactor, descriptor, self._ended))

    def _ended(self) -> None:
        self.is_gone = True


def in_memory(content: bytes) -> int:
    """Return a descriptor from which a content can be read."""
    descriptor = os.memfd_create("referee")
    os.pwrite(descriptor, content, 0)  # memory takes all of it at once, and whoever reads begins at the beginning
    return descriptor


def if_alive(argv: Sequence[str]) -> list[str]:
    """Return a command line that becomes the program unless this process is dead by then; its stdin is empty.

    Args:
        argv: the program, within whatever has it killed with this process.
    """
    return ["/bin/sh", "-c", ALIVE, "sh", *argv]


@cache
def _lifeline() -> int:
    """Return one of two connected sockets; the other stays with this process as long as it lives."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ours.detach()
    return theirs.detach()


@cache
def _dying_with_parent() -> tuple[str, ...]:
    """Return the command that has the kernel kill what it becomes with this thread; none where it is not installed."""
    program = shutil.which("setpriv")
    if program is None:
        return ()
    asking = (program, "--pdeathsig", "KILL", "--")
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        trial = subprocess.run([*asking, "/bin/sh", "-c", ":"], capture_output=True, timeout=_TRIAL_S, check=False)
        return asking if trial.returncode == 0 else ()
    return ()


def ends_with_this_process() -> bool:
    """Tell whether what is started is killed when this process is."""
    return bool(_dying_with_parent())


def join_new_keyring() -> str | None:
    """Let this thread, and all that it starts from now on, have a new session keyring, with nothing in it.

    Returns:
        Why it could not; None if it could, or if nobody here has keyrings.
    """
    if platform.system() != "Linux":
        return None
    before = _keyctl(_GET_KEYRING_ID, _SESSION_KEYRING)
    if _keyctl(_JOIN_SESSION_KEYRING, None) < 0:
        number = ctypes.get_errno()
        return None if number in _REFUSED else os.strerror(number)
    after = _keyctl(_GET_KEYRING_ID, _SESSION_KEYRING)
    return None if before != after else "the kernel gave the old one again"


def keyctl_number() -> int:
    """Return the number of the system call keyctl on this machine: the C library has no function for it."""
    return _KEYCTL.get(platform.machine(), _KEYCTL_COMMON)


def _keyctl(operation: int, first: int | None) -> int:
    arguments: list[Any] = [ctypes.c_long(keyctl_number()), ctypes.c_int(operation)]
    arguments.append(None if first is None else ctypes.c_long(first))
    result: int = _libc().syscall(*arguments, ctypes.c_long(0))
    return result


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


GONE_S = 5.0
"""A process that was killed is gone after that, unless the disk holds it up."""


class OwnProcess:
    """A process of this program's own, which ends with it; it is started.

    Args:
        command: its command line.
        output: takes its stdout, as `subprocess.Popen` has it.
        errors: takes its stderr.
        cwd: its working directory; None: this process's.
        env: added to the environment, of which it gets all but a token of the user's.
        pass_fds: descriptors that it gets.

    Raises:
        OSError: it can't be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        output: int | IO[bytes],
        errors: int | IO[bytes],
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: tuple[int, ...] = (),
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if name != "REFEREE_TOKEN"}
        argv = ProcessCommand(tuple(if_alive(command)))
        whole_env = {**inherited, **(env or {})}
        process = start(argv, cwd=cwd, env=whole_env, output=output, errors=errors, pass_fds=pass_fds)
        self.output = process.stdout
        """What it writes on stdout, if that is a pipe."""
        self._child = ChildProcess(process)
        self._status: int | None = None
        self._ended = Event()
        self._child.when_ended(self._take_end)

    def _take_end(self, status: int) -> None:
        self._status = status
        self._ended.set()

    @property
    def has_ended(self) -> bool:
        """Whether it, and what it has left in its process group, is gone."""
        return self._ended.is_set()

    def wait(self, limit_s: float | None = None) -> int | None:
        """Wait for its end, in a thread; return its exit status, None if it has not ended within a limit."""
        self._ended.wait(limit_s)
        return self._status

    def ask_to_end(self) -> None:
        """Ask it to end, unless it has.

        SIGINT would not do: what a script starts in the background ignores that, and so does what is started by it.
        """
        self._child.send_signal(signal.SIGTERM)

    def end(self, grace_s: float) -> None:
        """End it, if it has not ended, in a thread.

        Args:
            grace_s: between asking it to end and killing it, in seconds.
        """
        self.ask_to_end()
        if self.wait(grace_s) is None:
            self._child.send_signal(signal.SIGKILL)
            self.wait(GONE_S)


_READ_BYTES = 65_536


def orphans(mark: str) -> list[int]:
    """Return the processes of this user whose environment holds a mark.

    Args:
        mark: `NAME=VALUE` that nothing else has.
    """
    wanted, own = mark.encode(), os.getpid()
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208  # names are all that is wanted
    return [pid for pid in pids if pid != own and _has(pid, wanted)]


def kill_orphans(mark: str) -> bool:
    """Kill the processes whose environment holds a mark; tell whether there were any."""
    pids = orphans(mark)
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(pids)


def _has(pid: int, wanted: bytes) -> bool:
    """Tell whether a process inherited a variable; read without ado, for the loop waits meanwhile."""
    environment = b""
    try:
        with opened(f"/proc/{pid}/environ", os.O_RDONLY) as file:
            while data := os.read(file, _READ_BYTES):
                environment += data
    except OSError:
        return False  # gone, or another user's
    return wanted in environment and wanted in environment.split(b"\0")
