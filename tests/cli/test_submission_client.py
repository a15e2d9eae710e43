"""Errors for authors if the organiser's service does not accept everything that is sent."""

import http.client
import socket
from threading import Thread

import pytest

from referee.cli import submission_client as submit
from referee.cli.submission_client import ServiceError, find_service
from referee.text import printable

ANSWER = b'HTTP/1.1 413 Too Large\r\nContent-Length: 47\r\n\r\n{"error": "it is too large", "remedy": "less"}\n'


def _refuse(connection: http.client.HTTPConnection) -> None:
    """Connect to a server that answers and closes before anything is sent."""
    connection.sock, other = socket.socketpair()
    with other:
        other.sendall(ANSWER)


def _reset(_connection: http.client.HTTPConnection) -> None:
    """Connect to a server that resets the connection."""
    raise ConnectionResetError(104, "Connection reset by peer")


@pytest.mark.parametrize(
    ("connect", "status", "text"),
    [(_refuse, 413, "it is too large"), (_reset, None, "no answer from referee:80: Connection reset by peer")],
    ids=["refused early", "nobody there"],
)
def test_who_answers_early_is_heard(
    monkeypatch: pytest.MonkeyPatch, connect: object, status: int | None, text: str
) -> None:
    """The server's answer is read although it did not read the whole archive."""
    monkeypatch.setattr(http.client.HTTPConnection, "connect", connect)
    with pytest.raises(ServiceError, match=text) as found:
        find_service("http://referee", "token", None).upload(b"archive")
    assert found.value.status == status


class AnsweringServer:
    """A server that sends the same bytes to each client.

    Args:
        data: that it sends.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(self._data)

    def close(self) -> None:
        """Wait until the client has left."""
        self._thread.join()
        self._socket.close()


def head(status: str, *lines: str, body: str = "<h1>no referee</h1>") -> bytes:
    """Return an answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body)}", "", body]).encode()


TLS_ALERT = b"\x15\x03\x01\x00\x02\x02\x16"
OTHERS = {
    "left at once": ("https", b"", "{place} does not speak TLS; is it http://{place}?"),
    "plain HTTP": ("https", head("400 Bad Request"), "{place} does not speak TLS; is it http://{place}?"),
    "TLS": ("http", TLS_ALERT, "{place} does not speak HTTP; is it https://{place}?"),
    "TLS, silent": ("http", b"", "{place} does not speak HTTP; is it https://{place}?"),
    "another server": (
        "http",
        head("404 Not Found"),
        "the server at {place} is not a referee's service (404 Not Found); is --to right?",
    ),
    "another one with tokens": (
        "http",
        head("401 Unauthorized"),
        "the server at {place} is not a referee's service (401 Unauthorized); is --to right?",
    ),
    "another page": ("http", head("200 OK"), "the answer does not come from a referee's service; is --to right?"),
    "a proxy alone": (
        "http",
        head("502 Bad Gateway"),
        (
            "{place} is a proxy, and the service behind it does not answer (502 Bad Gateway); try again later, "
            "or ask the organiser whether the service runs"
        ),
    ),
    "a proxy that asks for TLS": (
        "http",
        head("301 Moved Permanently", "Location: https://contest.example/submissions"),
        "{place} redirects to another address (301 Moved Permanently); is it https://contest.example?",
    ),
    "a port": (
        "http",
        head("308 Permanent Redirect", "Location: https://[::1]:8443/"),
        "{place} redirects to another address (308 Permanent Redirect); is it https://[::1]:8443?",
    ),
    "nowhere": (
        "http",
        head("302 Found", "Location: https://\x1b[31m:x/"),
        "{place} redirects to another address (302 Found); is --to right?",
    ),
}


@pytest.mark.parametrize(("scheme", "data", "text"), OTHERS.values(), ids=OTHERS)
def test_the_author_is_told_what_answers_there(scheme: str, data: bytes, text: str) -> None:
    """The scheme is wrong, the service has moved, or it is no referee at all."""
    server = AnsweringServer(data)
    try:
        with pytest.raises(ServiceError) as found:
            find_service(f"{scheme}://{server.place}", "token", None).get("submissions")
    finally:
        server.close()
    assert str(found.value) == text.format(place=server.place)


def test_what_waits_for_a_request_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without TLS may never answer a handshake."""
    monkeypatch.setattr(submit, "CONNECT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ServiceError) as found:
            find_service(f"https://{place}", "token", None).get("submissions")
    assert str(found.value) == f"{place} does not speak TLS; is it http://{place}?"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "127.0.0.1:80",
            "http://",
            "ftp://host",
            "http://host:99999",
            "http://[::1",
            "http://host?x",
            "http://a@host",
        ),
        *(
            "http://a b",
            "http://a..b",
            f"http://{'a' * 64}.de",
            "http://.",
            "http://a\x7f",
            "http://a\u202eb",
            "http://a,b",
        ),
    ],
)
def test_what_is_no_address_is_refused_before_anything_is_sent(url: str) -> None:
    """The error is a sentence that shows the address, whatever is in it."""
    with pytest.raises(ServiceError) as found:
        find_service(url, "token", None)
    assert (
        str(found.value) == f"{printable(url)} is no address; write the one that you were given, http://HOST:8080, say"
    )
    assert str(found.value).isprintable()


@pytest.mark.parametrize(
    ("url", "port"), [("http://ü.example", 80), ("https://[::1%25lo]", 443), ("http://a_b.x:0", 0)]
)
def test_what_is_an_address(url: str, port: int) -> None:
    """Letters of any language are allowed; a given port is used."""
    assert find_service(url, "token", None).port == port
