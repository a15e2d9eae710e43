"""Addresses that the referee listens on, and how many connections may wait there."""

import socket
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.address import IPv4Address, IPv6Address, UNIXAddress
from twisted.internet.error import CannotListenError

from referee.net.links.addresses import (
    BACKLOG,
    EndpointError,
    check,
    explain_error,
    format_url,
    make_endpoint,
    with_backlog,
)

MANY = f":backlog={BACKLOG}"


@pytest.mark.parametrize(
    ("address", "listened"),
    [
        ("tcp:7777", "tcp:7777" + MANY),
        ("tcp:0:interface=127.0.0.1", "tcp:0:interface=127.0.0.1" + MANY),
        ("ssl:7777:privateKey=key.pem", "ssl:7777:privateKey=key.pem" + MANY),
        ("unix:/tmp/referee:lockfile=0", "unix:/tmp/referee:lockfile=0" + MANY),
        ("tcp:7777:backlog=5", "tcp:7777:backlog=5"),
        ("systemd:domain=INET:index=0", "systemd:domain=INET:index=0"),
    ],
)
def test_many_connections_may_wait(address: str, listened: str) -> None:
    """Where an endpoint has such an option, it is set, unless the organiser has set it."""
    assert listened == with_backlog(address)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("tcp:7777:interface=::1", "an address of IPv6 takes tcp6:PORT:interface="),
        ("tcp6:7777:interface=::1", "with a backslash before each colon"),
        ("tls:17116", "write ssl:PORT:privateKey=FILE:certKey=FILE"),
        ("tls:127.0.0.1:17116", "write ssl:PORT:privateKey=FILE:certKey=FILE"),
        ("http://127.0.0.1:80", "write tcp:PORT"),
        *((address, "is no endpoint that the referee listens on") for address in ("stdio:", "fd:3", "7777", "", ":")),
        *((f"tcp:{port}", "has no port from 0 to 65535") for port in ("", "x", "99999", "-1", "1.5", "\0", "²")),
        ("tcp", "has no port from 0 to 65535"),
        ("tcp:1:no=2", "is no endpoint; write tcp:PORT"),
        ("ssl:1:privateKey=/etc/passwd", "is no endpoint; write ssl:PORT"),
        ("ssl:1:privateKey=/etc/passwd", "with a key and a certificate in PEM"),
        ("ssl:1:privateKey=/none.pem", "No such file or directory: /none.pem"),
        ("ssl:1:privateKey=/none.pem", "write ssl:PORT:privateKey=FILE"),
        ("unix:", "names no file"),
    ],
)
def test_what_is_no_endpoint(address: str, says: str) -> None:
    """The error says how an endpoint is written, and shows nothing of Python."""
    with pytest.raises(EndpointError) as caught:
        check(address)
    assert says in str(caught.value)
    assert not any(word in str(caught.value) for word in ("argument", "()", "literal", "unpack", "stdio_"))


@pytest.mark.parametrize("address", ["tcp:0", r"tcp6:7777:interface=\:\:1", "unix:/tmp/socket", "tcp:65535:backlog=5"])
def test_endpoints(address: str) -> None:
    check(address)


@pytest.mark.parametrize(
    ("interface", "endpoint"),
    [("127.0.0.1", "tcp:7777:interface=127.0.0.1"), ("::1", r"tcp6:7777:interface=\:\:1")],
)
def test_an_interface_is_part_of_an_endpoint(interface: str, endpoint: str) -> None:
    """A separate option takes an interface in the form that people write."""
    assert make_endpoint(7777, interface) == endpoint
    check(endpoint)


@pytest.mark.parametrize(
    ("address", "error", "says"),
    [
        ("tcp:80", CannotListenError("", 80, OSError(98, "Address already in use")), "Address already in use"),
        ("tcp:80:interface=x", CannotListenError("x", 80, socket.gaierror(-2, "Unknown name")), "Unknown name"),
        ("unix:/none/socket", FileNotFoundError(2, "No such file or directory", "4711"), "No such file or directory"),
        ("unix:/socket", CannotListenError(None, "/socket", OSError("path too long")), "path too long"),
    ],
)
def test_what_can_not_be_listened_on(address: str, error: Exception, says: str) -> None:
    """The reason is the system's, in words, and does not mention the process number in a lock file."""
    assert str(explain_error(address, error)) == f"can't listen on {address}: {says}"


@pytest.mark.parametrize(
    ("endpoint", "host", "url"),
    [
        ("tcp:0", IPv4Address("TCP", "0.0.0.0", 80), "http://127.0.0.1:80"),  # compared, not bound
        (r"tcp6:0:interface=\:\:1", IPv6Address("TCP", "::1", 80), "http://[::1]:80"),
        ("tcp6:0", IPv6Address("TCP", "::", 80), "http://127.0.0.1:80"),
        ("ssl:0", IPv6Address("TCP", "fe80::1", 443), "https://[fe80::1]:443"),
        ("unix:/run/tcp:1", UNIXAddress("/run/tcp:1"), "unix:/run/tcp:1"),
    ],
)
def test_what_a_browser_is_given(endpoint: str, host: object, url: str) -> None:
    """An address of IPv6 is in brackets."""
    port: Any = SimpleNamespace(getHost=lambda: host)
    assert format_url(port, endpoint) == url
