"""Addresses to listen on, and how players write them."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from twisted.internet.defer import Deferred, gatherResults, maybeDeferred
from twisted.internet.error import CannotListenError

from ...clock import Port
from ...errors import BadRequest

BACKLOG = 4096
"""Connections that the system holds until the loop accepts them; Linux' own maximum. Linux drops all others, whose
players try again only after one second, then after two more. With Twisted's 50, honest players lost seconds when
hundreds came at once."""
ACCEPTS = 16
"""Connections that one turn of the loop accepts; the others wait in the backlog. Twisted accepts more in a
turn when more come: in a storm, one turn would delay everybody by half a second."""
_V6_BITS = 64
"""Bits of an IPv6 address that identify a site; the machines of the site choose the rest."""
_WITH_BACKLOG = ("tcp", "tcp6", "ssl", "unix")
_LAST_PORT = 65_535
_FORM = "write tcp:PORT:interface=ADDRESS, tcp6:PORT, ssl:PORT:privateKey=FILE:certKey=FILE or unix:FILE"
_FORMS = {
    "tcp": "write tcp:PORT, or tcp:PORT:interface=ADDRESS; an address of IPv6 takes tcp6:PORT:interface=\\:\\:1",
    "tcp6": "write tcp6:PORT, or tcp6:PORT:interface=\\:\\:1 with a backslash before each colon of the address",
    "ssl": "write ssl:PORT:privateKey=FILE:certKey=FILE, with a key and a certificate in PEM",
    "unix": "write unix:FILE",
}
"""Kind of endpoint that can be listened on -> how it is written."""
_MEANT = {"tls": "ssl", "https": "ssl", "http": "tcp"}
"""Kind of address as players and browsers write it -> kind of endpoint."""


class EndpointError(BadRequest):
    """An address that can't be listened on; the text names it and says why."""


async def listen(reactor: Any, address: str, factory: Any) -> Port:
    """Listen on an address.

    Args:
        reactor: Twisted's reactor.
        address: Twisted endpoint string, e.g. `tcp:7777` or `ssl:7777:privateKey=key.pem:certKey=cert.pem`.
        factory: makes what serves a connection.

    Raises:
        EndpointError: it can't be listened on.
    """
    try:
        port = await _endpoint(reactor, address).listen(factory)
    except Exception as error:  # noqa: BLE001  # what an endpoint's parser raises is its plugin's choice
        raise explain_error(address, error) from None
    return limit_accepts(port)


def limit_accepts(port: Any) -> Port:
    """Let a port accept ACCEPTS connections in a turn of the loop, and never more: Twisted would raise the number."""
    read = port.doRead

    def _read() -> Any:
        port.numberAccepts = ACCEPTS
        return read()

    port.doRead = _read
    return cast("Port", port)


def find_origin(host: str) -> str:
    """Return the origin that answers for an address: the address itself, or the site of an IPv6 address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    inner = address.ipv4_mapped
    return str(inner or ipaddress.ip_network((address, _V6_BITS), strict=False))


def make_endpoint(port: int, interface: str) -> str:
    """Return the endpoint string of a TCP port.

    Args:
        port: from 0 to 65535.
        interface: address of this machine, of version 4 or 6.
    """
    kind = "tcp6" if ":" in interface else "tcp"
    written = interface.replace("\\", r"\\").replace(":", r"\:")
    return f"{kind}:{port}:interface={written}"


def check(address: str) -> None:
    """Check the form of an address; only listening on it shows whether it is free.

    Raises:
        EndpointError: it is no endpoint string, or its key or certificate can't be read.
    """
    try:
        _endpoint(None, address)
    except Exception as error:  # noqa: BLE001  # what an endpoint's parser raises is its plugin's choice
        raise explain_error(address, error) from None


def explain_error(address: str, error: Exception) -> EndpointError:
    """Return the error that says why an address can't be listened on."""
    if isinstance(error, EndpointError):
        return error
    kind = address.partition(":")[0]
    cause = error.socketError if isinstance(error, CannotListenError) else error
    if isinstance(cause, OSError):
        file = f": {cause.filename}; {_FORMS[kind]}" if kind == "ssl" and cause.filename else ""
        return EndpointError(f"can't listen on {address}: {cause.strerror or cause}{file}")
    return EndpointError(f"{address!r} is no endpoint; {_FORMS.get(kind, _FORM)}")


def _endpoint(reactor: Any, address: str) -> Any:
    """Return the endpoint of an address.

    Raises:
        Exception: the address is no endpoint; each kind of Twisted's endpoints raises an error of its own.
    """
    kind, _, rest = address.partition(":")
    if kind not in _FORMS:
        form = _FORMS.get(_MEANT.get(kind, ""), _FORM)
        raise EndpointError(f"{address!r} is no endpoint that the referee listens on; {form}")
    port = rest.partition(":")[0]
    if kind != "unix" and not (port.isascii() and port.isdecimal() and int(port) <= _LAST_PORT):
        raise EndpointError(f"{address!r} is no endpoint: it has no port from 0 to {_LAST_PORT}; {_FORMS[kind]}")
    if kind == "unix" and not rest:
        raise EndpointError(f"{address!r} is no endpoint: it names no file; {_FORMS[kind]}")
    from twisted.internet.endpoints import serverFromString  # noqa: PLC0415  # it imports TLS, which few processes need

    return serverFromString(reactor, with_backlog(address))


def with_backlog(address: str) -> str:
    """Add the backlog to an endpoint string of a kind that takes it, unless it has one."""
    takes_backlog = address.partition(":")[0] in _WITH_BACKLOG and ":backlog=" not in address
    return f"{address}:backlog={BACKLOG}" if takes_backlog else address


async def stop_listening(port: Port) -> None:
    """Close a port."""
    await maybeDeferred(port.stopListening)


class Ports:
    """All ports of one lobby."""

    def __init__(self) -> None:
        self._ports: list[Port] = []
        self._stopping: list[Deferred[Any]] = []

    async def open(self, reactor: Any, endpoints: Sequence[str | Path], factory: Any) -> str:
        """Listen.

        Args:
            reactor: Twisted's reactor.
            endpoints: Twisted endpoint strings, or sockets in a private folder; one or more.
            factory: makes what serves a connection.

        Returns:
            Address of the first one, as a player writes it.

        Raises:
            EndpointError: one of them can't be listened on; those before it stay open until `stop`.
        """
        for endpoint in endpoints:
            if isinstance(endpoint, Path):
                self._ports.append(limit_accepts(reactor.listenUNIX(str(endpoint), factory, backlog=BACKLOG)))
            else:
                self._ports.append(await listen(reactor, endpoint, factory))
        return format_address(self._ports[0], str(endpoints[0]))

    def stop(self) -> None:
        """Begin to close all ports."""
        self._stopping += [maybeDeferred(port.stopListening) for port in self._ports]
        self._ports.clear()

    async def close(self) -> None:
        """Close all ports, and wait until they are closed."""
        self.stop()
        await gatherResults(self._stopping)


def format_address(port: Port, endpoint: str) -> str:
    """Return the address of a port as a player writes it.

    Args:
        port: open port.
        endpoint: the endpoint string that it was opened with.
    """
    host = port.getHost()
    if hasattr(host, "port"):
        kind = "tls" if endpoint.startswith("ssl:") else "tcp"
        name = "127.0.0.1" if host.host in ("0.0.0.0", "::", "") else host.host  # noqa: S104  # compared, not bound
        return f"{kind}:{name}:{host.port}"
    return f"unix:{getattr(host, 'name', b'').decode()}"


def format_url(port: Port, endpoint: str) -> str:
    """Return the address of a port as a browser takes it.

    Args:
        port: open port.
        endpoint: the endpoint string that it was opened with.
    """
    kind, _, place = format_address(port, endpoint).partition(":")
    if kind == "unix":
        return f"{kind}:{place}"
    host, _, number = place.rpartition(":")
    return f"{'https' if kind == 'tls' else 'http'}://{f'[{host}]' if ':' in host else host}:{number}"
