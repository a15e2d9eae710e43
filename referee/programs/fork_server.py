"""The referee's side of the process from which house players are forked."""

# To start an interpreter and import the code of a house player takes many times as long as a fork. House players are
# the referee's own code, so they may be forked from one process that has imported everything, and share one sandbox.
# Each house player still has its own limits, control groups and output. All of them end with this process, and it ends
# with the referee. house_process.py is the code that runs in it.

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
from .house_process import ForkRequest, SignalRequest
from .limits import CLEAR_S, ProgramLimits
from .output import Reactor

_FILES, _PROCESSES = 4096, 8192
"""Limits of open files and processes for all house players together, which may be hundreds."""
_STATUS_BYTES = 16

Begin = Callable[[int], tuple["subprocess.Popen[bytes]", Group | None]]
"""Function that starts the forking process, given the descriptor of the socket from which it reads requests."""


class ForkedProcess:
    """A house player's process. It is a reader for Twisted: its exit status comes from a socket.

    Args:
        reactor: Twisted's reactor.
        status_socket: socket from which the exit status comes.
        send: function that sends a signal to the process group, if the process has not ended.
    """

    def __init__(self, reactor: Reactor, status_socket: socket.socket, send: Callable[[int], None]) -> None:
        self._reactor = reactor
        self._status_socket = status_socket
        self._send = send
        self._callback: Callable[[int], object] = lambda code: None

    def on_end(self, callback: Callable[[int], object]) -> None:
        """Call back after the process has ended and the rest of its group was killed; see RunningProcess."""
        self._callback = callback
        self._reactor.addReader(self)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole process group."""
        self._send(number)

    def fileno(self) -> int:
        """Return the descriptor to wait for; called by Twisted."""
        return self._status_socket.fileno()

    def logPrefix(self) -> str:
        """Return a name; called by Twisted."""
        return "end of a house player"

    def doRead(self) -> Exception | None:
        """Read the exit status; called by Twisted.

        Returns:
            None: the reader removes itself from the loop.
        """
        try:
            data = self._status_socket.recv(_STATUS_BYTES)
        except OSError:
            data = b""
        self._reactor.removeReader(self)
        self._status_socket.close()
        self._callback(int(data) if data else -signal.SIGKILL)  # without a status, it was killed with its parent
        return None

    def connectionLost(self, reason: Failure) -> None:
        """Do nothing; called by Twisted."""


class ForkServer:
    """The process from which house players are forked. It starts with the first one, and ends with this object."""

    def __init__(self) -> None:
        self._running: tuple[socket.socket, subprocess.Popen[bytes]] | None = None
        """Socket for requests, and the process."""
        self._ending: weakref.finalize[..., ForkServer] | None = None
        self._numbers = itertools.count(1)

    def fork(
        self,
        begin: Begin,
        reactor: Reactor,
        request: ForkRequest,
        output: int,
        referee_socket: Path | None,
        group: Group | None,
    ) -> ForkedProcess:
        """Fork a process that runs a house player.

        Args:
            begin: function that starts the forking process; it is called if no such process is running.
            reactor: Twisted's reactor.
            request: the request, still without its number.
            output: descriptor for stdout and stderr.
            referee_socket: the player's own socket of the referee; None if it has none.
            group: control groups that the process joins.

        Raises:
            OSError: the request can't be sent.
        """
        number = next(self._numbers)
        data = msgspec.json.encode(replace(request, number=number, has_socket=referee_socket is not None))
        status_socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.ExitStack() as undoing:
            undoing.callback(status_socket.close)
            with theirs, _open_all(referee_socket, group) as descriptors:
                control = self._request(begin, data, [output, theirs.fileno(), *descriptors])
            undoing.pop_all()

        def _send(which: int) -> None:
            with contextlib.suppress(OSError):  # the forking process has ended, with all processes that it had forked
                control.send(msgspec.json.encode(SignalRequest(number=number, signal=which)))

        return ForkedProcess(reactor, status_socket, _send)

    def _request(self, begin: Begin, data: bytes, descriptors: list[int]) -> socket.socket:
        """Send a request, if necessary to a new forking process; return the socket on which it was sent."""
        control = self._begin_once(begin)
        try:
            socket.send_fds(control, [data], descriptors)
        except (BrokenPipeError, ConnectionResetError):  # the process has crashed just now
            self.close()
            control = self._begin_once(begin)
            socket.send_fds(control, [data], descriptors)
        return control

    def close(self) -> None:
        """End the process and all processes that it has forked. The next fork starts a new one."""
        if self._ending is not None:
            self._ending()

    def _begin_once(self, begin: Begin) -> socket.socket:
        """Return the socket of the forking process, and start this process if it is not running."""
        if self._running is not None and self._running[1].poll() is None:
            return self._running[0]
        self.close()
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, contextlib.ExitStack() as undoing:
            undoing.callback(control.close)
            process, group = begin(theirs.fileno())
            undoing.pop_all()
        self._running = control, process
        # This also works if this object is garbage-collected without `close`: nobody could use the process any more.
        self._ending = weakref.finalize(self, _end, control, process, group)
        return control


def limits_for_all(limits: ProgramLimits) -> ProgramLimits:
    """Return the limits of the forking process, given those of one program."""
    return replace(limits, open_files=_limit(RLIMIT_NOFILE, _FILES), processes=_limit(RLIMIT_NPROC, _PROCESSES))


def _limit(resource: int, most: int) -> int:
    """Return a limit of a resource: `most`, or the limit of this process if that is lower."""
    _, allowed = getrlimit(resource)
    return most if allowed == RLIM_INFINITY else min(most, allowed)


def _end(control: socket.socket, process: "subprocess.Popen[bytes]", group: Group | None) -> None:
    """End the forking process by closing its socket; kill it if it does not end."""
    control.close()
    try:
        process.wait(CLEAR_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if group is not None:
        group.end()


@contextlib.contextmanager
def _open_all(referee_socket: Path | None, group: Group | None) -> Iterator[list[int]]:
    """Open the file of a socket, only to pass it on, and the process lists of control groups."""
    with contextlib.ExitStack() as opened:
        descriptors = [] if referee_socket is None else [os.open(referee_socket, os.O_PATH | os.O_CLOEXEC)]
        descriptors += [] if group is None else group.open_lists()
        for descriptor in descriptors:
            opened.callback(os.close, descriptor)
        yield descriptors
