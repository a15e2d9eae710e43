"""Processes that make the kernel work outside of their control group: `burden.py WHAT PROCESSES SECONDS`.

It stands alone, so that a sandbox can show it: nothing of the tests is imported. It prints how often it asked.
"""

import ctypes
import mmap
import os
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path

FILE = "/usr/bin/env"
"""A file on a disk that everybody can read."""
LINE = b"x" * 4000
SO_ATTACH_FILTER = 26
RETURN_ALL = (ctypes.c_uint16 * 4)(6, 0, 0xFFFF, 0)
"""A filter of one instruction, which passes every packet."""
MPOL_BIND, MPOL_MF_MOVE = 2, 2
MADV_COLLAPSE = 25
LIBC = ctypes.CDLL(None, use_errno=True)
Act = Callable[[], object]


class Program(ctypes.Structure):
    """A socket's filter, as the kernel takes it."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def ask_nothing() -> Act:
    """Make calls that burden nobody, for comparison."""
    return os.getppid


def sync_all() -> Act:
    """Make the kernel write everything to the disks."""
    return os.sync


def sync_file_system() -> Act:
    """Make the kernel write a common file system to its disk."""
    return partial(LIBC.syncfs, os.open(FILE, os.O_RDONLY))


def sync_file() -> Act:
    """Make the kernel write one file to its disk."""
    return partial(LIBC.fsync, os.open(FILE, os.O_RDONLY))


def change_cores() -> Act:
    """Move from core to core."""
    cores = cycle(sorted(os.sched_getaffinity(0)))
    return lambda: os.sched_setaffinity(0, {next(cores)})


def write_to_terminal() -> Act:
    """Write to a pseudo-terminal, if there is one."""
    try:
        outer, inner = os.openpty()
    except OSError:
        return os.getppid
    os.set_blocking(outer, False)
    os.set_blocking(inner, False)

    def _write() -> None:
        for act in (partial(os.write, outer, LINE), partial(os.read, inner, 4096), partial(os.read, outer, 4096)):
            try:
                act()
            except BlockingIOError:
                continue

    return _write


def move_pages() -> Act:
    """Make the kernel move pages to the memory where they are."""
    pages = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE)
    pages[0] = 1
    at, nodes = ctypes.addressof(ctypes.c_char.from_buffer(pages)), ctypes.c_ulong(1)
    number = {"x86_64": 237}.get(os.uname().machine, 235)
    size = ctypes.c_ulong(4096)
    place = (ctypes.c_void_p(at), size, ctypes.c_ulong(MPOL_BIND), ctypes.byref(nodes), ctypes.c_ulong(64))
    return lambda: LIBC.syscall(ctypes.c_long(number), *place, ctypes.c_ulong(MPOL_MF_MOVE))


def replace_filter() -> Act:
    """Give a socket one filter after the other."""
    program = Program(1, ctypes.addressof(RETURN_ALL))
    here, _there = pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    option = (socket.SOL_SOCKET, SO_ATTACH_FILTER, ctypes.byref(program), ctypes.sizeof(program))
    return lambda: (pair, LIBC.setsockopt(here.fileno(), *option))


def refresh_statistics() -> Act:
    """Make all cores report their counters, if root's own files can be read."""
    path = Path("/proc/sys/vm/stat_refresh")

    def _refresh() -> None:
        try:
            path.read_bytes()
        except OSError:
            os.getppid()

    return _refresh


BURDENS = {
    make.__name__: make
    for make in (
        *(ask_nothing, sync_all, sync_file_system, sync_file, change_cores, write_to_terminal, move_pages),
        *(replace_filter, refresh_statistics),
    )
}


def main(what: str, processes: int, seconds: float) -> None:
    """Fork, call again and again in every process, and print how often the first one called."""
    is_first = all(os.fork() for _ in range(processes - 1))
    act, count, end = BURDENS[what](), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        act()
        count += 1
    if is_first:
        print(count, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
