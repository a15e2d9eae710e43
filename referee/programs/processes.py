"""Starts, watches, signals and finds processes that end together with this one, and share no keyring with it.

limits.py says how long a program may take to end.
"""

# The kernel kills a process when the thread that started it ends (PR_SET_PDEATHSIG), but only after the process has
# asked for this. If the referee is killed before, the process would run for ever. So the last command before the
# program itself writes into a socket whose other end only this process holds. If this process is dead, the write fails,
# and the command ends. All programs share this socket, and it stays open in the first process of a sandbox. A pipe
# would be unsafe: programs could open it again there (by /proc) and pass messages to each other.
#
# A process may leave its program's process group. In a sandbox, it ends with the sandbox, and in a control group with
# the group. Without both, the referee finds it by a variable that it has inherited. If a process leaves its group and
# also changes its environment, it can't be distinguished from the user's own processes.

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

from ..files.reading import open_descriptor
from .limits import CLEAR_S
from .output import Reactor

_REAPING = Lock()
"""Lock that is held while the status of a process is collected or its group gets a signal.

After the status is collected, another process may get the same number, and must not get the signal.
"""
ALIVE = '{ echo >&0; } 2>/dev/null; exec "$@" </dev/null'
"""Shell command that ends by SIGPIPE if the referee is dead, and otherwise becomes the program. It never blocks."""
_KEYCTL = {"x86_64": 250, "i686": 288, "armv7l": 311, "ppc64le": 271, "s390x": 280}
"""Machine -> number of the system call keyctl, if it differs from the common number."""
_KEYCTL_COMMON = 219
_GET_KEYRING_ID, _JOIN_SESSION_KEYRING = 0, 1
_SESSION_KEYRING = -3
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
_TRIAL_S = 5.0
_INFO_BYTES = 4096
_READ_BYTES = 65_536


class ProcessCommand(Struct, frozen=True):
    """A command line with the descriptors that it inherits. They are closed at the end of a `with` block."""

    argv: tuple[str, ...]
    pass_fds: tuple[int, ...] = ()

    def within(self, argv: Sequence[str]) -> "ProcessCommand":
        """Return a command line in which another command starts this one."""
        return ProcessCommand((*argv, *self.argv), self.pass_fds)

    def __enter__(self) -> Self:
        """Return this command."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the descriptors, since the started process has inherited them."""
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
    """Start a process in a new session with a new session keyring. It ends when this thread ends.

    Args:
        command: command line with `if_alive` before the program itself.
        cwd: working directory; None for that of this process.
        env: whole environment of the process.
        output: destination of stdout, as for `subprocess.Popen`.
        errors: destination of stderr; by default, the same as for stdout.
        pass_fds: further descriptors that the process inherits, after those of the command.

    Raises:
        OSError: the process can't be started.
    """
    join_new_keyring()
    return subprocess.Popen(
        [*die_with_parent(), *command.argv],
        cwd=cwd,
        env=env,
        stdin=_lifeline_fd(),
        stdout=output,
        stderr=errors,
        start_new_session=True,
        pass_fds=(*command.pass_fds, *pass_fds),
    )


class RunningProcess(Protocol):
    """A running process and its process group: a child of this process, or forked by the fork server."""

    def on_end(self, callback: Callable[[int], object], /) -> None:
        """Call back after the process has ended and the rest of its group was killed.

        Args:
            callback: function that is called with the exit status, which is negative for a signal, as for `Popen`.
        """

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send a signal to the whole group, unless the process has ended."""


class ChildProcess:
    """A process that `start` has started.

    Args:
        process: the process.
        reactor: Twisted's reactor, in whose thread callbacks run; None to run each in a new thread.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", reactor: Reactor | None = None) -> None:
        self._process = process
        self._reactor = reactor

    def on_end(self, callback: Callable[[int], object]) -> None:
        """Call back after the process has ended. A process descriptor is used, as it costs less than a thread."""
        if self._reactor is None:
            return self._wait_in_thread(callback)
        try:
            descriptor = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):  # an old kernel, or no descriptor left
            return self._wait_in_thread(partial(self._reactor.callFromThread, callback))
        return self._reactor.addReader(_EndReader(self._reactor, descriptor, lambda: callback(self.reap())))

    def _wait_in_thread(self, callback: Callable[[int], object]) -> None:
        name = f"end of process {self._process.pid}"
        Thread(target=lambda: callback(self.reap()), name=name, daemon=True).start()

    def reap(self) -> int:
        """Wait for the end of the process, kill the rest of its group, and return its status.

        The group is killed before the status is collected, because until then no other process can have its number.
        """
        with contextlib.suppress(ChildProcessError):  # the status was collected, and the group killed, before
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with _REAPING:
            self._signal(signal.SIGKILL)
            return self._process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group."""
        with _REAPING:
            self._signal(number)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:  # otherwise the group is gone, and another process may have its number
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


class _EndReader:
    """A reader for Twisted: the descriptor of a process, which becomes readable when the process ends."""

    def __init__(self, reactor: Reactor, descriptor: int, callback: Callable[[], object]) -> None:
        self._reactor = reactor
        self._descriptor = descriptor
        self._callback = callback

    def fileno(self) -> int:
        """Return the descriptor to wait for; called by Twisted."""
        return self._descriptor

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "end of a process"

    def doRead(self) -> None:
        """Call back, once; called by Twisted."""
        self._reactor.removeReader(self)
        os.close(self._descriptor)
        self._callback()

    def connectionLost(self, reason: Failure) -> None:
        """Do nothing; called by Twisted."""


class FirstProcess:
    """The first process of a sandbox. When it ends, the kernel kills everything in the sandbox.

    Signals to the program's group don't reach it. It is killed when bubblewrap's outer process ends, which takes a
    moment. This class is a reader for Twisted: bubblewrap writes the number of the process into a pipe. It is read at
    once, before another process could get the same number.

    Args:
        reactor: Twisted's reactor.
    """

    def __init__(self, reactor: Reactor) -> None:
        self.is_gone = False
        """True if nothing of the sandbox is left, or if this can't be known."""
        self._reactor = reactor
        self._info = b""
        self._fd, self.write_fd = os.pipe()
        """The two ends of the pipe. The second one is for bubblewrap; the caller closes it when bubblewrap runs."""
        reactor.addReader(self)

    def fileno(self) -> int:
        """Return the descriptor to wait for; called by Twisted."""
        return self._fd

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "first process of a sandbox"

    def doRead(self) -> None:
        """Read the pipe, and watch the process after everything was read; called by Twisted."""
        data = os.read(self._fd, _INFO_BYTES)
        self._info += data
        if not data:
            self._reactor.removeReader(self)
            os.close(self._fd)
            self._watch()

    def connectionLost(self, reason: Failure) -> None:
        """Do nothing; called by Twisted."""

    def _watch(self) -> None:
        try:
            descriptor = os.pidfd_open(json.loads(self._info)["child-pid"])
        except (AttributeError, OSError, ValueError):  # an old kernel; gone by now; bubblewrap ended before it said so
            self.is_gone = True
        else:
            self._reactor.addReader(_EndReader(self._reactor, descriptor, self._set_gone))

    def _set_gone(self) -> None:
        self.is_gone = True


def open_memory(content: bytes) -> int:
    """Return a descriptor of a file in memory with a given content."""
    descriptor = os.memfd_create("referee")
    os.pwrite(descriptor, content, 0)  # pwrite leaves the position alone, so a reader begins at the beginning
    return descriptor


def if_alive(argv: Sequence[str]) -> list[str]:
    """Return a command line that becomes the program if this process is still alive then. Its stdin is empty.

    Args:
        argv: the program. A command that makes it end with this process, such as setpriv, must come before the result.
    """
    return ["/bin/sh", "-c", ALIVE, "sh", *argv]


@cache
def _lifeline_fd() -> int:
    """Return one of two connected sockets. The other one stays open as long as this process lives."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ours.detach()
    return theirs.detach()


@cache
def die_with_parent() -> tuple[str, ...]:
    """Return the command that makes a program end with this thread; empty if setpriv is not installed."""
    program = shutil.which("setpriv")
    if program is None:
        return ()
    command = (program, "--pdeathsig", "KILL", "--")
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        trial = subprocess.run([*command, "/bin/sh", "-c", ":"], capture_output=True, timeout=_TRIAL_S, check=False)
        return command if trial.returncode == 0 else ()
    return ()


def can_die_with_parent() -> bool:
    """Return whether programs are killed when this process is killed."""
    return bool(die_with_parent())


def join_new_keyring() -> str | None:
    """Give this thread, and all processes that it starts from now on, a new and empty session keyring.

    Returns:
        The reason of a failure; None in case of success, or if this system has no keyrings.
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
    """Return the number of the system call keyctl on this machine. The C library has no function for this call."""
    return _KEYCTL.get(platform.machine(), _KEYCTL_COMMON)


def _keyctl(operation: int, first: int | None) -> int:
    arguments: list[Any] = [ctypes.c_long(keyctl_number()), ctypes.c_int(operation)]
    arguments.append(None if first is None else ctypes.c_long(first))
    result: int = load_libc().syscall(*arguments, ctypes.c_long(0))
    return result


@cache
def load_libc() -> Any:
    """Return the C library, loaded so that `ctypes.get_errno` returns its errors."""
    return ctypes.CDLL(None, use_errno=True)


class OwnProcess:
    """A process that runs the referee's own code. It starts at once, and ends with this process.

    Args:
        command: command line of the process.
        output: destination of stdout, as for `subprocess.Popen`.
        errors: destination of stderr.
        cwd: working directory; None for that of this process.
        env: variables that are added to this process's environment. A user's token is left out of it.
        pass_fds: descriptors that the process inherits.

    Raises:
        OSError: the process can't be started.
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
        """Stream of the process's stdout, if it is a pipe; otherwise None."""
        self._child = ChildProcess(process)
        self._status: int | None = None
        self._ended = Event()
        self._child.on_end(self._set_status)

    def _set_status(self, status: int) -> None:
        self._status = status
        self._ended.set()

    @property
    def has_ended(self) -> bool:
        """True if the process and its whole process group have ended."""
        return self._ended.is_set()

    def wait(self, limit_s: float | None = None) -> int | None:
        """Wait for the end of the process. Don't call this in the thread of the event loop.

        Args:
            limit_s: longest wait, in seconds; None for no limit.

        Returns:
            The exit status; None if the process is still running.
        """
        self._ended.wait(limit_s)
        return self._status

    def ask_to_end(self) -> None:
        """Send SIGTERM to the process group, unless the process has ended.

        SIGINT would not work if a script has started this process in the background: its children would ignore it.
        """
        self._child.send_signal(signal.SIGTERM)

    def end(self, grace_s: float) -> None:
        """End the process, if it is running. Don't call this in the thread of the event loop.

        Args:
            grace_s: time between SIGTERM and SIGKILL, in seconds.
        """
        self.ask_to_end()
        if self.wait(grace_s) is None:
            self._child.send_signal(signal.SIGKILL)
            self.wait(CLEAR_S)


def find_marked(mark: str) -> list[int]:
    """Return the numbers of this user's processes whose environment holds a mark.

    Args:
        mark: unique variable in the form `NAME=VALUE`.
    """
    wanted, this = mark.encode(), os.getpid()
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208  # only names are needed
    return [pid for pid in pids if pid != this and _has_variable(pid, wanted)]


def kill_orphans(mark: str) -> bool:
    """Kill the processes whose environment holds a mark; return whether there were any."""
    pids = find_marked(mark)
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(pids)


def _has_variable(pid: int, wanted: bytes) -> bool:
    """Return whether a process has inherited a variable. The file is read without buffers, as the event loop waits."""
    environment = b""
    try:
        with open_descriptor(f"/proc/{pid}/environ", os.O_RDONLY) as file:
            while data := os.read(file, _READ_BYTES):
                environment += data
    except OSError:
        return False  # the process has ended, or belongs to another user
    return wanted in environment and wanted in environment.split(b"\0")
