"""Splits a stream of JSON values without frames into single values, each with its bytes.

It finds the end of a value however the bytes are cut into packets, and refuses dangerous JSON: duplicate keys, NaN,
endless numbers, too deep nesting, halves of surrogate pairs.

This module only finds where a value ends, and looks at each byte once; the standard library parses the value. A
streaming parser such as ijson would not do: it reports every token, but not the bytes of a value, which are the
evidence. It also misses duplicate keys, and does not limit the nesting.
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
"""Longest number. No game needs so many digits, and Python's time for an integer grows with the square of its
digits."""

_SPACE = re.compile(rb"[ \t\n\r]*")
_OUTSIDE = re.compile(rb"[^ \t\n\r,:0-9+\-.Eaeflnrstu]")
"""The end of a run of bytes that numbers, words and separators are made of: a bracket, a quote, or a byte that JSON
never has there, such as the N of NaN. Whether the run makes sense is checked when the value is complete."""
_INSIDE = re.compile(rb'["\\]')
_NUMBER = re.compile(rb"[-+.0-9eE]*")
_WORDS = {word[0]: word for word in (b"true", b"false", b"null")}
_QUOTE, _BACKSLASH = b'"\\'
_CLOSERS = {b"["[0]: b"]"[0], b"{"[0]: b"}"[0]}
_NUMBERS = frozenset(b"-0123456789")


class JsonCode(StrEnum):
    """Errors that only JSON can have; all others have a code of the protocol."""

    NOT_JSON = "not-json"
    """The bytes are not a JSON value, or not valid UTF-8."""


class JsonValue(NamedTuple):
    """A value, as it was sent."""

    value: Any
    """Made of dict, list, str, int, finite float, bool and None only."""
    body: bytes
    """Its bytes, without white space around it."""


class JsonReader(StreamReader):
    """Reads the values of one stream. The first error ends it.

    Args:
        limit_bytes: largest size of a value with the white space before it.
    """

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(limit_bytes)
        self._start: int | None = None
        """Beginning of the current value in the buffer; None while there is only white space."""
        self._at = 0
        """Index of the first byte that was not scanned yet."""
        self._in_string = False
        self._open = bytearray()
        """The closing brackets that are due, the innermost last."""
        self._is_ended = False

    @property
    def pending(self) -> bytes:
        """The bytes of an incomplete value, or the white space before it if it has not begun."""
        return bytes(self._buffer[self._start or 0 :])

    @property
    def pending_bytes(self) -> int:
        """Number of bytes of an incomplete value."""
        return 0 if self._start is None else len(self._buffer) - self._start

    def receive_end(self) -> None:
        """Take the end of the stream: a number at its end is complete.

        Raises:
            RemoteProtocolError: TRUNCATED if another value was begun and not finished.
        """
        self._is_ended = True
        if self._start is not None and self._buffer[self._start] not in _NUMBERS:
            raise self._error(Code.TRUNCATED, "the connection ended in the middle of a JSON value")

    def next_value(self) -> JsonValue | None:
        """Return the next complete value; None while there is none.

        Raises:
            RemoteProtocolError: NOT_JSON, DUPLICATE_KEY or NOT_FINITE; or OVERSIZE, TOO_DEEP or TOO_LONG if a limit is
                passed.
        """
        end = self._find_value_end()
        # White space before a value counts, or a player could send blanks for ever without ever being over the limit.
        if (len(self._buffer) if end is None else end) > self._limit_bytes:
            detail = f"a JSON value, with the white space before it, of more than {self._limit_bytes} bytes"
            raise RemoteProtocolError(Code.OVERSIZE, detail, bytes(self._buffer))
        if end is None:
            return None
        body = bytes(self._buffer[self._start : end])
        try:
            value = _decode(body)
        except RemoteProtocolError as error:
            error.evidence = body
            raise
        del self._buffer[:end]
        self._start, self._at = None, 0
        return JsonValue(value, body)

    def _find_value_end(self) -> int | None:
        """Return the end of the current value in the buffer; None if it has not come."""
        buffer = self._buffer
        if self._start is None:
            space = _SPACE.match(buffer, self._at)
            assert space is not None, "the pattern also matches the empty string"
            self._at = space.end()
            if self._at == len(buffer):
                return None
            self._start = self._at
        first = buffer[self._start]
        # Words and numbers have no bracket at their end, so each kind of value has its own rule for its end.
        if first in _WORDS:
            return self._find_word_end(_WORDS[first], self._start)
        if first in _NUMBERS:
            return self._find_number_end()
        return self._find_nested_end()

    def _find_word_end(self, word: bytes, start: int) -> int | None:
        have = self._buffer[start : start + len(word)]
        if not word.startswith(have):
            raise self._error(JsonCode.NOT_JSON, "a word that is not true, false or null")
        return start + len(word) if len(have) == len(word) else None

    def _find_number_end(self) -> int | None:
        digits = _NUMBER.match(self._buffer, self._at)
        assert digits is not None, "the pattern also matches the empty string"
        self._at = digits.end()
        return self._at if self._is_ended or self._at < len(self._buffer) else None

    def _find_nested_end(self) -> int | None:
        """Follow brackets and strings to the end of the outermost one."""
        while (mark_at := (_INSIDE if self._in_string else _OUTSIDE).search(self._buffer, self._at)) is not None:
            at = mark_at.start()
            mark = self._buffer[at]
            # Inside a string only the character after a backslash matters: it may be a quote that does not end the
            # string.
            if mark == _BACKSLASH:
                if at + 1 == len(self._buffer):
                    self._at = at  # the escaped character has not come yet
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
            raise self._error(JsonCode.NOT_JSON, f"the byte {mark:#04x} where JSON cannot have it")

    def _error(self, code: StrEnum, detail: str) -> RemoteProtocolError:
        return RemoteProtocolError(code, detail, self.pending)


def _decode(body: bytes) -> Any:
    """Parse the bytes of one value."""
    try:
        text = body.decode()
        value = json.loads(text, object_pairs_hook=_unique, parse_int=_integer, parse_float=_real)
        # json.loads lets half of a surrogate pair through. It could not be written into a record, which is UTF-8.
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # raises an error for half of a surrogate pair
    except json.JSONDecodeError as error:
        raise RemoteProtocolError(JsonCode.NOT_JSON, f"{error.msg} at character {error.pos} of a JSON value") from None
    except UnicodeError as error:
        why = getattr(error, "reason", "invalid")
        raise RemoteProtocolError(JsonCode.NOT_JSON, f"a string is not Unicode: {why}") from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    # Parsers disagree on which of two equal keys counts. A value that two programs read differently must not be judged.
    if len(result) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise RemoteProtocolError(Code.DUPLICATE_KEY, f"an object has the key {twice[:40]!r} twice")
    return result


def _check_length(text: str) -> str:
    if len(text) > MAX_NUMBER_CHARS:
        raise RemoteProtocolError(Code.TOO_LONG, f"a number of {len(text)} characters, more than {MAX_NUMBER_CHARS}")
    return text


def _integer(text: str) -> int:
    return int(_check_length(text))


def _real(text: str) -> float:
    value = float(_check_length(text))
    if not math.isfinite(value):
        raise RemoteProtocolError(Code.NOT_FINITE, f"the number {text[:40]} is too large")
    return value
