"""Forms are read, and answers are sent in parts, as fast as the visitor takes them."""

import gzip
import os
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
    """Give the messages that are logged meanwhile."""
    seen: list[Any] = []
    observer: Any = seen.append
    globalLogPublisher.addObserver(observer)
    yield seen
    globalLogPublisher.removeObserver(observer)


def test_a_file_is_sent_whole(contest: TestSite) -> None:
    """All parts of it arrive; then the connection takes the next request."""
    content = b"0123456789" * 100_000
    (contest.folder / "logs" / "cup" / "report.html").write_bytes(content)
    channel, transport = visitor(contest.site)
    channel.dataReceived(REPORT * 2)
    assert transport.value().count(content) == 2


def test_what_is_the_same_for_everybody_is_sent_compressed_and_once(contest: TestSite) -> None:
    """It is compressed if the visitor accepts gzip; a visitor that has it gets nothing until it changes."""
    page, address = contest.folder / "logs" / "cup" / "report.html", "/tournaments/cup/report.html"
    content = b"0123456789" * 100_000
    page.write_bytes(content)
    visitor = contest.visitor()
    for accepted, is_packed in (("gzip, br", True), ("br", False), ("gzip;q=0", False), ("\xff;q=x", False)):
        for path in (address, "/key.pem", "/api/openapi.json", "/api/tournaments/cup"):
            answer = visitor.ask("GET", path, accept_encoding=accepted)
            plain = visitor.ask("GET", path)
            assert (answer.status, answer.headers.get("content-encoding")) == (200, "gzip" if is_packed else None)
            assert (gzip.decompress(answer.body) if is_packed else answer.body) == plain.body
            assert (answer.headers["vary"], plain.headers["vary"]) == ("Accept-Encoding", "Accept-Encoding")
            assert (answer.headers["etag"] != plain.headers["etag"]) is is_packed
            tag, old = answer.headers["etag"], "Mon, 23 Nov 2026 19:00:00 GMT"
            again = visitor.ask("GET", path, accept_encoding=accepted, if_none_match=tag, if_modified_since=old)
            assert (again.status, again.body) == (304, b"")
    stamp = page.stat()
    known_tag = visitor.ask("GET", address).headers["etag"]
    page.write_bytes(content.replace(b"9", b"8"))
    os.utime(page, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1000))  # within the second that a time of day shows
    assert visitor.ask("GET", address, if_none_match=known_tag).status == 200


def test_a_compressed_part_is_none(contest: TestSite) -> None:
    """Parts of a record that is followed are not compressed."""
    (contest.folder / "logs" / "cup.heads").write_bytes(b"01234567")
    answer = contest.visitor().ask("GET", "/tournaments/cup/heads", range="bytes=4-", accept_encoding="gzip")
    assert (answer.status, answer.body, "content-encoding" in answer.headers) == (206, b"4567", False)


def test_who_leaves_in_the_middle_leaves_nothing(
    contest: TestSite, monkeypatch: pytest.MonkeyPatch, logged: list[Any]
) -> None:
    """The organiser sees no error, and nothing keeps running."""
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
    """The texts around it come, too."""
    if b"\r\n--x" in data:
        return
    body = part('name="a"', b" b ") + part('name="archive"; filename="<script>"', data) + b"--x--\r\n"
    form = read_form(PARTED, BytesIO(body))
    assert (form.text("a"), form.text("b"), form.uploads[0].data) == ("b", "", data)


def test_texts_come_as_they_were() -> None:
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
    with pytest.raises(BadForm):
        read_form(content_type, BytesIO(body))


@given(content_type=st.sampled_from([PLAIN, PARTED, "multipart/form-data", "", ";", "text/html"]), body=st.binary())
def test_nothing_else_comes_up(content_type: str, body: bytes) -> None:
    """Any body is a form, or is refused."""
    with suppress(BadForm):
        assert isinstance(read_form(content_type, BytesIO(body)), Form)
