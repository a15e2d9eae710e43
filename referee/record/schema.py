"""Event and commands <-> a line of a record. Knows the shape of every line; refuses to know files.

A view stands in a line as the SHA-256 of its msgpack bytes: it can be derived again, and records stay small.
"""

import hashlib
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..match.commands import AskMove, Command, Result, StartSeat
from ..match.events import AnyEvent
from ..match.setup import MatchSetup

FORMAT = 1
"""Counts up whenever an old reader would misread a new record."""
FIRST_PREV = "0" * 64
"""What stands in place of the hash of the line before, in the first line."""


class Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of all lines."""

    n: int
    """Number of the line, from 0."""
    prev: str
    """SHA-256 of the line before, without its line feed, in hex."""


class Header(Line, frozen=True, kw_only=True, tag="header"):
    """First line: what was settled beforehand."""

    format: int
    referee: str
    """Version of the program that wrote the record."""
    opened: str
    """Wall-clock time, ISO 8601 in UTC; for people, nothing is derived from it."""
    setup: MatchSetup
    seed: str | None
    """The seed in hex if it was fixed beforehand (`--seed`); else it stands in the result only."""


class Step(Line, frozen=True, kw_only=True, tag="step"):
    """One event and the commands it gave."""

    event: AnyEvent
    commands: list[dict[str, Any]]


class ResultLine(Line, frozen=True, kw_only=True, tag="result"):
    """Last line: the result and what was hidden until then."""

    result: Result
    seed: str
    nonces: list[str | None]
    signature: str | None = None
    """Room for the seal of the record."""


AnyLine = Header | Step | ResultLine

_decoder = msgspec.json.Decoder(AnyLine, strict=True)
_encoder = msgspec.json.Encoder()


class BadLine(Exception):
    """A line that is none of a record; the text says why."""


def encode_line(fields: dict[str, Any]) -> bytes:
    """Turn a line's fields into its bytes, without the line feed."""
    return _encoder.encode(fields)


def decode_line(data: bytes) -> AnyLine:
    """Turn a line's bytes, without the line feed, into the line.

    Raises:
        BadLine: it is no JSON, or no line of this format.
    """
    try:
        line: AnyLine = _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadLine(str(error)) from None
    return line


def line_hash(data: bytes) -> str:
    """Return the SHA-256 of a line's bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def view_digest(view: Raw) -> str:
    """Return the SHA-256 of a view's msgpack bytes, in hex."""
    return hashlib.sha256(view).hexdigest()


class _DigestedTurn(Struct, frozen=True, tag_field="command", tag="ask-move"):
    """An AskMove as it stands in a line."""

    seat: int
    turn: int
    view: str
    limit_ms: float


class _DigestedStart(Struct, frozen=True, tag_field="command", tag="start-seat"):
    """A StartSeat as it stands in a line."""

    seat: int
    view: str
    ack: int | None
    limit_ms: float | None


def without_view(command: Command) -> Struct:
    """Replace a command's view by the SHA-256 of its bytes, in hex; other commands stay as they are."""
    if isinstance(command, AskMove):
        return _DigestedTurn(command.seat, command.turn, view_digest(command.view), command.limit_ms)
    if isinstance(command, StartSeat):
        return _DigestedStart(command.seat, view_digest(command.view), command.ack, command.limit_ms)
    return command


def plain_commands(commands: tuple[Command, ...]) -> Any:
    """Return commands as they stand in a line once it is read again."""
    return msgspec.json.decode(_encoder.encode([without_view(command) for command in commands]))
