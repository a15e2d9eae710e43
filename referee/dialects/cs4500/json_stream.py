"""A stream of JSON values without frames between them -> the values, one after the other, each with its bytes.

It finds where a value ends, whatever the packets were, and refuses JSON's traps: duplicate keys, NaN, numbers without
end, nesting that would exhaust a stack, halves of surrogate pairs.

The end of a value is found here, byte by byte and each byte once; the value itself is the standard library's affair. A
streaming parser such as ijson would tell of every token, but neither the bytes of a value, which are the evidence, nor
a key that comes twice, and it nests as deep as it is sent.
"""

import json
import math
import re
from collections import Counter
from enum import StrEnum
from typing import Any, NamedTuple

from protocol import Code, RemoteProtocolError
from protocol.frames import StreamReader
from protocol.limits import MAX_DEPTH

MAX_NUMBER_CHARS = 1000
"""No game counts so far, and the time that Python needs for an integer grows with the square of its digits."""

_SPACE = re.compile(rb"[ \t\n\r]*")
_OUTSIDE = re.compile(rb"[^ \t\n\r,:0-9+\-.Eaeflnrstu]")
"""What ends a run of the bytes that numbers, words and separators are made of: a bracket, a quote, or what JSON never
has there, such as the N of NaN. Whether such a run makes sense is told when the value is complete."""
_INSIDE = re.compile(rb'["\\]')
_NUMBER = re.compile(rb"[-+.0-9eE]*")
_WORDS = {word[0]: word for word in (b"true", b"false", b"null")}
_QUOTE, _BACKSLASH = b'"\\'
_CLOSERS = {b"["[0]: b"]"[0], b"{"[0]: b"}"[0]}
_NUMBERS = frozenset(b"-0123456789")


class JsonCode(StrEnum):
    """What can be wrong with JSON alone; everything else has a code of protocol."""

    NOT_JSON = "not-json"
    """The bytes are no JSON value (invalid UTF-8 included)."""


class JsonValue(NamedTuple):
    """A value, as it was sent."""

    value: Any
    """Nothing but dict, list, str, int, finite float, bool and None."""
    body: bytes
    """Its bytes, without the white space around it."""


class JsonReader(StreamReader):
    """Reads the values of one stream; the first error ends it.

    Args:
        limit_bytes: of one value, together with the white space before it.
    """

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(limit_bytes)
        self._start: int | None = None
        """Where in it the value begins that is being read; None while there is white space alone."""
        self._at = 0
        """The first byte that was not looked at."""
        self._in_string = False
        self._open = bytearray()
        """What closes the arrays and objects that are open, the innermost last."""
        self._is_ended = False

    @property
    def pending(self) -> bytes:
        """What came of a value that is not complete; of the white space before it, if it has not begun."""
        return bytes(self._buffer[self._start or 0 :])

    @property
    def pending_bytes(self) -> int:
        """How many bytes came of a value that is not complete."""
        return 0 if self._start is None else len(self._buffer) - self._start

    def receive_end(self) -> None:
        """Note that no bytes follow: a number that was read so far is complete.

        Raises:
            RemoteProtocolError: TRUNCATED if another value was begun and not finished.
        """
        self._is_ended = True
        if self._start is not None and self._buffer[self._start] not in _NUMBERS:
            raise self._error(Code.TRUNCATED, "the connection ended in the middle of a JSON value")

    def next_value(self) -> JsonValue | None:
        """Take the next complete value out of the received bytes; None while there is none.

        Raises:
            RemoteProtocolError: NOT_JSON, or a limit is passed: OVERSIZE, TOO_DEEP, TOO_LONG; or DUPLICATE_KEY,
                NOT_FINITE.
        """
        end = self._end_of_value()
        if (len(self._buffer) if end is None else end) > self._limit_bytes:
            detail = f"a JSON value, with the white space before it, of more than {self._limit_bytes} bytes"
            raise RemoteProtocolError(Code.OVERSIZE, detail, bytes(self._buffer))  # the white space counts
        if end is None:
            return None
        body = bytes(self._buffer[self._start : end])
        try:
            value = _decoded(body)
        except RemoteProtocolError as error:
            error.evidence = body
            raise
        del self._buffer[:end]
        self._start, self._at = None, 0
        return JsonValue(value, body)

    def _end_of_value(self) -> int | None:
        """Return where the value ends; None if its end has not come."""
        buffer = self._buffer
        if self._start is None:
            found = _SPACE.match(buffer, self._at)
            assert found is not None
            self._at = found.end()
            if self._at == len(buffer):
                return None
            self._start = self._at
        first = buffer[self._start]
        if first in _WORDS:
            return self._end_of_word(_WORDS[first], self._start)
        if first in _NUMBERS:
            return self._end_of_number()
        return self._end_of_nested()

    def _end_of_word(self, word: bytes, start: int) -> int | None:
        have = self._buffer[start : start + len(word)]
        if not word.startswith(have):
            raise self._error(JsonCode.NOT_JSON, "a word that is not true, false or null")
        return start + len(word) if len(have) == len(word) else None

    def _end_of_number(self) -> int | None:
        found = _NUMBER.match(self._buffer, self._at)
        assert found is not None
        self._at = found.end()
        return self._at if self._is_ended or self._at < len(self._buffer) else None

    def _end_of_nested(self) -> int | None:
        """Follow brackets and strings up to the end of the outermost."""
        while (found := (_INSIDE if self._in_string else _OUTSIDE).search(self._buffer, self._at)) is not None:
            at = found.start()
            mark = self._buffer[at]
            if mark == _BACKSLASH:
                if at + 1 == len(self._buffer):
                    self._at = at  # what it escapes is still to come
                    return None
                at += 1
            elif mark == _QUOTE:
                self._in_string = not self._in_string
            else:
                self._bracket(mark)
            self._at = at + 1
            if not self._open and not self._in_string:
                return self._at
        self._at = len(self._buffer)
        return None

    def _bracket(self, mark: int) -> None:
        """Open or close an array or an object."""
        if mark in _CLOSERS:
            if len(self._open) == MAX_DEPTH:
                raise self._error(Code.TOO_DEEP, f"arrays and objects nested deeper than {MAX_DEPTH}")
            self._open.append(_CLOSERS[mark])
        elif not self._open or self._open.pop() != mark:
            raise self._error(JsonCode.NOT_JSON, f"the byte {mark:#04x} where JSON can't have it")

    def _error(self, code: StrEnum, detail: str) -> RemoteProtocolError:
        return RemoteProtocolError(code, detail, self.pending)


def _decoded(body: bytes) -> Any:
    """Return the value of some bytes that hold at most one, brackets in pairs."""
    try:
        text = body.decode()
        value = json.loads(text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_real)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # refuses half of a surrogate pair
    except json.JSONDecodeError as error:
        raise RemoteProtocolError(JsonCode.NOT_JSON, f"{error.msg} at character {error.pos} of a JSON value") from None
    except UnicodeError as error:
        why = getattr(error, "reason", "invalid")
        raise RemoteProtocolError(JsonCode.NOT_JSON, f"a string is not Unicode: {why}") from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise RemoteProtocolError(Code.DUPLICATE_KEY, f"an object has the key {twice[:40]!r} twice")
    return result


def _bounded(text: str) -> str:
    if len(text) > MAX_NUMBER_CHARS:
        raise RemoteProtocolError(Code.TOO_LONG, f"a number of {len(text)} characters, more than {MAX_NUMBER_CHARS}")
    return text


def _integer(text: str) -> int:
    return int(_bounded(text))


def _real(text: str) -> float:
    value = float(_bounded(text))
    if not math.isfinite(value):
        raise RemoteProtocolError(Code.NOT_FINITE, f"the number {text[:40]} is too large")
    return value
