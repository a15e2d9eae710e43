"""The bytes of a foul in words: bytes that are not a message are not read from their middle."""

from typing import Any

import msgspec
import pytest

from referee.record.explain import decode_evidence

MESSAGE = msgspec.msgpack.encode({"ack": 1})


@pytest.mark.parametrize(
    ("data", "code", "decoded", "problem"),
    [
        (b"hello", "not-msgpack", "hello", "text, where msgpack is due"),
        (b"hello world\n", "oversize", "hello world\n", "text, where msgpack is due"),
        (b'{"a": 1}', "not-msgpack", {"a": 1}, "JSON, where msgpack is due"),
        (b"\xc1\xc1\xc1\xc1\x05", "not-msgpack", None, "MessagePack data is malformed"),
        (MESSAGE, "not-due", {"ack": 1}, ""),
        (len(MESSAGE).to_bytes(4, "big") + MESSAGE, "not-due", {"ack": 1}, ""),
        (b"\0\0\1\0" + MESSAGE, "not-due", {"ack": 1}, "the frame announces 256 bytes, and 6 of them are here"),
    ],
)
def test_what_bytes_say(data: bytes, code: str, decoded: Any, problem: str) -> None:
    """A message, with its length or without, JSON and text are shown as such; other bytes as none of these."""
    found = decode_evidence(data.hex(), code)
    assert found.decoded == decoded
    assert (found.problem or "")[: len(problem) or None] == problem
