"""A stream of JSON values: where each ends, however it is cut into packets, and what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import Code, RemoteProtocolError
from protocol.limits import MAX_DEPTH
from referee.dialects.cs4500.json_stream import MAX_NUMBER_CHARS, JsonCode, JsonReader

LIMIT_BYTES = 4096
VALUES: tuple[tuple[bytes, Any], ...] = (
    (b'""', ""),
    (b'"void"', "void"),
    (rb'"a \" quote and a \\"', 'a " quote and a \\'),
    (b'"[{brackets}] in a string"', "[{brackets}] in a string"),
    (rb'"\u00e9 \ud83d\ude00"', "é 😀"),
    ('"é 😀"'.encode(), "é 😀"),
    (b"true", True),
    (b"false", False),
    (b"null", None),
    (b"[]", []),
    (b"{}", {}),
    (b'[1, -2.5e3, "x", {"a": [null, true]}]', [1, -2500.0, "x", {"a": [None, True]}]),
    (b'{"1tile" : {"color":"red"} ,\n"n":[]}', {"1tile": {"color": "red"}, "n": []}),
    (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)),
    (b"[" + b"9" * MAX_NUMBER_CHARS + b"]", [10**MAX_NUMBER_CHARS - 1]),
)
BAD: tuple[tuple[str, bytes, str], ...] = (
    ("a bare word", b"void", JsonCode.NOT_JSON),
    ("a word that begins like one of JSON", b"nul ", JsonCode.NOT_JSON),
    ("Python's None in an array", b"[None]", JsonCode.NOT_JSON),
    ("not a number", b"[NaN]", JsonCode.NOT_JSON),
    ("minus infinity", b"[-Infinity]", JsonCode.NOT_JSON),
    ("a number that is too large for a float", b"[1e999]", Code.NOT_FINITE),
    ("a number of too many digits", b"[" + b"9" * (MAX_NUMBER_CHARS + 1) + b"]", Code.TOO_LONG),
    ("a fraction of too many digits", b"[0." + b"9" * MAX_NUMBER_CHARS + b"]", Code.TOO_LONG),
    ("a minus alone", b"- ", JsonCode.NOT_JSON),
    ("a leading zero", b"[01]", JsonCode.NOT_JSON),
    ("a closing bracket alone", b"]", JsonCode.NOT_JSON),
    ("brackets that do not match", b"[1}", JsonCode.NOT_JSON),
    ("a comma at the end", b"[1,]", JsonCode.NOT_JSON),
    ("a key without quotes", b"{a:1}", JsonCode.NOT_JSON),
    ("a key that is a number", b"{1:1}", JsonCode.NOT_JSON),
    ("single quotes", b"'void'", JsonCode.NOT_JSON),
    ("a byte order mark", b'\xef\xbb\xbf"x"', JsonCode.NOT_JSON),
    ("a line feed within a string", b'"a\nb"', JsonCode.NOT_JSON),
    ("an unknown escape", rb'"\x41"', JsonCode.NOT_JSON),
    ("invalid UTF-8", b'"\xc3\x28"', JsonCode.NOT_JSON),
    ("UTF-8 of half a surrogate pair", b'"\xed\xa0\x80"', JsonCode.NOT_JSON),
    ("half of an escaped surrogate pair", rb'["\ud83d"]', JsonCode.NOT_JSON),
    ("half of an escaped surrogate pair as a key", rb'{"\ud83d": 1}', JsonCode.NOT_JSON),
    ("a key twice", b'{"a": 1, "a": 1}', Code.DUPLICATE_KEY),
    ("a key twice, once escaped", rb'[{"a": 1, "\u0061": 2}]', Code.DUPLICATE_KEY),
    ("arrays one level too deep", b"[" * (MAX_DEPTH + 1), Code.TOO_DEEP),
    ("objects one level too deep", b'{"a":' * (MAX_DEPTH + 1), Code.TOO_DEEP),
    ("a string over the limit", b'"' + b"x" * LIMIT_BYTES, Code.OVERSIZE),
    ("white space over the limit", b" " * (LIMIT_BYTES + 1), Code.OVERSIZE),
    ("white space and a value, together over the limit", b" " * LIMIT_BYTES + b'""', Code.OVERSIZE),
)


def read(pieces: list[bytes], *, is_ended: bool = False) -> tuple[list[Any], str | None]:
    """Return the values of a stream, and the code with which it ended, if any."""
    reader, values = JsonReader(LIMIT_BYTES), []
    try:
        for piece in pieces:
            reader.receive_data(piece)
            while (found := reader.next_value()) is not None:
                values.append(found.value)
        if is_ended:
            reader.receive_end()
            if (found := reader.next_value()) is not None:
                values.append(found.value)
    except RemoteProtocolError as error:
        return values, error.code if error.evidence in b"".join(pieces) else "other evidence"
    return values, None


def one_by_one(data: bytes) -> list[bytes]:
    """Cut into single bytes."""
    return [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize(("data", "value"), VALUES)
@pytest.mark.parametrize("space", [b"", b"\n", b" \t\r\n" * 3])
def test_values_end_where_they_end(data: bytes, value: Any, space: bytes) -> None:
    """A value is complete with its last byte: whole, byte by byte, after white space, and before another one."""
    assert read([space + data]) == ([value], None)
    assert read(one_by_one(space + data)) == ([value], None)
    assert read([space + data + space + data]) == ([value, value], None)


@pytest.mark.parametrize(("name", "data", "code"), BAD)
def test_what_is_no_value_has_a_code(name: str, data: bytes, code: str) -> None:
    """The code is the same however the bytes come, and values before it are still read."""
    assert read([data]) == ([], code)
    assert read(one_by_one(data)) == ([], code)
    assert read([b'"before"' + data]) == (["before"], code)


@pytest.mark.parametrize("data", [b"42", b"-1.5e2", b"0"])
def test_a_number_ends_with_what_follows(data: bytes) -> None:
    """A number is complete when another character follows, or the stream ends."""
    assert read([data]) == ([], None)
    assert read([data], is_ended=True) == ([float(data)], None)
    for after in (b" ", b"\n", b'"x"'):
        assert read(one_by_one(data + after))[0][0] == float(data)


@pytest.mark.parametrize("data", [b'"void', b"[1", b"tru", b'{"a":', b'"\\'])
def test_a_value_that_breaks_off_is_told_at_the_end(data: bytes) -> None:
    """An incomplete value waits; at the end of the stream it is truncated, and its bytes are the evidence."""
    assert read(one_by_one(data)) == ([], None)
    assert read([data], is_ended=True) == ([], Code.TRUNCATED)
    reader = JsonReader(LIMIT_BYTES)
    reader.receive_data(b"  " + data)
    assert reader.next_value() is None
    assert (reader.pending, reader.pending_bytes) == (data, len(data))


def test_white_space_alone_is_no_value() -> None:
    """It may end a stream; while a value is due, it is the evidence."""
    assert read([b'"x" \n'], is_ended=True) == (["x"], None)
    reader = JsonReader(LIMIT_BYTES)
    reader.receive_data(b" \n")
    assert reader.next_value() is None
    assert (reader.pending, reader.pending_bytes) == (b" \n", 0)


def test_an_error_ends_the_stream() -> None:
    """After bytes that are no JSON, nothing is read."""
    reader = JsonReader(LIMIT_BYTES)
    reader.receive_data(b'void "x"')
    for _ in range(2):
        with pytest.raises(RemoteProtocolError):
            reader.next_value()
        reader.receive_data(b'"y"')


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut bytes at places, counted around."""
    at = sorted({place % (len(data) + 1) for place in places})
    return [data[start:end] for start, end in zip([0, *at], [*at, len(data)], strict=True)]


@given(st.lists(PLAIN, max_size=5), st.booleans(), st.lists(st.integers(0, 10_000), max_size=6))
def test_any_values_however_cut(values: list[Any], is_ascii: bool, places: list[int]) -> None:  # noqa: FBT001  # drawn
    """A stream cut anywhere, even inside a character, gives back its values."""
    texts = [json.dumps(value, ensure_ascii=is_ascii) for value in values]
    data = "".join(f" \n{text}\t" for text in texts).encode()
    if len(data) <= LIMIT_BYTES:
        assert read(cut(data, places), is_ended=True) == (values, None)


@given(
    st.binary(max_size=40) | st.text('[]{}",:\\ tfn-0123456789eE.u', max_size=40).map(str.encode),
    st.lists(st.integers(0, 100), max_size=6),
)
def test_any_bytes_however_cut(data: bytes, places: list[int]) -> None:
    """Any bytes are values or an error with a code, and cuts change neither."""
    assert read(cut(data, places), is_ended=True) == read([data], is_ended=True)
