"""House players start by fork from one process that has imported what they need: they are the referee's own code.

That process runs in a sandbox as any program does; those forked from it share that, and each has limits, control groups
and an output of its own. All of them end with it, and it ends with the referee.
"""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_NOFILE, RLIMIT_NPROC, getrlimit

import msgspec
from msgspec.structs import replace
from twisted.python.failure import Failure

from .control_groups import Group
from .house import ForkRequest, SignalRequest
from .limits import ProgramLimits
from .output import Reactor

_FILES, _PROCESSES = 4096, 8192
"""What all house players together are held to: hundreds of them, with what they start."""
_STATUS_BYTES = 16
_END_S = 5.0
"""How long the process may take to end once nobody can ask it for anything."""

Begin = Callable[[int], tuple["subprocess.Popen[bytes]", Group | None]]
"""Starts the process that forks, given the descriptor of the socket that it is asked over."""


class ForkedProcess:
    """A process that was asked for; one of Twisted's readers.

    Args:
        reactor: Twisted's.
        told: what its exit status comes from.
        signalling: sends a signal to its process group, as long as it has not ended.
    """

    def __init__(self, reactor: Reactor, told: socket.socket, signalling: Callable[[int], None]) -> None:
        self._reactor = reactor
        self._told = told
        self._signalling = signalling
        self._on_end: Callable[[int], object] = lambda code: None

    def when_ended(self, told: Callable[[int], object]) -> None:
        """Call back once the process has ended, and what was left in its group; as `starting.when_ended`."""
        self._on_end = told
        self._reactor.addReader(self)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to all that is left of its process group."""
        self._signalling(number)

    def fileno(self) -> int:
        """Return what to wait for; called by Twisted."""
        return self._told.fileno()

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "end of a house player"

    def doRead(self) -> Exception | None:
        """Read the exit status; called by Twisted.

        Returns:
            None: it takes itself out of the loop.
        """
        try:
            data = self._told.recv(_STATUS_BYTES)
        except OSError:
            data = b""
        self._reactor.removeReader(self)
        self._told.close()
        self._on_end(int(data) if data else -signal.SIGKILL)  # it has ended with the process that it was forked from
        return None

    def connectionLost(self, reason: Failure) -> None:
        """Nothing more comes; called by Twisted."""


class ForkServer:
    """The process that a referee's house players are forked from: begun with the first, and ended with this object."""

    def __init__(self) -> None:
        self._running: tuple[socket.socket, subprocess.Popen[bytes]] | None = None
        """What it is asked over, and the process."""
        self._ending: weakref.finalize[..., ForkServer] | None = None
        self._numbers = itertools.count(1)

    def fork(
        self,
        begin: Begin,
        reactor: Reactor,
        request: ForkRequest,
        output: int,
        reached: Path | None,
        group: Group | None,
    ) -> ForkedProcess:
        """Ask for a process, which runs a house player.

        Args:
            begin: starts the process that it is forked from, if there is none yet, or none any more.
            reactor: Twisted's.
            request: what is asked, but for its number.
            output: descriptor that takes its stdout and stderr.
            reached: the referee's socket, if it has one of its own.
            group: what it joins.

        Raises:
            OSError: it can't be asked for.
        """
        number = next(self._numbers)
        asked = msgspec.json.encode(replace(request, number=number, has_socket=reached is not None))
        told, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.ExitStack() as undoing:
            undoing.callback(told.close)
            with theirs, _opened(reached, group) as descriptors:
                control = self._asked(begin, asked, [output, theirs.fileno(), *descriptors])
            undoing.pop_all()

        def _send_signal(which: int) -> None:
            with contextlib.suppress(OSError):  # it is gone, and so is who was forked
                control.send(msgspec.json.encode(SignalRequest(number=number, signal=which)))

        return ForkedProcess(reactor, told, _send_signal)

    def _asked(self, begin: Begin, asked: bytes, descriptors: list[int]) -> socket.socket:
        """Ask for something, if need be of a new process; return what was asked over."""
        control = self._begun(begin)
        try:
            socket.send_fds(control, [asked], descriptors)
        except (BrokenPipeError, ConnectionResetError):  # it has died just now
            self.close()
            control = self._begun(begin)
            socket.send_fds(control, [asked], descriptors)
        return control

    def close(self) -> None:
        """End the process, and with it all that were forked from it; another one begins if there is need of it."""
        if self._ending is not None:
            self._ending()

    def _begun(self, begin: Begin) -> socket.socket:
        """Return what the process is asked over; begin one if none runs."""
        if self._running is not None and self._running[1].poll() is None:
            return self._running[0]
        self.close()
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, contextlib.ExitStack() as undoing:
            undoing.callback(control.close)
            process, group = begin(theirs.fileno())
            undoing.pop_all()
        self._running = control, process
        self._ending = weakref.finalize(self, _end, control, process, group)
        return control


def for_all(limits: ProgramLimits) -> ProgramLimits:
    """Return what the process is held to that all are forked from, given the limits of one program."""
    files, processes = (_allowed(which, most) for which, most in ((RLIMIT_NOFILE, _FILES), (RLIMIT_NPROC, _PROCESSES)))
    return replace(limits, open_files=files, processes=processes)


def _allowed(which: int, most: int) -> int:
    """Return as much of a resource as this process could have itself."""
    _, allowed = getrlimit(which)
    return most if allowed == RLIM_INFINITY else min(most, allowed)


def _end(control: socket.socket, process: "subprocess.Popen[bytes]", group: Group | None) -> None:
    """End a process that forks, and all that it has forked."""
    control.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if group is not None:
        group.end()


@contextlib.contextmanager
def _opened(reached: Path | None, group: Group | None) -> Iterator[list[int]]:
    """Open a socket's file, only to be named, and the lists of processes of control groups."""
    with contextlib.ExitStack() as opened:
        descriptors = [] if reached is None else [os.open(reached, os.O_PATH | os.O_CLOEXEC)]
        descriptors += [] if group is None else group.opened()
        for descriptor in descriptors:
            opened.callback(os.close, descriptor)
        yield descriptors
