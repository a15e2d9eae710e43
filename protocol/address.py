"""Reads the text of an address: where to connect, and how."""

from enum import StrEnum

from msgspec import Struct


class AddressError(ValueError):
    """A text that is no address; it says what one looks like."""


class AddressKind(StrEnum):
    """How to connect."""

    TCP = "tcp"
    TLS = "tls"
    """TCP, and TLS over it."""
    UNIX = "unix"
    """A socket in the file system."""


class Address(Struct, frozen=True, kw_only=True):
    """Where a referee listens."""

    kind: AddressKind
    host: str = ""
    """Name or number of the machine; empty for `unix`."""
    port: int = 0
    """1 to 65535; 0 for `unix`."""
    path: str = ""
    """Of the socket; empty but for `unix`."""


MAX_PORT = 65_535
MAX_PATH_BYTES = 107
"""What the name of a socket may have on Linux."""
_FORMS = "an address is tcp:HOST:PORT, tls:HOST:PORT or unix:PATH"


def parse_address(text: str) -> Address:
    """Read an address.

    Args:
        text: `tcp:HOST:PORT`, `tls:HOST:PORT` or `unix:PATH`; a HOST with colons may stand in brackets.

    Raises:
        AddressError: it has another form, a port that there is not, or a path that is too long.
    """
    if not isinstance(text, str):
        raise AddressError(f"{_FORMS}, as text, not of the type {type(text).__name__}")
    kind, _, rest = text.partition(":")
    if kind not in set(AddressKind) or not rest:
        raise AddressError(f"{_FORMS}, not {text!r}")
    if kind == AddressKind.UNIX:
        if len(rest.encode()) > MAX_PATH_BYTES:
            raise AddressError(f"the path of a socket has at most {MAX_PATH_BYTES} bytes, not as many as {text!r}")
        return Address(kind=AddressKind.UNIX, path=rest)
    host, _, port = rest.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host:
        raise AddressError(f"{_FORMS}, not {text!r}")
    if not (port.isascii() and port.isdecimal() and len(port) <= len(str(MAX_PORT)) and 0 < int(port) <= MAX_PORT):
        raise AddressError(f"the port is a number from 1 to {MAX_PORT}, not {port!r} as in {text!r}")
    return Address(kind=AddressKind(kind), host=host, port=int(port))
