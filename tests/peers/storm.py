"""Storms of connections, each from a process of its own, and functions that start them.

Started with `KIND HOST PORT SOURCE`. It storms until the test hangs up.
"""

import contextlib
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOPS = 2
"""Number of processes of a storm."""
_FIRST = 1024
"""Number of connections that the test waits for: twice as many as are no storm if they come at once."""
_HELD = 900
"""Number of connections that one of them holds at once, as far as the system allows."""
_BIND_ADDRESS_NO_PORT = 24
"""Option that lets Linux choose the port when it connects: choosing it before takes ten times as long after a storm."""


def closes(connect: Callable[[], socket.socket]) -> None:
    """Connect and close."""
    with contextlib.suppress(OSError):
        connect().close()


def holds(connect: Callable[[], socket.socket]) -> None:
    """Connect, send nothing, and stay; the oldest connection is closed when there are many."""
    with contextlib.suppress(OSError):
        _HOLDING.append(connect())
    if len(_HOLDING) > _HELD:
        _HOLDING.pop(0).close()


_HOLDING: list[socket.socket] = []
KINDS = {"closes": closes, "holds": holds}


@contextmanager
def storming(kind: str, address: str, source: str) -> Iterator[None]:
    """Storm an address from some loopback address while the context lasts.

    Args:
        kind: of the storm.
        address: `tcp:HOST:PORT`.
        source: where the connections are from.
    """
    host, port = address.split(":")[1:]
    command = [sys.executable, "-m", "tests.peers.storm", kind, host, port, source]
    loops = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(LOOPS)]
    try:
        for loop in loops:
            assert loop.stdout is not None
            assert loop.stdout.read(1) == b"."  # the referee has taken its first ones
        yield
    finally:
        for loop in loops:
            loop.communicate()


def main(kind: str, host: str, port: str, source: str) -> None:
    """Storm until the other end of stdin is closed."""

    def connect() -> socket.socket:
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_IP, _BIND_ADDRESS_NO_PORT, 1)
        connection.settimeout(10)
        connection.bind((source, 0))
        connection.connect((host, int(port)))
        return connection

    storm, count = KINDS[kind], 0
    while count % 64 or not select.select([sys.stdin], [], [], 0)[0]:
        storm(connect)
        count += 1
        if count == _FIRST:
            _wait_until_taken(connect)
            print(end=".", flush=True)


def _wait_until_taken(connect: Callable[[], socket.socket]) -> None:
    """Wait until the referee has taken all connections so far: it takes them in order, and ends one more."""
    with contextlib.suppress(OSError), connect() as last:
        last.shutdown(socket.SHUT_WR)
        while last.recv(4096):
            pass


if __name__ == "__main__":
    main(*sys.argv[1:])
