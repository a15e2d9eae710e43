"""Processes that end with this one and share no keyring with it: how they are started, watched, signalled and found.

How long a program may take to end is in limits.py.
"""

# The kernel kills a process together with the thread that started it (PR_SET_PDEATHSIG), but only once the process has
# asked for that. A referee that is killed before then would leave the process running for ever. So the last command
# before the program itself writes into a socket whose other end only this process holds: if nobody holds it any more,
# the write ends the command. All programs share that socket, and it stays open in the first process of a sandbox. A
# pipe would not do, because it could be opened again there (by /proc) and carry words from one program to another.
#
# A process may leave the process group of the program that started it. In a sandbox it ends with the sandbox, and in a
# control group with the group. Without either, it is found by a variable that it has inherited; a process that leaves
# its group and also changes its environment can't be told from the user's own.

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
"""Held while the status of a process is collected or its group gets a signal.

Once the status is collected, the kernel may give the same number to another process, which must not get the signal.
"""
ALIVE = '{ echo >&0; } 2>/dev/null; exec "$@" </dev/null'
"""Shell command that ends by SIGPIPE if the referee is dead, and else becomes the program; it never blocks."""
_KEYCTL = {"x86_64": 250, "i686": 288, "armv7l": 311, "ppc64le": 271, "s390x": 280}
"""Machine -> number of the system call keyctl, where it is not the common one."""
_KEYCTL_COMMON = 219
_GET_KEYRING_ID, _JOIN_SESSION_KEYRING = 0, 1
_SESSION_KEYRING = -3
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
_TRIAL_S = 5.0
_INFO_BYTES = 4096
_READ_BYTES = 65_536


class ProcessCommand(Struct, frozen=True):
    """A command line with the descriptors that it reads from; closes them at the end of a `with` block."""

    argv: tuple[str, ...]
    pass_fds: tuple[int, ...] = ()

    def within(self, argv: Sequence[str]) -> "ProcessCommand":
        """Return a command line that starts with another one and ends with this one."""
        return ProcessCommand((*argv, *self.argv), self.pass_fds)

    def __enter__(self) -> Self:
        """Return this command."""
        return self

    def __exit__(self, *_exc: object) -> None:
        """Close the descriptors: the process that was started has its own."""
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
    """Start a process in a new session and with a new session keyring; it ends with this thread.

    Args:
        command: command line in which `if_alive` stands before the program itself.
        cwd: its working directory; None: this process's.
        env: its whole environment.
        output: takes its stdout, as for `subprocess.Popen`.
        errors: takes its stderr; by default, it goes where stdout goes.
        pass_fds: further descriptors that it gets, after those of the command.

    Raises:
        OSError: it can't be started.
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
        """Call back once the process has ended and the rest of its group is killed.

        Args:
            callback: called with the exit status; a signal's number is negative, as for `Popen`.
        """

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send a signal to the whole group, unless the process has ended."""


class ChildProcess:
    """A process that `start` has started.

    Args:
        process: the process.
        reactor: Twisted's, in whose thread callbacks run; None: they run in a new thread.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", reactor: Reactor | None = None) -> None:
        self._process = process
        self._reactor = reactor

    def on_end(self, callback: Callable[[int], object]) -> None:
        """Call back once it has ended: a descriptor of the process costs less than a thread that waits for it."""
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
        """Wait for its end, kill what is left of its group, and return its status.

        The group is killed before the status is collected: as long as it is not, no other process has its number.
        """
        with contextlib.suppress(ChildProcessError):  # the status was collected before, and the group killed then
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with _REAPING:
            self._signal(signal.SIGKILL)
            return self._process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group."""
        with _REAPING:
            self._signal(number)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:  # else nothing is left, and the number may be another process's by now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


class _EndReader:
    """The descriptor of a process, which becomes readable when the process ends; one of Twisted's readers."""

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
    """The first process of a sandbox; when it ends, the kernel kills everything in the sandbox.

    No signal to the program's group reaches it. It is killed when bubblewrap's outer process ends, which takes a
    moment. This is one of Twisted's readers, of the pipe in which bubblewrap says the number of the process: it is read
    at once, while no other process can have that number.

    Args:
        reactor: Twisted's.
    """

    def __init__(self, reactor: Reactor) -> None:
        self.is_gone = False
        """True once nothing of the sandbox is left; also where that can't be known."""
        self._reactor = reactor
        self._info = b""
        self._fd, self.write_fd = os.pipe()
        """Ends of the pipe. The second is bubblewrap's; the caller closes it once bubblewrap runs."""
        reactor.addReader(self)

    def fileno(self) -> int:
        """Return the descriptor to wait for; called by Twisted."""
        return self._fd

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "first process of a sandbox"

    def doRead(self) -> None:
        """Read the pipe, and watch the process once all of it is read; called by Twisted."""
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
    """Return a descriptor from which a content can be read."""
    descriptor = os.memfd_create("referee")
    os.pwrite(descriptor, content, 0)  # pwrite leaves the position alone, so a reader begins at the beginning
    return descriptor


def if_alive(argv: Sequence[str]) -> list[str]:
    """Return a command line that becomes the program unless this process is dead by then; its stdin is empty.

    Args:
        argv: the program. A command that ties its life to this process, such as setpriv, has to stand outside of this
        one.
    """
    return ["/bin/sh", "-c", ALIVE, "sh", *argv]


@cache
def _lifeline_fd() -> int:
    """Return one of two connected sockets; the other stays open in this process as long as it lives."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ours.detach()
    return theirs.detach()


@cache
def die_with_parent() -> tuple[str, ...]:
    """Return the command that ties a program's life to this thread's; empty where setpriv is not installed."""
    program = shutil.which("setpriv")
    if program is None:
        return ()
    command = (program, "--pdeathsig", "KILL", "--")
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        trial = subprocess.run([*command, "/bin/sh", "-c", ":"], capture_output=True, timeout=_TRIAL_S, check=False)
        return command if trial.returncode == 0 else ()
    return ()


def can_die_with_parent() -> bool:
    """Return whether programs are killed when this process is."""
    return bool(die_with_parent())


def join_new_keyring() -> str | None:
    """Give this thread, and all that it starts from now on, a new and empty session keyring.

    Returns:
        The reason if that failed; None if it succeeded, or if this system has no keyrings.
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
    result: int = load_libc().syscall(*arguments, ctypes.c_long(0))
    return result


@cache
def load_libc() -> Any:
    """Return the C library, whose errors `ctypes.get_errno` then knows."""
    return ctypes.CDLL(None, use_errno=True)


class OwnProcess:
    """A process that runs the referee's own code, started at once, and ended with this process.

    Args:
        command: its command line.
        output: takes its stdout, as for `subprocess.Popen`.
        errors: takes its stderr.
        cwd: its working directory; None: this process's.
        env: variables added to this process's environment, from which a user's token is left out.
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
        """Stream of its stdout, if that is a pipe."""
        self._child = ChildProcess(process)
        self._status: int | None = None
        self._ended = Event()
        self._child.on_end(self._set_status)

    def _set_status(self, status: int) -> None:
        self._status = status
        self._ended.set()

    @property
    def has_ended(self) -> bool:
        """Whether it and its whole process group are gone."""
        return self._ended.is_set()

    def wait(self, limit_s: float | None = None) -> int | None:
        """Wait for its end, in a thread other than the loop's.

        Args:
            limit_s: longest wait, in seconds; None: no limit.

        Returns:
            Its exit status; None if it still runs.
        """
        self._ended.wait(limit_s)
        return self._status

    def ask_to_end(self) -> None:
        """Send SIGTERM to its group, unless it has ended.

        SIGINT would not do: a process that a script starts in the background ignores it, and so do its children.
        """
        self._child.send_signal(signal.SIGTERM)

    def end(self, grace_s: float) -> None:
        """End it, if it has not ended, in a thread other than the loop's.

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
        mark: `NAME=VALUE` that nothing else has.
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
    """Return whether a process has inherited a variable; read without buffers, because the loop waits for it."""
    environment = b""
    try:
        with open_descriptor(f"/proc/{pid}/environ", os.O_RDONLY) as file:
            while data := os.read(file, _READ_BYTES):
                environment += data
    except OSError:
        return False  # gone, or another user's
    return wanted in environment and wanted in environment.split(b"\0")
