"""Read an address, which says where and how to connect.

>>> parse_address("tcp:127.0.0.1:7777")
Address(kind=<AddressKind.TCP: 'tcp'>, host='127.0.0.1', port=7777, path='')
"""

from enum import StrEnum

from msgspec import Struct


class AddressError(ValueError):
    """The text is not an address; the error shows the possible forms."""


class AddressKind(StrEnum):
    """How to connect."""

    TCP = "tcp"
    TLS = "tls"
    """TLS over TCP: the referee proves its name."""
    UNIX = "unix"
    """A socket in the file system."""


class Address(Struct, frozen=True, kw_only=True):
    """Place where a referee listens."""

    kind: AddressKind
    host: str = ""
    """Name or number of the machine; empty for `unix`."""
    port: int = 0
    """1 to 65535; 0 for `unix`."""
    path: str = ""
    """Path of the socket; empty for `tcp` and `tls`."""


MAX_PORT = 65_535
MAX_PATH_BYTES = 107
"""Longest path of a socket on Linux: sockaddr_un has 108 bytes, and the last one is a null."""
_FORMS = "an address is tcp:HOST:PORT, tls:HOST:PORT or unix:PATH"


def parse_address(text: str) -> Address:
    """Read an address.

    Args:
        text: `tcp:HOST:PORT`, `tls:HOST:PORT` or `unix:PATH`; a HOST with colons may stand in brackets.

    Raises:
        AddressError: the text has another form, a port that does not exist, or a path that is too long.

    >>> parse_address("unix:/run/referee.sock").path
    '/run/referee.sock'
    >>> parse_address("tls:[::1]:7777").host
    '::1'
    >>> parse_address("localhost:7777")
    Traceback (most recent call last):
    protocol.address.AddressError: an address is tcp:HOST:PORT, tls:HOST:PORT or unix:PATH, not 'localhost:7777'
    """
    if not isinstance(text, str):
        raise AddressError(f"{_FORMS}, as text, not of the type {type(text).__name__}")
    kind, _, rest = text.partition(":")
    if kind not in set(AddressKind) or not rest:
        raise AddressError(f"{_FORMS}, not {text!r}")
    if kind == AddressKind.UNIX:
        # Checked here, because the system's own error for a long path names neither the path nor the limit.
        if len(rest.encode()) > MAX_PATH_BYTES:
            raise AddressError(f"the path of a socket has at most {MAX_PATH_BYTES} bytes, not as many as {text!r}")
        return Address(kind=AddressKind.UNIX, path=rest)
    host, _, port = rest.rpartition(":")  # from the right: an IPv6 address has colons of its own
    host = host.removeprefix("[").removesuffix("]")
    if not host:
        raise AddressError(f"{_FORMS}, not {text!r}")
    if not (port.isascii() and port.isdecimal() and len(port) <= len(str(MAX_PORT)) and 0 < int(port) <= MAX_PORT):
        raise AddressError(f"the port is a number from 1 to {MAX_PORT}, not {port!r} as in {text!r}")
    return Address(kind=AddressKind(kind), host=host, port=int(port))
