"""Addresses: what is listened on, and how many connections may wait there."""

import pytest

from referee.net.links.addresses import BACKLOG, _with_backlog

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
    """Where an endpoint can say how many, it says so, unless the organiser did."""
    assert listened == _with_backlog(address)
