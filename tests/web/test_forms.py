"""Forms as browsers send them, and as nobody should."""

from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.web.http import MOST_FIELDS, BadForm, Form, read_form

PLAIN = "application/x-www-form-urlencoded"
PARTED = "multipart/form-data; boundary=x"


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
