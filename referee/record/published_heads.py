"""The published heads of running records: a file of JSON lines, of which anybody may keep a copy.

Anybody who keeps a copy can show later that a record was changed, cut off or written again.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from protocol.messages import Count, Hex32

from ..errors import BadRequest
from ..files.reading import read_small

MAX_FILE_BYTES = 1 << 30
"""Largest file of heads: some million lines. An auditor reads it into memory, and it can come from a stranger."""

_MAX_LINE_BYTES = 4096
"""Number of trailing bytes to search for a line that a crashed referee did not finish; no line is longer, as names
are short."""


class PublishedHead(Struct, frozen=True, kw_only=True):
    """The head of a record at one line: it proves that the record had this line at that time."""

    at: str
    """Time of day in UTC, for people; no check uses it."""
    record: str
    """Name of its match or tournament."""
    line: Count
    """Its number, from 0."""
    head: Hex32
    """Its hash: the head of the record then."""


def append_heads(path: Path) -> BinaryIO:
    """Open a file to append heads to it; a last line that is not whole is cut off.

    Raises:
        OSError: it can't be opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+b")
    size_bytes = file.tell()
    file.seek(max(size_bytes - _MAX_LINE_BYTES, 0))
    file.truncate(size_bytes - len(file.read().rpartition(b"\n")[2]))
    return file


def by_record(paths: Iterable[Path]) -> dict[str, list[PublishedHead]]:
    """Read files of published heads.

    Returns:
        Match or tournament -> the heads of its record.

    Raises:
        BadRequest: as read_heads does.
    """
    heads: dict[str, list[PublishedHead]] = {}
    for path in paths:
        for head in read_heads(path):
            heads.setdefault(head.record, []).append(head)
    return heads


def read_heads(path: Path) -> list[PublishedHead]:
    """Read published heads. A last line that is not whole is left out: its referee crashed while writing it.

    Raises:
        BadRequest: a line is no published head, or the file is too long or can't be read.
    """
    try:
        data = read_small(path, MAX_FILE_BYTES)
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}") from None
    decoder = msgspec.json.Decoder(PublishedHead)
    heads = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            heads.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest(f"{path}, line {number}: no published head as --heads writes them: {error}") from None
    return heads
