"""Messages between the tournament's process and its workers: frames of msgpack with one or more messages, never code.

They go over a socket. A helper process has the other end; it runs next to this process, and ends when this process
ends.
"""

import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import msgspec
from msgspec import Struct
from twisted.internet.abstract import FileDescriptor
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure

from ...match.events import AnyEvent
from ...programs.confining import Confinement
from ...programs.control_groups import ControlGroups
from ...programs.fork_server import ForkServer
from ...programs.limits import ProgramLimits
from ...programs.output import OutputPipe
from ...programs.processes import ChildProcess, ProcessCommand, start
from ...programs.sandbox import Sandbox
from ...record.folder import record_names
from ...settings import RunTerms

T = TypeVar("T")
_LENGTH = struct.Struct(">I")
READ_BYTES = 1 << 18
"""Most bytes that are read at once."""
MAX_FRAME_BYTES = (1 << 32) - 1
"""Longest frame of a trusted process: the largest number that fits into its length."""
_LAST_READS = 64
"""Number of reads that is enough to empty any socket."""


class SharedSettings(Struct, frozen=True, kw_only=True, tag="settings"):
    """The first order: settings of all matches of a worker."""

    folder: Path
    """Folder of the records."""
    sandbox: Sandbox | None
    groups: ControlGroups | None
    limits: ProgramLimits
    hidden: tuple[Path, ...]
    terms: RunTerms
    process: str = ""
    """Name of the worker in the records of its matches."""

    @classmethod
    def of(cls, folder: Path, confinement: Confinement, terms: RunTerms) -> Self:
        """Return the order that passes this process's sandbox settings to a worker."""
        sandbox = confinement.sandbox
        return cls(
            folder=folder.absolute(),
            sandbox=None if sandbox is None else Sandbox(program=sandbox.program, is_filtered=sandbox.is_filtered),
            groups=confinement.groups,
            limits=confinement.limits,
            hidden=confinement.hidden,
            terms=terms,
        )

    def confinement(self) -> Confinement:
        """Return the sandbox settings as an object; the caller has to close it."""
        return Confinement(
            sandbox=self.sandbox,
            groups=self.groups,
            limits=self.limits,
            hidden=self.hidden,
            private_names=record_names,
            fork_server=ForkServer(),
        )


class Play(Struct, frozen=True, kw_only=True, tag="play"):
    """Play a job."""

    job: bytes
    is_followed: bool
    """True if the worker has to report each transition of the match."""


class Pause(Struct, frozen=True, kw_only=True, tag="pause"):
    """Stop a match in the middle."""

    match: str


class Close(Struct, frozen=True, kw_only=True, tag="close"):
    """End all programs that stayed, and then the worker: no more matches come."""


class Advanced(Struct, frozen=True, kw_only=True, tag="advanced"):
    """A match has taken an event, which is on record."""

    match: str
    line: int
    hash: str
    event: AnyEvent


class Noted(Struct, frozen=True, kw_only=True, tag="noted"):
    """Something has happened at the edges, as Observer.note has it."""

    event: str
    facts: dict[str, Any]


class OrganiserNote(Struct, frozen=True, kw_only=True, tag="said"):
    """Something that an organiser should know; see Observer.on_notice."""

    text: str


class MatchEnded(Struct, frozen=True, kw_only=True, tag="ended"):
    """A match is over; its record is complete except for the seal."""

    match: str
    head: str
    """Hash of the result line."""


class MatchStopped(Struct, frozen=True, kw_only=True, tag="paused"):
    """A match was stopped in the middle."""

    match: str


class MatchFailed(Struct, frozen=True, kw_only=True, tag="failed"):
    """A match can't be played here, or its record can't be written."""

    match: str
    why: str


class Alive(Struct, frozen=True, kw_only=True, tag="alive"):
    """The worker's loop still runs."""


Order = SharedSettings | Play | Pause | Close
Report = Advanced | Noted | OrganiserNote | MatchEnded | MatchStopped | MatchFailed | Alive
ORDERS: Any = tuple[Order, ...]
REPORTS: Any = tuple[Report, ...]


class Frames(Generic[T]):
    """Cuts the incoming bytes into frames of messages.

    Args:
        kind: type of a frame's content, a tuple of messages.
        most_bytes: length of the longest frame that is accepted.
    """

    def __init__(self, kind: type[T], most_bytes: int = MAX_FRAME_BYTES) -> None:
        self._most_bytes = most_bytes
        self._decoder = msgspec.msgpack.Decoder(kind, dec_hook=lambda wanted, text: wanted(text))
        self._rest = bytearray()

    def add(self, data: bytes) -> list[T]:
        """Take the next bytes, and return the frames that are complete now.

        Raises:
            DecodeError: a frame is too long, or does not hold such messages.
        """
        self._rest += data
        frames = []
        start = 0
        while len(self._rest) - start >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._rest, start)
            if size > self._most_bytes:
                raise msgspec.DecodeError(f"a frame has {size} bytes; the limit is {self._most_bytes}")
            begin = start + _LENGTH.size
            if len(self._rest) < begin + size:
                break
            start = begin + size
            frames.append(self._decoder.decode(memoryview(self._rest)[begin:start].tobytes()))
        del self._rest[:start]
        return frames


def pack_frame(messages: Sequence[Struct]) -> bytes:
    """Return a frame of messages."""
    body = msgspec.msgpack.encode(messages, enc_hook=str)
    return _LENGTH.pack(len(body)) + body


class SocketEnd(FileDescriptor):
    """One of two connected sockets, read and written by Twisted's loop.

    Args:
        reactor: Twisted's.
        end: the socket.
        on_data: called with the bytes that come.
        on_loss: called once nothing more comes.
    """

    def __init__(
        self, reactor: Any, end: socket.socket, on_data: Callable[[bytes], None], on_loss: Callable[[], None]
    ) -> None:
        super().__init__(reactor)
        end.setblocking(False)
        self._end = end
        self._on_data = on_data
        self._on_loss = on_loss
        self.connected = 1
        self.startReading()  # type: ignore[no-untyped-call]

    def fileno(self) -> int:
        """Return the descriptor; called by Twisted."""
        return self._end.fileno()

    def doRead(self) -> Exception | None:
        """Read what is there; called by Twisted."""
        try:
            data = self._end.recv(READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return ConnectionLost()
        if not data:
            return ConnectionDone()
        self._on_data(data)
        return None

    def leave(self) -> None:
        """Close the socket once everything is written."""
        self.loseConnection()  # type: ignore[no-untyped-call]

    def read_rest(self) -> None:
        """Read what a process that has ended has left in the socket."""
        for _ in range(_LAST_READS):
            if self.doRead() is not None:
                break

    def writeSomeData(self, data: bytes) -> int | Exception:
        """Write what the system takes; called by Twisted."""
        try:
            return self._end.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return ConnectionLost()

    def connectionLost(self, reason: Failure) -> None:
        """Close the socket and report that; called by Twisted."""
        super().connectionLost(reason)  # type: ignore[no-untyped-call]
        self._end.close()
        self._on_loss()


class HelperProcess:
    """A process that works for this one.

    Args:
        reactor: Twisted's reactor.
        module: module to run; its argument is the descriptor of its end of the socket.
        output: file for the last part of what it prints.
        on_data: called with the bytes that it sends.
        on_end: called with the way in which it has ended, in a few words.

    Raises:
        OSError: it can't be started.
    """

    def __init__(
        self,
        reactor: Any,
        module: str,
        output: Path,
        on_data: Callable[[bytes], None],
        on_end: Callable[[str], None],
    ) -> None:
        self._report_end = on_end
        self._why = ""
        """Reason for which it was killed."""
        self._output = OutputPipe(reactor, output)
        ours, theirs = socket.socketpair()
        descriptor = theirs.detach()
        argv = (sys.executable, "-m", module, str(descriptor))
        try:
            with ProcessCommand(argv, (descriptor,)) as command:
                process = start(command, cwd=None, env=dict(os.environ), output=self._output.write_fd)
        except OSError:
            ours.close()
            self._output.close()
            raise
        finally:
            self._output.close_write_end()
        self._end = SocketEnd(reactor, ours, on_data, lambda: None)
        self.pid = process.pid
        self._process = ChildProcess(process, reactor)
        self._process.on_end(self._on_exit)

    def write(self, data: bytes) -> None:
        """Send bytes to it."""
        self._end.write(data)

    def leave(self) -> None:
        """Close the socket once everything is written."""
        self._end.leave()

    def kill(self, why: str) -> None:
        """End the process and its programs at once.

        Args:
            why: the reason in a few words.
        """
        self._why = self._why or why
        self._process.send_signal(signal.SIGKILL)

    def _on_exit(self, code: int) -> None:
        self._end.read_rest()
        self._end.leave()
        self._output.close()
        how = self._why or (f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}")
        words = f": {self._output.tail.last_words}" if self._output.tail.last_words else ""
        self._report_end(f"{how}{words}")
