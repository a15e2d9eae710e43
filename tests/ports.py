"""Finds ports for servers that must be given a number."""

import contextlib
import secrets
import socket

_PORTS = range(20_000, 32_000)
"""Ports below those that Linux gives to connections."""


def free_port() -> int:
    """Return a free port that no connection gets while the server starts."""
    while True:
        port = secrets.choice(_PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
