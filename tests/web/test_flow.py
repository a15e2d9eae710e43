"""What is large is sent part by part, and who leaves meanwhile leaves nothing behind."""

from collections.abc import Iterator
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.logger import globalLogPublisher
from twisted.python.failure import Failure

from .sites import TestSite
from .test_visitors import visitor

REPORT = b"GET /tournaments/cup/report.html HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """Give what is logged meanwhile."""
    seen: list[Any] = []
    observer: Any = seen.append
    globalLogPublisher.addObserver(observer)
    yield seen
    globalLogPublisher.removeObserver(observer)


def test_a_file_is_sent_whole(contest: TestSite) -> None:
    """However many parts it has; and the connection takes the next request."""
    content = b"0123456789" * 100_000
    (contest.folder / "logs" / "cup" / "report.html").write_bytes(content)
    channel, transport = visitor(contest.site)
    channel.dataReceived(REPORT * 2)
    assert transport.value().count(content) == 2


def test_who_leaves_in_the_middle_leaves_nothing(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, logged: list[Any]
) -> None:
    """No fault that the organiser is told of, and nothing that goes on."""
    parts: list[Deferred[bytes | None]] = [Deferred(), Deferred()]
    given = iter(parts)
    monkeypatch.setattr("referee.web.http.deferToThread", lambda *_: next(given))
    channel, transport = visitor(contest.site)
    channel.dataReceived(REPORT * 2)
    producer: Any = transport.producer
    producer.pauseProducing()
    parts[0].callback(b"part")
    channel.connectionLost(Failure(ConnectionError()))
    assert not [event for event in logged if event.get("isError")]
    assert not parts[1].called
