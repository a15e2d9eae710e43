"""Addresses to listen on, and how players write them. Knows Twisted's endpoint strings; refuses to know who comes."""

from pathlib import Path
from typing import Any

from twisted.internet.endpoints import quoteStringArgument, serverFromString
from twisted.internet.error import CannotListenError

from .clock import Port

BACKLOG = 4096
"""Connections that the system holds until the loop takes them; Linux' own most. Over that it drops them, and who is
dropped tries again only a second later, then after two more: with Twisted's 50, honest players lost seconds among
hundreds that came at once."""
_WITH_BACKLOG = ("tcp", "tcp6", "ssl", "unix")


class AddressError(Exception):
    """An address that can't be listened on; the text names it and says why."""


async def listen(reactor: Any, address: str, factory: Any) -> Port:
    """Listen on an address.

    Args:
        reactor: Twisted's reactor.
        address: Twisted endpoint string, e.g. `tcp:7777` or `ssl:7777:privateKey=key.pem:certKey=cert.pem`.
        factory: makes what serves a connection.

    Raises:
        AddressError: it can't be listened on.
    """
    try:
        port: Port = await serverFromString(reactor, _with_backlog(address)).listen(factory)
    except Exception as error:  # noqa: BLE001  # what an endpoint's parser raises is its plugin's choice
        raise _explained(address, error) from None
    return port


def check(address: str) -> None:
    """See to it that an address is one; whether it is free is seen only when it is listened on.

    Raises:
        AddressError: it is no endpoint string, or a key or certificate that it names can't be read.
    """
    try:
        serverFromString(None, _with_backlog(address))
    except Exception as error:  # noqa: BLE001  # what an endpoint's parser raises is its plugin's choice
        raise _explained(address, error) from None


def _explained(address: str, error: Exception) -> AddressError:
    """Return why an address can't be listened on."""
    if isinstance(error, CannotListenError):
        return AddressError(f"can't listen on {address}: {error.socketError}")
    if isinstance(error, OSError):
        return AddressError(f"can't listen on {address}: {error.strerror}: {error.filename}")
    return AddressError(f"{address!r} is no endpoint such as tcp:7777: {str(error) or type(error).__name__}")


def _with_backlog(address: str) -> str:
    """Return an endpoint string that says how many connections may wait, where it can and does not."""
    can_say = address.partition(":")[0] in _WITH_BACKLOG and ":backlog=" not in address
    return f"{address}:backlog={BACKLOG}" if can_say else address


async def stopped(port: Port) -> None:
    """Listen no more."""
    stopping = port.stopListening()
    if stopping is not None:
        await stopping


def address_of(port: Port, endpoint: str) -> str:
    """Return what a player writes to reach a port.

    Args:
        port: it listens.
        endpoint: the endpoint string that it was opened with.
    """
    host = port.getHost()
    if hasattr(host, "port"):
        kind = "tls" if endpoint.startswith("ssl:") else "tcp"
        name = "127.0.0.1" if host.host in ("0.0.0.0", "::", "") else host.host  # noqa: S104  # compared, not bound
        return f"{kind}:{name}:{host.port}"
    return f"unix:{getattr(host, 'name', b'').decode()}"


def endpoint_of(socket: Path) -> str:
    """Return the endpoint string of a socket; its folder is private, so it needs no lock."""
    return f"unix:{quoteStringArgument(str(socket))}:lockfile=0"
