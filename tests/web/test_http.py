"""Forms are read, and answers are sent: what is large part by part, as fast as it is taken."""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.logger import globalLogPublisher
from twisted.python.failure import Failure

from referee.web.http import MOST_FIELDS, BadForm, Form, read_form

from .sites import TestSite
from .test_visitors import visitor

REPORT = b"GET /tournaments/cup/report.html HTTP/1.1\r\nHost: a\r\n\r\n"
PLAIN = "application/x-www-form-urlencoded"
PARTED = "multipart/form-data; boundary=x"


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


def part(head: str, data: bytes) -> bytes:
    """Return one part of a form with a file."""
    return f"--x\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n"


@given(data=st.binary(max_size=200_000))
def test_a_file_comes_as_it_was(data: bytes) -> None:
    """With the texts around it."""
    if b"\r\n--x" in data:
        return
    body = part('name="a"', b" b ") + part('name="archive"; filename="<script>"', data) + b"--x--\r\n"
    form = read_form(PARTED, BytesIO(body))
    assert (form.text("a"), form.text("b"), form.uploads[0].data) == ("b", "", data)


def test_texts_come_as_they_were() -> None:
    """Those of a plain form."""
    form = read_form(PLAIN, BytesIO(b"a=%C3%BC+%26&b=&a=last"))
    assert form == Form(fields={"a": "last", "b": ""})


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (PLAIN, b"\xff=1"),
        (PLAIN, b"&".join([b"a=1"] * (MOST_FIELDS + 1))),
        (PARTED, b""),
        (PARTED, b"--x"),
        (PARTED, part('name="a"', b"b")),
        (PARTED, part('name="a"', b"b") * (MOST_FIELDS + 1) + b"--x--"),
        (PARTED, b"--x\r\n" + b"a" * 100_000),
    ],
)
def test_what_is_none_is_refused(content_type: str, body: bytes) -> None:
    """Whatever is wrong with it."""
    with pytest.raises(BadForm):
        read_form(content_type, BytesIO(body))


@given(content_type=st.sampled_from([PLAIN, PARTED, "multipart/form-data", "", ";", "text/html"]), body=st.binary())
def test_nothing_else_comes_up(content_type: str, body: bytes) -> None:
    """Whatever is sent, it is a form or none."""
    with suppress(BadForm):
        assert isinstance(read_form(content_type, BytesIO(body)), Form)
