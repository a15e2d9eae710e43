"""Reads records of matches, and checks their form, their chain and their seal.

A last line without a line feed is torn: the referee crashed while writing it. It is dropped and reported. Its missing
part is never guessed.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from ..errors import DoesNotHold
from ..match.events import SeatEvent
from ..text import show_json, visible
from ..tournament.match_context import MatchEntry, make_entry
from . import schema
from .key import RECORD_PURPOSE, is_signed

T = TypeVar("T", bound=schema.Line)

MAX_RECORD_BYTES = 1 << 30
"""Maximum size of a record. A match of 100,000 turns is about 100 MB."""

END_BYTES = 1 << 12
"""Number of bytes that are read first from the end of a record; most last lines are shorter."""
MAX_LINE_BYTES = 1 << 24
"""Maximum length of a line.

The longest line holds a view of 4 MiB, the largest message to a player. In memory, a line takes about twenty times as
much as in the file.
"""


class RecordError(DoesNotHold):
    """A record does not hold: its content is not what it must be.

    The text is always one line, so that content of the file can't look like further lines of the referee's output.

    Args:
        path: the file.
        line: `n` of the offending line, from 0; None if the error concerns the whole file.
        expected: content that should be there.
        found: content that is there.
    """

    def __init__(self, path: Path, line: int | None, expected: str, found: str) -> None:
        self.path = path
        self.line = line
        self.expected = visible(expected)
        self.found = visible(found)
        where = str(path) if line is None else f"{path}, line {line}"
        super().__init__(f"{visible(where)}: expected {self.expected}; found {self.found}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Make the error picklable, for a pool of processes."""
        return type(self), (self.path, self.line, self.expected, self.found)


class NotSealed(RecordError):
    """All lines of a record hold, but it has no seal, and a sealed record is required.

    Either the match is still running, or its referee crashed, or somebody cut off the end of the record. The record
    alone can't show which.
    """


class IsRedacted(RecordError):
    """A record has hidden fields, and a whole record is required.

    redacted_record.py can check such a record as far as possible.

    Args:
        path: the file.
        line: first line with a hidden field.
    """

    def __init__(self, path: Path, line: int) -> None:
        content = f"a redacted one, which holds what one seat may see: `referee explain {path}` shows it"
        super().__init__(path, line, "a whole record", content)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make the error picklable, for a pool of processes."""
        return IsRedacted, (self.path, self.line)


@dataclass(frozen=True)
class Chain:
    """The lines of a record, after a check of their chain."""

    path: Path
    hashes: tuple[str, ...]
    """Hash of each line."""
    size_bytes: int
    """Size of these lines, with their line feeds."""
    rest: bytes
    """Bytes after the last line feed: a torn line, or nothing."""
    digest: str
    """SHA-256 of the whole file, as it was read."""
    read: Callable[[], tuple[schema.PlainLine, ...]] = field(compare=False, repr=False)
    """Function that returns the parsed lines."""

    @cached_property
    def lines(self) -> tuple[schema.PlainLine, ...]:
        """The parsed lines. They are parsed at the first access, since an audit can often do without."""
        return self.read()

    @property
    def head(self) -> str:
        """Hash of the last line."""
        return self.hashes[-1] if self.hashes else schema.FIRST_PREV

    @property
    def end(self) -> "ChainEnd":
        """Place where a writer continues the chain."""
        return ChainEnd(self.head, len(self.hashes), self.size_bytes, len(self.rest))


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Place where the chain of a record ends, for a writer that continues it."""

    head: str
    """Hash of the last line."""
    count: int
    """Number of lines."""
    size_bytes: int
    """Size of these lines, with their line feeds."""
    torn_bytes: int = 0
    """Number of bytes after the last line feed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record, after a check of its chain and its seal."""

    path: Path
    header: schema.Header
    transitions: tuple[schema.Transition, ...]
    result: schema.ResultLine | None
    """Line of the result; None if the match is unfinished."""
    seal: schema.SealLine | None
    """Line of the seal; None if the record is unfinished."""
    chain: Chain

    @property
    def is_torn(self) -> bool:
        """True if an incomplete last line was cut off."""
        return bool(self.chain.rest)

    @property
    def seed(self) -> bytes | None:
        """The match's seed; None if the record does not reveal it."""
        text = self.result.seed if self.result else self.header.seed
        return None if text is None else bytes.fromhex(text)

    @property
    def is_sealed(self) -> bool:
        """True if the match is over and the record is signed."""
        return self.seal is not None

    @property
    def state(self) -> str:
        """`sealed` or `unfinished`."""
        return "sealed" if self.is_sealed else "unfinished"


def read_chain(path: Path) -> Chain:
    """Read a record's lines, and check their numbers and their chain. Fields may be hidden.

    Raises:
        RecordError: the file can't be read, or a line is wrong. The error names the first wrong line.
    """
    with open_file(path) as file:
        return _read_chain(path, file)


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a record to read it.

    Raises:
        RecordError: the file can't be read, or is larger than any record.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise RecordError(path, None, "a file", stat.filemode(status.st_mode))
        if status.st_size > MAX_RECORD_BYTES:
            raise RecordError(path, None, f"at most {MAX_RECORD_BYTES} bytes", f"{status.st_size} bytes")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise RecordError(path, None, "a readable file", error.strerror or str(error)) from None


def read_end(path: Path) -> tuple[schema.AnyLine, ChainEnd]:
    """Read only the last line of a record that the referee itself wrote, without any check of the chain.

    Raises:
        RecordError: the file can't be read, or does not end with a line of a record.
    """
    try:
        with path.open("rb") as file:
            size_bytes, data = file.seek(0, os.SEEK_END), b""
            while len(data) < size_bytes and b"\n" not in data[:-1]:
                file.seek(max(size_bytes - max(2 * len(data), END_BYTES), 0))
                data = file.read()
        line = schema.read_line(data.removesuffix(b"\n").rpartition(b"\n")[2])
        if not data.endswith(b"\n"):
            raise schema.BadLine("a part of a line")
        last = schema.parse_line(line)
    except OSError as error:
        raise RecordError(path, None, "a readable file", error.strerror or str(error)) from None
    except schema.BadLine as error:
        raise RecordError(path, None, "a line of a record as the last one", str(error)) from None
    return last, ChainEnd(line.hash, last.n + 1, size_bytes)


def read_lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file with their line feeds. The last line may have none.

    Raises:
        RecordError: a line is longer than any line of a record.
        OSError: the file can't be read.
    """
    number = 0
    while data := file.readline(MAX_LINE_BYTES + 1):
        if len(data) > MAX_LINE_BYTES:
            raise RecordError(path, number, f"a line of at most {MAX_LINE_BYTES} bytes", "a longer one")
        yield data
        number += 1


def _read_chain(path: Path, file: BinaryIO) -> Chain:
    lines: list[schema.PlainLine] = []
    prev, size_bytes, rest, digest = schema.FIRST_PREV, 0, b"", hashlib.sha256()
    for number, data in enumerate(read_lines(path, file)):
        digest.update(data)
        if not data.endswith(b"\n"):
            rest = data
            break
        try:
            line = schema.read_line(data[:-1])
        except schema.BadLine as error:
            raise RecordError(path, number, "a line of a record", str(error)) from None
        if line.fields.get("n") != number or type(line.fields["n"]) is not int:
            raise RecordError(path, number, f"n = {number}", f"n = {show_json(line.fields.get('n'))}")
        if line.fields.get("prev") != prev:
            raise RecordError(path, *find_break(lines, data[:-1], file.readline(MAX_LINE_BYTES)))
        prev, size_bytes = line.hash, size_bytes + len(data)
        lines.append(line)
    hashes = tuple(line.hash for line in lines)
    return Chain(path, hashes, size_bytes, rest, digest.hexdigest(), partial(tuple, lines))


def read_header(path: Path) -> schema.Header:
    """Read only the first line of a record, whole or redacted.

    Raises:
        RecordError: the file can't be read, or its first line is no header.
    """
    try:
        with path.open("rb") as file:
            data = next(read_lines(path, file), b"")
    except OSError as error:
        raise RecordError(path, None, "a readable file", error.strerror or str(error)) from None
    try:
        return schema.parse_header(schema.read_line(data.removesuffix(b"\n")))
    except schema.BadLine as error:
        raise RecordError(path, 0, "a header", str(error)) from None


def read_record(path: Path) -> Record:
    """Read a record, and check the form of its lines, their numbers, the chain and the seal.

    Raises:
        IsRedacted: the record has hidden fields.
        RecordError: the file can't be read, or a line is wrong. The error names the first wrong line.
    """
    return _make_record(read_chain(path))


def parse_record(data: bytes, path: Path) -> Record:
    """Parse a record from bytes, with the checks of read_record.

    Args:
        data: the bytes of the record.
        path: name of the record in error messages.

    Raises:
        IsRedacted: the record has hidden fields.
        RecordError: a line is wrong. The error names the first wrong line.
    """
    return _make_record(_read_chain(path, BytesIO(data)))


def _make_record(chain: Chain) -> Record:
    path = chain.path
    others = _parse_lines(chain)
    header = others.pop(0) if others else None
    if not isinstance(header, schema.Header):
        raise RecordError(path, 0, "a header", "none" if header is None else f"a line of kind {_name_kind(header)}")
    seal, result = _pop_last(others, schema.SealLine), _pop_last(others, schema.ResultLine)
    transitions: list[schema.Transition] = []
    for number, line in enumerate(others, 1):
        if not isinstance(line, schema.Transition):
            raise RecordError(path, number, "an event with its commands", f"a line of kind {_name_kind(line)}")
        check_seats(path, number, line, len(header.setup.names))
        transitions.append(line)
    if seal is not None and result is None:
        raise RecordError(path, len(chain.lines) - 1, "a result before the seal", "none")
    if chain.rest and seal:
        raise RecordError(path, len(chain.lines), "nothing more", f"{len(chain.rest)} bytes")
    check_seal(chain)
    return Record(path, header, tuple(transitions), result, seal, chain)


def check_seats(path: Path, number: int, transition: schema.Transition, seats: int) -> None:
    """Check that a transition names only seats that exist, because readers of the record look up their names.

    Raises:
        RecordError: the transition names another seat.
    """
    seats_named = [transition.event.seat] if isinstance(transition.event, SeatEvent) else []
    seats_named += [form.seat for form in transition.forms if form.seat is not None]
    for seat in seats_named:
        if not 0 <= seat < seats:
            raise RecordError(path, number, f"a seat from 0 to {seats - 1}", f"seat {seat}")


def _pop_last(lines: list[schema.AnyLine], kind: type[T]) -> T | None:
    """Remove and return the last line if it is of a given kind."""
    if lines and isinstance(lines[-1], kind):
        return cast("T", lines.pop())
    return None


def check_key(path: Path, line: int | None, key: Any, keys: Collection[str]) -> None:
    """Check that a key is one of those that the auditor accepts.

    Args:
        path: the file.
        line: `n` of the line that names the key; None if the file has no lines.
        key: the key that the file names.
        keys: accepted public keys. If empty, every key is accepted.

    Raises:
        RecordError: the key is not accepted.
    """
    if keys and key not in keys:
        raise RecordError(path, line, f"key {' or '.join(keys)}", f"key {key}")


def check_seal(chain: Chain) -> None:
    """Check the seal against the key that the header names; without a seal, nothing is checked.

    Raises:
        RecordError: the seal is not a signature of this key over these lines.
    """
    if not chain.lines or chain.lines[-1].fields.get("kind") != "seal":
        return
    key, last = chain.lines[0].fields.get("key"), chain.lines[-1]
    if list(last.fields) != ["n", "prev", "kind", "signature"]:  # no hash covers the last line
        raise RecordError(
            chain.path, len(chain.lines) - 1, "a line of a record", f"keys {', '.join(last.fields)[:140]}"
        )
    try:
        seal = schema.parse_line(last)
    except schema.BadLine as error:
        raise RecordError(chain.path, len(chain.lines) - 1, "a line of a record", str(error)) from None
    assert isinstance(seal, schema.SealLine), "its kind was looked at"
    if not is_sealed(str(key), seal):
        raise RecordError(chain.path, len(chain.lines) - 1, f"the seal of key {key}", seal.signature)


def is_sealed(key: str, seal: schema.SealLine) -> bool:
    """Return whether a seal is a signature of a public key over all lines before it."""
    return is_signed(key, RECORD_PURPOSE, seal.prev, seal.signature)


def _parse_lines(chain: Chain) -> list[schema.AnyLine]:
    hidden = next((number for number, line in enumerate(chain.lines) if line.is_redacted), None)
    if hidden is not None:  # checked before any line is parsed, so that a redacted record always gets this error
        raise IsRedacted(chain.path, hidden)
    lines: list[schema.AnyLine] = []
    for number, line in enumerate(chain.lines):
        try:
            lines.append(schema.parse_line(line))
        except schema.BadLine as error:
            raise RecordError(chain.path, number, "a line of a record", str(error)) from None
    return lines


def _name_kind(line: schema.AnyLine) -> str:
    return str(type(line).__struct_config__.tag)


def find_break(before: Sequence[schema.PlainLine], data: bytes, following: bytes) -> tuple[int, str, str]:
    """Find the changed line after a break in the chain: a line whose `prev` is not the hash of the line before it.

    Usually the line before was changed. But if this line with the right `prev` would fit the next line or the seal,
    then only its `prev` was changed.

    Args:
        before: the lines before the break.
        data: the line whose `prev` is wrong, without its line feed.
        following: the line after it; empty if there is none.

    Returns:
        The `n` of the changed line, its expected content, and its present content.
    """
    line, prev = schema.read_line(data), before[-1].hash if before else schema.FIRST_PREV
    stated, number = show_json(line.fields.get("prev"), 80), len(before)
    is_alone = not before
    with suppress(schema.BadLine):
        if before and line.fields.get("kind") == "seal":
            seal, key = schema.parse_line(line), str(before[0].fields.get("key"))
            is_alone = isinstance(seal, schema.SealLine) and is_signed(key, RECORD_PURPOSE, prev, seal.signature)
        elif following:
            here = b'"prev":' + schema.encode_plain(line.fields.get("prev"))
            restored = schema.read_line(data.replace(here, b'"prev":' + schema.encode_plain(prev), 1))
            is_alone = is_alone or schema.read_line(following.removesuffix(b"\n")).fields.get("prev") == restored.hash
    if is_alone:
        return number, f"prev = {prev} (the line before)", f"prev = {stated}"
    return number - 1, f"a line whose hash is {stated}, as line {number} has it", f"one whose hash is {prev}"


def read_entry(record: Record) -> MatchEntry:
    """Read the entry of a match, for the record of its tournament.

    Raises:
        RecordError: its match belongs to no tournament or has another number of seats, or the record is not sealed.
    """
    context, line = record.header.context, record.result
    if context is None:
        raise RecordError(record.path, 0, "a match of a tournament", "none")
    entrants, names = len(context.fixture.entrants), len(record.header.setup.names)
    if entrants != names:
        raise RecordError(record.path, 0, f"the names of {entrants} entrants", f"{names} names")
    if line is None or record.seal is None:
        raise RecordError(
            record.path, len(record.chain.hashes), "a result and its seal", f"a record that is {record.state}"
        )
    return make_entry(context.fixture, record.header.setup.names, line.result, record.seal.prev)
