"""Runs in a sandbox for channels.py: tries to send a bit to another program, or to receive one, by each channel.

Each line on the referee's socket is a command to it, and it answers each in one line. It needs nothing but Python.
"""

import ctypes
import fcntl
import hashlib
import json
import mmap
import os
import platform
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

LOCKED, WATCHED, LARGE = "/usr/bin/env", "/usr/bin/id", sys.argv[1] if len(sys.argv) > 1 else ""
"""Files that everybody can read: one to lock and mark, one to watch, and one for reading single pages."""
_DEVICE = "/dev/null"
_SPACING_BYTES = 1 << 20
"""Pages between the pages of two channels, because the kernel reads ahead."""
_GET_HINT, _SET_HINT = 1035, 1036
_IN_OPEN = 0x20
_FUTEX = {"x86_64": 202, "aarch64": 98}
"""Number of the system call, by machine."""
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1
_WAIT_S = 2
_KEY, _IPC_CREATE, _IPC_REMOVE = 0x5EAF, 0o1600, 0
_NAME = "referee-leak"
_COUNTS = (
    "stat",
    "vmstat",
    "loadavg",
    "meminfo",
    "uptime",
    "diskstats",
    "schedstat",
    "sys/fs/file-nr",
    "sys/fs/inode-nr",
)
_libc = ctypes.CDLL(None, use_errno=True)


class Channel:
    """One way in which a bit could go from one program to another."""

    def arm(self) -> None:
        """Prepare to receive."""

    def send(self, *, bit: bool) -> None:
        """Send a bit; it replaces the last one."""

    def receive(self) -> bool:
        """Return the bit that was sent."""
        raise NotImplementedError


class Lock(Channel):
    """A file is locked, or is not.

    Args:
        path: of the file.
        flags: how it is opened.
        lock: of fcntl.
    """

    def __init__(self, path: str, flags: int, lock: Callable[[int, int], object]) -> None:
        self._file = os.open(path, flags)
        self._lock = lock

    def send(self, *, bit: bool) -> None:
        """Lock or unlock."""
        self._lock(self._file, fcntl.LOCK_EX if bit else fcntl.LOCK_UN)

    def receive(self) -> bool:
        """Return whether the file is locked."""
        try:
            self._lock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        self._lock(self._file, fcntl.LOCK_UN)
        return False


class Hint(Channel):
    """The kernel stores with a file how long its new content will live."""

    def __init__(self) -> None:
        self._file = os.open(LOCKED, os.O_RDONLY)

    def send(self, *, bit: bool) -> None:
        """Set one of two hints."""
        fcntl.fcntl(self._file, _SET_HINT, struct.pack("Q", 2 + bit))

    def receive(self) -> bool:
        """Ask for the hint."""
        found: int = struct.unpack("Q", fcntl.fcntl(self._file, _GET_HINT, bytes(8)))[0]
        return found == 2 + True


class FileTimes(Channel):
    """A device has one of two times."""

    def send(self, *, bit: bool) -> None:
        """Set the time."""
        os.utime(_DEVICE, (1000 + bit, 1000 + bit))

    def receive(self) -> bool:
        """Return whether the time is the later one."""
        return Path(_DEVICE).stat().st_mtime == 1000 + True


class Notice(Channel):
    """A file is opened, or is not."""

    def arm(self) -> None:
        """Ask the kernel for a notice."""
        self._notices = _called(_libc.inotify_init1, os.O_NONBLOCK)
        _called(_libc.inotify_add_watch, self._notices, WATCHED.encode(), _IN_OPEN)

    def send(self, *, bit: bool) -> None:
        """Open the file."""
        if bit:
            os.close(os.open(WATCHED, os.O_RDONLY))

    def receive(self) -> bool:
        """Return whether a notice came since the last call."""
        with suppress(BlockingIOError):
            return bool(os.read(self._notices, 4096))
        return False


class Page(Channel):
    """A page of a file is in memory, or is not.

    Args:
        place: among the channels that read pages.
        is_there: returns whether the page at an offset of a file is in memory.
    """

    def __init__(self, place: int, is_there: Callable[[int, int], bool]) -> None:
        self._file = os.open(LARGE, os.O_RDONLY)
        self._offset = place * _SPACING_BYTES
        self._is_there = is_there

    def send(self, *, bit: bool) -> None:
        """Read the page."""
        if bit:
            os.pread(self._file, 1, self._offset)

    def receive(self) -> bool:
        """Find out whether the page is in memory."""
        return self._is_there(self._file, self._offset)


def by_asking(file: int, offset: int) -> bool:
    """Ask the kernel whether the page of the mapped file is in memory."""
    with mmap.mmap(file, mmap.PAGESIZE, access=mmap.ACCESS_COPY, offset=offset) as pages:
        found = ctypes.create_string_buffer(1)
        start = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(pages)))
        _called(_libc.mincore, start, ctypes.c_size_t(mmap.PAGESIZE), found)
        return bool(found.raw[0] & 1)


def by_not_waiting(file: int, offset: int) -> bool:
    """Read the page only if that needs no waiting."""
    try:
        os.preadv(file, [bytearray(1)], offset, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    return True


def by_time(file: int, offset: int) -> bool:
    """Compare the time for reading the page with the times of another page, before and after it is in memory."""
    asked, absent, present = (_read_s(file, place) for place in (offset, offset + _SPACING_BYTES, offset))
    return asked * asked < absent * present


def _read_s(file: int, offset: int) -> float:
    began = time.perf_counter()
    os.pread(file, 1, offset)
    return time.perf_counter() - began


class AbstractSocket(Channel):
    """A program listens at an abstract name, or none does."""

    _socket: socket.socket | None = None

    def send(self, *, bit: bool) -> None:
        """Listen, or stop."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if bit:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.bind(f"\0{_NAME}")
            self._socket.listen()

    def receive(self) -> bool:
        """Try to connect."""
        with socket.socket(socket.AF_UNIX) as end, suppress(ConnectionRefusedError):
            end.connect(f"\0{_NAME}")
            return True
        return False


class File(Channel):
    """A file exists in one of the writable places, or does not."""

    def __init__(self) -> None:
        self._paths = [Path(folder, _NAME) for folder in ("/tmp", "/dev/shm", os.environ["HOME"])]  # its own

    def send(self, *, bit: bool) -> None:
        """Make the file, or remove it."""
        for path in self._paths:
            path.touch() if bit else path.unlink(missing_ok=True)

    def receive(self) -> bool:
        """Look for it."""
        return any(path.exists() for path in self._paths)


class SharedMemory(Channel):
    """Memory exists under a key of System V, or does not."""

    def send(self, *, bit: bool) -> None:
        """Make it, or remove it."""
        if bit:
            _called(_libc.shmget, _KEY, ctypes.c_size_t(4096), _IPC_CREATE)
        elif self.receive():
            _called(_libc.shmctl, _libc.shmget(_KEY, ctypes.c_size_t(0), 0), _IPC_REMOVE, None)

    def receive(self) -> bool:
        """Look for it."""
        with suppress(FileNotFoundError):
            return _called(_libc.shmget, _KEY, ctypes.c_size_t(0), 0) >= 0
        return False


class Futex(Channel):
    """A thread waits at a word of a file that everybody can read, or none does; the file identifies the word."""

    def __init__(self) -> None:
        map_pages = _libc.mmap
        map_pages.restype = ctypes.c_void_p
        with Path(LOCKED).open("rb") as file:  # a writable page would be the program's own
            at = map_pages(None, ctypes.c_size_t(mmap.PAGESIZE), 1, 1, file.fileno(), ctypes.c_long(0))
        self._word = ctypes.c_uint32.from_address(at)
        self._number = ctypes.c_long(_FUTEX.get(platform.machine(), -1))

    def send(self, *, bit: bool) -> None:
        """Let a thread wait at the word."""
        if bit:
            threading.Thread(target=self._call, args=(_FUTEX_WAIT, self._word.value), daemon=True).start()
            time.sleep(0.1)  # until the thread waits

    def receive(self) -> bool:
        """Wake the waiting threads, and return whether there were any."""
        return self._call(_FUTEX_WAKE, 1) > 0

    def _call(self, operation: int, value: int) -> int:
        limit = (ctypes.c_long * 2)(_WAIT_S, 0)
        number: int = _libc.syscall(self._number, ctypes.byref(self._word), operation, value, limit, None, 0)
        return number


MAKERS: dict[str, Callable[[], Channel]] = {
    "lock of a file": lambda: Lock(LOCKED, os.O_RDONLY, fcntl.flock),
    "lock of a byte": lambda: Lock(_DEVICE, os.O_RDWR, fcntl.lockf),
    "hint of a file": Hint,
    "time of a device": FileTimes,
    "notice of opening": Notice,
    "file in memory, asked for": lambda: Page(0, by_asking),
    "file in memory, not waited for": lambda: Page(1, by_not_waiting),
    "file in memory, timed": lambda: Page(2, by_time),
    "abstract socket": AbstractSocket,
    "file of its own": File,
    "shared memory": SharedMemory,
    "wait at a file": Futex,
}
"""Class of each channel, by name."""


def _called(function: Callable[..., int], *arguments: object) -> int:
    result = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def counts() -> str:
    """Return everything that the machine's counters and disk show, as one hash."""
    found = []
    for path in (Path("/proc", name) for name in _COUNTS):
        with suppress(OSError):
            found.append(path.read_text())
    with suppress(OSError):
        found.append(str(os.statvfs("/usr")))
    return hashlib.sha256("".join(found).encode()).hexdigest()


def own_folder() -> list[int]:
    """Return values that are different for every file that ever existed, for one file of this program's own."""
    status = Path(__file__).stat()
    return [status.st_dev, status.st_ino, status.st_ctime_ns]


class Probe:
    """All channels of one program."""

    def __init__(self) -> None:
        self._refused: dict[str, str] = {}
        self._channels: dict[str, Channel] = {}
        for name, make in MAKERS.items():
            channel = self._try(name, make)
            if channel is not None:
                self._channels[name] = channel

    def _try(self, name: str, attempt: Callable[[], Any]) -> Any:
        if name in self._refused:
            return None
        try:
            return attempt()
        except OSError as error:
            self._refused[name] = error.strerror or type(error).__name__
            return None

    def done(self, what: str, bits: dict[str, bool]) -> dict[str, Any]:
        """Do one command (arm, send or receive) with all channels, and return the results."""
        heard = {}
        for name, channel in self._channels.items():
            if what == "arm":
                self._try(name, channel.arm)
            elif what == "send":
                self._try(name, partial(channel.send, bit=bits[name]))
            else:
                heard[name] = self._try(name, channel.receive)
        return {"heard": heard, "refused": self._refused, "counts": counts(), "own folder": own_folder()}


def main() -> None:
    """Answer commands until the connection ends."""
    probe = Probe()
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(os.environ["REFEREE_ADDRESS"].removeprefix("unix:"))
        with end.makefile("rw") as lines:
            for line in lines:
                asked = json.loads(line)
                lines.write(json.dumps(probe.done(asked["do"], asked["bits"])) + "\n")
                lines.flush()


if __name__ == "__main__":
    main()
