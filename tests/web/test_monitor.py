"""The pages for monitors: on TCP and on a Unix socket, for any request."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from referee.web.monitor import monitor_site
from referee.web.visitors import LINGER_S, NO_BODY

SERVE = """
import sys
from prometheus_client import CollectorRegistry, Counter
from twisted.internet import reactor
from twisted.internet.endpoints import serverFromString
from referee.web.monitor import monitor_site
registry = CollectorRegistry()
Counter("matches", "Matches", registry=registry).inc()
serverFromString(reactor, "unix:socket").listen(monitor_site(registry, reactor))
reactor.callWhenRunning(print, flush=True)
reactor.run()
"""
LIMIT_S = 60.0


class Served:
    """The pages on a Unix socket, served by a process of their own."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "socket")

    def send(self, data: bytes) -> bytes:
        """Return the whole answer to some bytes."""
        with socket.socket(socket.AF_UNIX) as end:
            end.settimeout(LIMIT_S)
            end.connect(self._socket)
            end.sendall(data)
            answer = b""
            while more := end.recv(65_536):
                answer += more
        return answer

    def ask(self, method: bytes, path: bytes, *headers: bytes) -> bytes:
        """Return the whole answer to a request."""
        return self.send(b"\r\n".join([b"%b %b HTTP/1.0" % (method, path), *headers, b"", b""]))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return pages with one number; no request may make them print anything."""
    folder = tmp_path_factory.mktemp("monitor")
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield Served(folder)
        process.terminate()
        assert process.communicate(timeout=LIMIT_S) == (b"", b"")


@pytest.mark.parametrize(
    ("method", "path", "code", "said"),
    [
        (b"GET", b"/metrics", b"200", b"\nmatches_total 1.0\n"),
        (b"GET", b"/health", b"200", b"\r\n\r\nok\n"),
        (b"GET", b"/", b"404", b""),
        (b"GET", b"/health/x", b"404", b""),
        (b"POST", b"/metrics", b"405", b""),
        (b"POST", b"/health", b"405", b""),
        (b"FROB", b"/health", b"501", b""),
    ],
)
def test_there_are_two_pages(served: Served, method: bytes, path: bytes, code: bytes, said: bytes) -> None:
    """Every other page is refused."""
    answer = served.ask(method, path)
    assert answer[9:12] == code
    assert said in answer


HOSTILE = {
    "a version that is none": (b"Accept: application/openmetrics-text; version=x.y",),
    "a version and escaping": (b"Accept: text/plain; version=1.0.0; escaping=\xff",),
    "an empty version": (b"Accept: application/openmetrics-text; version=",),
    "much": (b"Accept: " + b"a/b;version=1.0.0," * 500,),
    "bytes": (b"Accept-Encoding: \xff\xfe", b"Content-Type: \xff"),
    "a length": (b"Content-Length: 99999999999",),
    "two lengths": (b"Content-Length: 1", b"Content-Length: 2"),
    "a host that is none": (b"Host: a..b",),
    "a proxy": (b"X-Forwarded-For: 192.0.2.1",),
}


@pytest.mark.parametrize("headers", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("path", [b"/metrics", b"/metrics/%ff?x=%ff", b"/metrics?name[]=x&name[]=%00&" + b"a=b&" * 99])
def test_odd_requests_are_answered(served: Served, path: bytes, headers: tuple[bytes, ...]) -> None:
    """No request ends the server, or makes it print anything."""
    assert served.ask(b"GET", path, *headers)[9:12] in (b"200", b"400", b"413")
    assert served.ask(b"GET", b"/health").endswith(b"ok\n")


def test_a_body_is_kept_nowhere() -> None:
    """A body of more than a few bytes is refused, and the connection ends, as on the site."""
    clock, transport = Clock(), StringTransport()
    address: Any = IPv4Address("TCP", "192.0.2.1", 4711)
    channel = monitor_site(CollectorRegistry(), clock).buildProtocol(address)
    channel.makeConnection(transport)
    channel.dataReceived(b"POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (NO_BODY.dropped + 1))
    assert transport.value().startswith(b"HTTP/1.1 413 ")
    for _ in range(2):
        clock.advance(LINGER_S)
    assert transport.disconnected
