"""Reading a record: it gives back what was written, reports a torn line, and names the line that is wrong."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.plugins import find_game
from referee.record import reader
from referee.record.reader import MAX_LINE_BYTES, MAX_RECORD_BYTES, RecordError, read_end, read_header, read_record
from referee.record.redacted_record import check_redacted_record
from referee.record.schema import plain_json
from referee.record.tournament_record import read_start

from .forging import (
    FORGERS_KEY,
    ZEROS,
    Line,
    chained,
    changed,
    digest,
    hash_of,
    line_bytes,
    lines_of,
    refused,
    sealed,
    signature_of,
    unchained,
)
from .records import STORIES, record_of, tell


@pytest.mark.parametrize("name", STORIES)
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    """Header, events with commands, result, seed and nonces are equal to the written ones."""
    story = tell(name)
    path = story.write(tmp_path / "m.jsonl")
    record = read_record(path)
    match, seed = story.match, story.match.seed.hex()
    state = "unfinished" if match.result is None else "sealed"
    assert (record.path, record.is_torn, record.state) == (path, False, state)
    assert record.header.setup == match.setup
    assert record.header.seed == (seed if story.is_fixed else None)
    assert [step.event for step in record.transitions] == [event for event, _ in story.steps]
    assert [step.commands for step in record.transitions] == [
        json.loads(plain_json(commands)) for _, commands in story.steps
    ]
    found = record.result
    assert (found is None, record.seal is None) == (match.result is None, match.result is None)
    if found is not None:
        assert (found.result, found.seed, found.nonces) == (match.result, seed, match.nonces.opened)


@pytest.mark.parametrize("name", ["clean", "unfinished"])
def test_the_end_of_a_record(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line and the end of the chain are found without the other lines, even if that line is long."""
    monkeypatch.setattr(reader, "END_BYTES", 8)
    path = tell(name).write(tmp_path / "m.jsonl")
    record = read_record(path)
    last = record.seal or record.transitions[-1]
    assert read_end(path) == (last, record.chain.end)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RecordError, match="a part of a line"):
        read_end(path)


@pytest.mark.parametrize(("name", "knows_seed"), [("clean", True), ("unfinished", True), ("dealt, unfinished", False)])
def test_the_seed_of_a_record(tmp_path: Path, name: str, knows_seed: bool) -> None:  # noqa: FBT001
    """A record shows its seed once it is finished, or from the start if the seed was fixed."""
    record = read_record(tell(name).write(tmp_path / "m.jsonl"))
    assert record.seed == (tell(name).match.seed if knows_seed else None)


# --- torn


def ends_of(data: bytes) -> list[int]:
    """Return the ends of a record's lines, with their line feeds."""
    return [index + 1 for index, byte in enumerate(data) if byte == 0x0A]


@pytest.mark.parametrize("name", ["clean", "late move", "void", "dealt", "unfinished", "not begun"])
def test_a_torn_last_line_is_reported(tmp_path: Path, name: str) -> None:
    """Cut at any byte of its last line, a record has all lines but that one, and is torn."""
    data, path = record_of(name), tmp_path / "m"
    begin = [0, *ends_of(data)][-2]
    path.write_bytes(data)
    whole = read_record(path)
    expected = whole.transitions if whole.seal else whole.transitions[:-1]
    for size in range(len(data) - 1, begin, -1):
        os.truncate(path, size)
        if begin == 0:
            assert (refused(path, data[:size]).line, size) == (0, size)
            continue
        record = read_record(path)
        assert (record.header, record.transitions) == (whole.header, expected)
        assert (record.result, record.state) == (whole.result, "unfinished")
        assert (record.seal, record.is_torn, size) == (None, True, size)


@pytest.mark.parametrize("name", ["clean", "acknowledged", "void", "dealt", "unfinished"])
def test_a_record_that_ends_early_is_unfinished(tmp_path: Path, name: str) -> None:
    """Cut after any line but the last, a record has the lines up to there and no seal; it is not torn."""
    data, path = record_of(name), tmp_path / "m"
    path.write_bytes(data)
    whole = read_record(path)
    for count, end in enumerate(ends_of(data)[:-1]):
        path.write_bytes(data[:end])
        record = read_record(path)
        assert (record.header, record.transitions) == (whole.header, whole.transitions[:count])
        assert record.result == (whole.result if count == len(whole.transitions) + 1 else None)
        assert (record.state, record.is_torn, record.chain.size_bytes) == ("unfinished", False, end)


def test_a_torn_line_is_not_looked_at(tmp_path: Path) -> None:
    """Without its line feed the last line does not count, even if it is complete, binary or of another record."""
    data, path = record_of("unfinished"), tmp_path / "m"
    for rest in (b"{", b" ", b"\x00" * 512, b"\xff\xfe", record_of("clean").splitlines()[5]):
        path.write_bytes(data + rest)
        record = read_record(path)
        assert (len(record.transitions), record.result, record.is_torn) == (data.count(b"\n") - 1, None, True)


# --- what is no record

CLEAN = lines_of(record_of("clean"))
HEADER, RESULT, SEAL = CLEAN[0], CLEAN[-2], CLEAN[-1]
LAST = len(CLEAN) - 1
"""The seal's line."""
RESULTS = LAST - 1
"""The result's line."""
NO_LINE = "a line of a record"
BODIES = record_of("clean").splitlines()


def header(key: str, value: Any) -> bytes:
    """Return the record sealed again with another value in its header."""
    return sealed(changed(CLEAN, 0, [key], value))


def setup(key: str, value: Any) -> bytes:
    """Return the record sealed again with another value in its setup; the key may be a path with dots."""
    return sealed(changed(CLEAN, 0, ["setup", *key.split(".")], value))


def result(key: str, value: Any) -> bytes:
    """Return the record sealed again with another value in the result's line."""
    return sealed(changed(CLEAN, LAST - 1, [key], value))


def without(key: str) -> bytes:
    """Return the record sealed again without a key of its setup."""
    given = HEADER["setup"]
    return header("setup", {name: value for name, value in given.items() if name != key})


def with_body(number: int, body: bytes) -> bytes:
    """Return the record with the bytes of one line replaced, and the chain after it repaired."""
    bodies, prev = [*BODIES[:number], body], digest(body)
    for line in CLEAN[number + 1 :]:
        mended = {**line, "prev": prev}
        prev = hash_of(mended)
        bodies.append(line_bytes(mended))
    return b"".join(line + b"\n" for line in bodies)


def numbered(number: int, **fields: Any) -> bytes:
    """Return the record with number or hash of one line replaced."""
    lines: list[Line] = [*CLEAN[:number], {**CLEAN[number], **fields}, *CLEAN[number + 1 :]]
    return unchained(lines)


def signed(signature: Any) -> bytes:
    """Return the record with another signature."""
    return unchained(changed(CLEAN, LAST, ["signature"], signature))


NUMBER, PREV, KIND, SIGNATURE = "n", "prev", "kind", "signature"


def seal_of(*keys: str) -> bytes:
    """Return the record with the keys of its seal in another order."""
    return unchained([*CLEAN[:-1], {key: SEAL[key] for key in keys}])


BAD_FILES: tuple[tuple[str, bytes, int, str], ...] = (
    ("empty", b"", 0, "a header"),
    ("a line feed", b"\n", 0, "a line of a record"),
    ("half a header", BODIES[0], 0, "a header"),
    ("binary", bytes(range(256)) * 9, 0, "a line of a record"),
    ("zeros", bytes(4096), 0, "a header"),
    ("zeros in the middle", with_body(3, bytes(4096)), 3, "a line of a record"),
    ("another format's line", b"# a log\n" + record_of("clean"), 0, "a line of a record"),
    ("a byte order mark", b"\xef\xbb\xbf" + record_of("clean"), 0, "a line of a record"),
    ("old line ends", record_of("clean").replace(b"\n", b"\r"), 0, "a header"),
    ("an empty line", record_of("clean").replace(b"\n", b"\n\n", 1), 1, "a line of a record"),
    ("no utf-8", with_body(5, BODIES[5].replace(b"green", b"gr\xffen")), 5, "a line of a record"),
    ("nested deeply", with_body(5, b"[" * 100_000 + b"]" * 100_000), 5, "a line of a record"),
    ("a huge number", with_body(1, BODIES[1].replace(b":0.0", b":" + b"9" * 9999)), 1, "a line of a record"),
    ("not a number", with_body(1, BODIES[1].replace(b":0.0", b":NaN")), 1, "a line of a record"),
    ("infinity", with_body(1, BODIES[1].replace(b":0.0", b":-Infinity")), 1, "a line of a record"),
    ("no header", sealed(CLEAN[1:]), 0, "a header"),
    ("only a result", sealed(CLEAN[-2:-1]), 0, "a header"),
    ("only a seal", sealed(CLEAN[-1:]), 0, "a header"),
    ("two headers", sealed([HEADER, *CLEAN]), 1, "an event with its commands"),
    ("a header at the end", sealed([*CLEAN[:-2], HEADER]), LAST - 1, "an event with its commands"),
    ("a header before the seal", sealed([*CLEAN[:-2], HEADER, SEAL]), LAST - 1, "an event with its commands"),
    ("a result in the middle", sealed([*CLEAN[:5], RESULT, *CLEAN[5:]]), 5, "an event with its commands"),
    ("two results", sealed([*CLEAN[:-1], RESULT]), LAST - 1, "an event with its commands"),
    ("two results and a seal", sealed([*CLEAN[:-1], RESULT, SEAL]), LAST - 1, "an event with its commands"),
    ("two seals", sealed([*CLEAN, SEAL]), LAST - 1, "an event with its commands"),
    ("a seal in the middle", sealed([*CLEAN[:5], SEAL, *CLEAN[5:]]), 5, "an event with its commands"),
    ("a seal without a result", sealed([*CLEAN[:-2], SEAL]), LAST - 1, "a result before the seal"),
    ("a seal of an unfinished match", sealed([*CLEAN[:6], SEAL]), 6, "a result before the seal"),
    ("a seal behind the header", sealed([HEADER, SEAL]), 1, "a result before the seal"),
    ("a seal before the result", sealed([*CLEAN[:-2], SEAL, RESULT]), LAST - 1, "an event with its commands"),
    ("a result after the seal", sealed([*CLEAN, RESULT]), LAST - 1, "an event with its commands"),
    ("a step after the result", sealed([*CLEAN[:-1], CLEAN[-3], SEAL]), LAST - 1, "an event with its commands"),
    ("a step after the seal", sealed([*CLEAN, CLEAN[-3]]), LAST - 1, "an event with its commands"),
    ("two records in one file", record_of("clean") * 2, LAST + 1, f"n = {LAST + 1}"),
    ("a byte after the seal", record_of("clean") + b" ", LAST + 1, "nothing more"),
    ("half a line after the seal", record_of("clean") + BODIES[1], LAST + 1, "nothing more"),
    ("an empty line after the seal", record_of("clean") + b"\n", LAST + 1, "a line of a record"),
    ("no key", chained(changed(CLEAN, 0, ["key"], None)), 0, "a line of a record"),
    ("a key that is short", chained(changed(CLEAN, 0, ["key"], "ab")), 0, "a line of a record"),
    ("a key in capitals", chained(changed(CLEAN, 0, ["key"], HEADER["key"].upper())), 0, "a line of a record"),
    ("another key", chained(changed(CLEAN, 0, ["key"], FORGERS_KEY)), LAST, f"the seal of key {FORGERS_KEY}"),
    ("no locked seed", header("locked_seed", None), 0, "a line of a record"),
    ("programs that are none", header("programs", "x"), 0, "a line of a record"),
    ("another signature", signed("00" * 64), LAST, f"the seal of key {HEADER['key']}"),
    ("another's signature", signed(signature_of(SEAL["prev"])), LAST, f"the seal of key {HEADER['key']}"),
    ("a signature in capitals", signed(SEAL["signature"].upper()), LAST, "a line of a record"),
    ("a short signature", signed(SEAL["signature"][:-2]), LAST, "a line of a record"),
    ("no signature", signed(None), LAST, "a line of a record"),
    ("more in the seal", unchained(changed(CLEAN, LAST, ["extra"], 1)), LAST, "a line of a record"),
    ("a seal turned round", seal_of(SIGNATURE, KIND, PREV, NUMBER), LAST, ""),
    ("a seal with its kind first", seal_of(KIND, NUMBER, PREV, SIGNATURE), LAST, ""),
    ("an unknown key of the header", header("extra", 1), 0, "a line of a record"),
    ("an unknown key of the setup", setup("extra", 1), 0, "a line of a record"),
    ("an unknown key of a step", sealed(changed(CLEAN, 3, ["extra"], 1)), 3, "a line of a record"),
    ("an unknown key of an event", sealed(changed(CLEAN, 3, ["event", "extra"], 1)), 3, "a line of a record"),
    ("an unknown key of the last line", result("extra", 1), LAST - 1, "a line of a record"),
    ("a match without a name", setup("match", ""), 0, "a line of a record"),
    ("a match outside its folder", setup("match", "../m"), 0, "a line of a record"),
    ("a match of two lines", setup("match", "m\n"), 0, "a line of a record"),
    ("a setup without names", without("names"), 0, "a line of a record"),
    ("a setup without a commitment", without("commitment"), 0, "a line of a record"),
    ("nobody", setup("names", []), 0, "a line of a record"),
    ("thirteen players", setup("names", ["a"] * 13), 0, "a line of a record"),
    ("no time", setup("time.per_move_ms", 0.0), 0, "a line of a record"),
    ("more than a day", setup("time.start_ms", 86_400_001.0), 0, "a line of a record"),
    ("a short commitment", setup("commitment", "ab"), 0, "a line of a record"),
    ("a commitment in capitals", setup("commitment", HEADER["setup"]["commitment"].upper()), 0, "a line of a record"),
    (
        "a commitment and a line feed",
        setup("commitment", HEADER["setup"]["commitment"] + "\n"),
        0,
        "a line of a record",
    ),
    ("options that are none", setup("options", []), 0, "a line of a record"),
    ("a wrong first number", numbered(0, n=1), 0, "n = 0"),
    ("a wrong first hash", numbered(0, prev="1" + ZEROS[1:]), 0, f"prev = {ZEROS}"),
    ("a wrong number", numbered(4, n=5), 4, "n = 4"),
    ("a negative number", numbered(4, n=-4), 4, "n = 4"),
    ("a huge number of a line", numbered(4, n=10**15), 4, "n = 4"),
    ("a number of over 64 bits", numbered(4, n=2**64), 4, "a line of a record"),
    ("a wrong hash", numbered(4, prev=ZEROS), 4, f"prev = {CLEAN[4]['prev']}"),
    ("a hash in capitals", numbered(4, prev=CLEAN[4]["prev"].upper()), 4, f"prev = {CLEAN[4]['prev']}"),
    ("no hash", numbered(4, prev=""), 4, f"prev = {CLEAN[4]['prev']}"),
    ("a wrong hash of the result", numbered(LAST - 1, prev=ZEROS), LAST - 1, f"prev = {RESULT['prev']}"),
    ("a wrong last hash", numbered(LAST, prev=ZEROS), LAST, f"prev = {SEAL['prev']}"),
    ("a result of no form", result("result", None), LAST - 1, "a line of a record"),
    ("a void match of no text", sealed(changed(CLEAN, LAST - 1, ["result", "void"], 1)), RESULTS, NO_LINE),
    ("a foul of no cause", result("result", {**RESULT["result"], "fouls": [{"seat": 0}]}), RESULTS, NO_LINE),
    ("nonces of no form", result("nonces", "aa"), LAST - 1, "a line of a record"),
    ("no seed at the end", result("seed", None), LAST - 1, "a line of a record"),
)


@pytest.mark.parametrize(
    ("data", "line", "expected"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES]
)
def test_what_is_no_record_is_named_by_its_line(tmp_path: Path, data: bytes, line: int, expected: str) -> None:
    """The error has the number of the wrong line, and its expected content."""
    error = refused(tmp_path / "m", data)
    assert (error.line, error.expected[: len(expected)]) == (line, expected)
    assert error.found


@pytest.mark.parametrize("form", [0, 2, "1", 1.0, True, None, [1]])
@pytest.mark.parametrize("read", [read_record, read_header, partial(check_redacted_record, find_game=find_game)])
def test_another_format_is_named(tmp_path: Path, read: Callable[[Path], Any], form: Any) -> None:
    """Its other content is not judged, such as the unknown key in the header here."""
    path = tmp_path / "m"
    path.write_bytes(chained([{**HEADER, "format": form, "locked_seed": None, "later": 1}, *CLEAN[1:]]))
    with pytest.raises(RecordError, match="this referee reads only format 1") as caught:
        read(path)
    assert (caught.value.line, f"record of format {json.dumps(form)}" in caught.value.found) == (0, True)


def test_other_line_ends_are_none(tmp_path: Path) -> None:
    """A record with other line ends, as some programs write them, is refused at once."""
    assert refused(tmp_path / "m", record_of("clean").replace(b"\n", b"\r\n")).line in (0, 1)


NO_FILES: tuple[tuple[Callable[[Path], None], str], ...] = (
    (Path.mkdir, r"a file; found d"),
    (os.mkfifo, r"a file; found p"),
    (lambda path: None, r"a readable file; found [A-Z]"),
    (lambda path: path.symlink_to(path), r"a readable file; found [A-Z]"),
)


@pytest.mark.parametrize(("make", "expected"), NO_FILES, ids=["folder", "pipe", "nothing", "link to itself"])
def test_what_can_not_be_read(tmp_path: Path, make: Callable[[Path], None], expected: str) -> None:
    """A folder, a pipe, a missing file and a link to itself are no records."""
    path = tmp_path / "m"
    make(path)
    with pytest.raises(RecordError, match=f": expected {expected}") as caught:
        read_record(path)
    assert (caught.value.path, caught.value.line) == (path, None)


def test_a_file_without_an_end_is_not_read(tmp_path: Path) -> None:
    """A file that is longer than any record is refused before it is read."""
    path = tmp_path / "m"
    path.touch()
    os.truncate(path, MAX_RECORD_BYTES + 1)
    with pytest.raises(RecordError, match=f": expected at most {MAX_RECORD_BYTES} bytes"):
        read_record(path)


@pytest.mark.forges
@pytest.mark.parametrize("reads", [read_record, read_header, lambda path: read_start(path.parent)])
def test_a_line_without_an_end_is_not_read_to_its_end(tmp_path: Path, reads: Callable[[Path], object]) -> None:
    """A line that is longer than any other is refused before it fills the memory; such a file is sparse."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"n":0,"prev":"","kind":"tournament"')
    os.truncate(path, MAX_RECORD_BYTES)
    with pytest.raises(RecordError, match=f"line 0: expected a line of at most {MAX_LINE_BYTES} bytes"):
        reads(path)
