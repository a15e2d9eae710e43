"""Publishes the head of each running record after every line, so that anybody can keep a copy."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from protocol.messages import Count, Hex32

from ..clock import wall_clock
from ..errors import BadRequest
from ..files.reading import read_small
from ..tournament.commands import TakenTransition
from ..tournament.spec import TournamentSpec
from .base import MatchTransition, Observer

MAX_FILE_BYTES = 1 << 30
"""Maximum size of a file of heads, enough for several million lines. An auditor reads the whole file into memory."""

_MAX_LINE_BYTES = 4096
"""Number of trailing bytes to search for a line that a crashed referee did not finish. No line is longer than this."""


class PublishedHead(Struct, frozen=True, kw_only=True):
    """The head of a record at one line: it proves that the record had this line at that time."""

    at: str
    """Date and time in UTC, for human readers; no check uses it."""
    record: str
    """Name of the match or tournament."""
    line: Count
    """Number of the line, from 0."""
    head: Hex32
    """Hash of the line, which was the head of the record at that time."""


def append_heads(path: Path) -> BinaryIO:
    """Open a file to append heads to it. An incomplete last line is removed.

    Raises:
        OSError: the file can't be opened.
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
        Name of a match or tournament -> the heads of its record.

    Raises:
        BadRequest: as read_heads does.
    """
    heads: dict[str, list[PublishedHead]] = {}
    for path in paths:
        for head in read_heads(path):
            heads.setdefault(head.record, []).append(head)
    return heads


def read_heads(path: Path) -> list[PublishedHead]:
    """Read a file of published heads. An incomplete last line is ignored: the referee crashed while writing it.

    Raises:
        BadRequest: a line is no published head, or the file is too large or can't be read.
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
            raise BadRequest(f"{path}, line {number}: not a published head, as --heads writes them: {error}") from None
    return heads


class HeadLog(Observer):
    """A file of published heads: one line for each event of a match or a tournament, flushed at once.

    Args:
        path: the file; new lines are appended.

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = append_heads(path)
        self._tournament = ""

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Write the head of the match's record.

        Raises:
            OSError: the line can't be written.
        """
        self._publish(transition.setup.match, transition.line, transition.hash)

    def on_tournament_founded(self, spec: TournamentSpec, salt: str, key: str) -> None:
        """Remember the name of the tournament, which its transitions do not repeat."""
        self._tournament = spec.name

    def on_tournament_advanced(self, transition: TakenTransition) -> None:
        """Write the head of the tournament's record, except for old transitions of a resumed tournament.

        Raises:
            OSError: the line can't be written.
        """
        if not transition.is_recalled:
            self._publish(self._tournament, transition.line, transition.hash)

    def _publish(self, record: str, line: int, head: str) -> None:
        published = PublishedHead(at=wall_clock(), record=record, line=line, head=head)
        self._file.write(msgspec.json.encode(published) + b"\n")
        self._file.flush()
