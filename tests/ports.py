"""Finds ports for servers that are told by number where to listen."""

import contextlib
import secrets
import socket

_PORTS = range(20_000, 32_000)
"""Below those that Linux gives to connections."""


def free_port() -> int:
    """Return a port that nobody has, and that no connection is given while the server starts."""
    while True:
        port = secrets.choice(_PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
