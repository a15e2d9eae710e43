"""Reads a record back. Knows files, line ends and the chain; refuses to judge what the lines say (audit.py).

A last line without a line feed is torn: its referee died while writing. It is cut off and reported, never guessed at.
"""

from dataclasses import dataclass
from pathlib import Path

from .schema import FIRST_PREV, FORMAT, AnyLine, BadLine, Header, ResultLine, Step, decode_line, line_hash

MAX_RECORD_BYTES = 1 << 30
"""A match of 100,000 turns is about 100 MB; more is no record."""


class RecordError(Exception):
    """What is wrong with a record.

    Args:
        path: the file.
        line: its offending line, from 1; 0 for the whole file.
        expected: what should stand there.
        found: what does.
    """

    def __init__(self, path: Path, line: int, expected: str, found: str) -> None:
        super().__init__(f"{path}, line {line}: expected {expected}; found {found}")
        self.path = path
        self.line = line
        self.expected = expected
        self.found = found


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record, chain checked."""

    path: Path
    header: Header
    steps: tuple[Step, ...]
    result: ResultLine | None
    """None if its referee died before the end."""
    is_torn: bool
    """Whether an incomplete last line was cut off."""

    @property
    def seed(self) -> bytes | None:
        """The match's seed, if the record tells it."""
        text = self.result.seed if self.result else self.header.seed
        return None if text is None else bytes.fromhex(text)


def read_record(path: Path) -> Record:
    """Read a record and check its lines' form, numbers and chain.

    Raises:
        RecordError: the file can't be read, or a line is not what it should be; the first such line is named.
    """
    try:
        size = path.stat().st_size
        if size > MAX_RECORD_BYTES:
            raise RecordError(path, 0, f"at most {MAX_RECORD_BYTES} bytes", f"{size} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(path, 0, "a readable file", error.strerror or str(error)) from None
    *complete, rest = data.split(b"\n")
    lines = _chained_lines(path, complete)
    if not lines or not isinstance(lines[0], Header):
        raise RecordError(path, 1, "a header", "none")
    header = lines[0]
    if header.format != FORMAT:
        raise RecordError(path, 1, f"format {FORMAT}", f"format {header.format}")
    last = lines[-1]
    result = last if isinstance(last, ResultLine) else None
    steps = lines[1:-1] if result else lines[1:]
    for number, line in enumerate(steps, 2):
        if not isinstance(line, Step):
            raise RecordError(path, number, "an event with its commands", f"a line of kind {type(line).__name__}")
    if result and rest:
        raise RecordError(path, len(lines) + 1, "nothing after the result", f"{len(rest)} bytes")
    return Record(path, header, tuple(line for line in steps if isinstance(line, Step)), result, bool(rest))


def _chained_lines(path: Path, complete: list[bytes]) -> list[AnyLine]:
    lines: list[AnyLine] = []
    prev = FIRST_PREV
    for number, data in enumerate(complete):
        try:
            line = decode_line(data)
        except BadLine as error:
            raise RecordError(path, number + 1, "a line of a record", str(error)) from None
        if line.n != number:
            raise RecordError(path, number + 1, f"n = {number}", f"n = {line.n}")
        if line.prev != prev:
            raise RecordError(path, number + 1, f"prev = {prev} (the line before)", f"prev = {line.prev}")
        prev = line_hash(data)
        lines.append(line)
    return lines
