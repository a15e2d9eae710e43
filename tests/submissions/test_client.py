"""What an author is told where the organiser's service does not take all that is sent."""

import http.client
import socket

import pytest

from referee.submissions.client import ServiceError, find_service

ANSWER = b'HTTP/1.1 413 Too Large\r\nContent-Length: 47\r\n\r\n{"error": "it is too large", "remedy": "less"}\n'


def _refuse(connection: http.client.HTTPConnection) -> None:
    """Be connected to who answers and goes before anything is sent."""
    connection.sock, other = socket.socketpair()
    with other:
        other.sendall(ANSWER)


def _reset(_connection: http.client.HTTPConnection) -> None:
    """Be connected to nobody."""
    raise ConnectionResetError(104, "Connection reset by peer")


@pytest.mark.parametrize(
    ("connect", "status", "text"),
    [(_refuse, 413, "it is too large"), (_reset, None, "no answer from referee:80: Connection reset by peer")],
    ids=["refused early", "nobody there"],
)
def test_who_answers_early_is_heard(
    monkeypatch: pytest.MonkeyPatch, connect: object, status: int | None, text: str
) -> None:
    """That it did not take the archive is no reason not to read why."""
    monkeypatch.setattr(http.client.HTTPConnection, "connect", connect)
    with pytest.raises(ServiceError, match=text) as found:
        find_service("http://referee", "token", None).hand_in(b"archive")
    assert found.value.status == status
