"""Structs that describe the lines of a record, and the functions that encode, parse and hash a line.

A line has the SHA-256 of a view's msgpack bytes in place of the view: it can be derived again, and records stay small.
"""

import hashlib
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta, Raw, Struct, field
from msgspec.structs import replace

from ..match.commands import Command, Result
from ..match.events import AnyEvent
from ..match.setup import MatchSetup
from ..match.timekeeper import Standstill
from ..text import show_json
from ..tournament.match_context import MatchContext
from .hidden_fields import HASH_PREFIX, HEADER_HIDES, OPEN, BadRedaction, hidden_fields, reveal

# A line has one form only. Its keys come in a fixed order, numbers are written in one way, and optional null keys are
# left out. Other bytes with the same meaning are refused. JSON allows much more, and that would matter. A hash is over
# bytes, so two verifiers that normalise differently would disagree. And of a key that stands twice, one reader would
# see the first value and another the second.

FORMAT = 1
"""Format that is written and read. It is raised whenever an old reader would misread or refuse a new record."""
FIRST_PREV = "0" * 64
"""`prev` of the first line, which has no line before it."""

Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Hex64 = Annotated[str, Meta(pattern=r"^[0-9a-f]{128}$(?!\n)")]


class Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of all lines."""

    n: int
    """Number of the line, from 0."""
    prev: str
    """Hash of the line before: SHA-256 of its core, without its line feed, in hex."""


class Header(Line, frozen=True, kw_only=True, tag="header", omit_defaults=True):
    """First line: what is settled before the match."""

    format: int
    referee: str
    """Version of the program that wrote the record."""
    opened: str
    """Wall-clock time, ISO 8601 in UTC, for people; nothing is derived from it."""
    key: Hex32
    """The Ed25519 public key that will seal the record."""
    setup: MatchSetup
    locked_seed: str
    """The seed, encrypted so that the referee alone can open it, to resume the match."""
    seed: Hex32 | None
    """The seed in hex if it was fixed beforehand (`--seed`); else it stands in the result only."""
    programs: list[str] | None
    """Program of each seat, as it was given, if the referee started them: enough to resume the match."""
    folder: str | None = None
    """The folder in which they were given."""
    context: MatchContext | None = None
    """Place of the match in its tournament; None if it is a match by itself."""
    dialect: str | None = None
    """Name of the wire protocol that its players speak; None: the referee's own."""
    durability: Literal["turn"] | None = None
    """`turn` if all that followed from a line waited until the disk had it."""
    rules_version: str = ""
    """Name and version of the package that has the game's rules; empty: the referee itself has them."""


class Transition(Line, frozen=True, kw_only=True, tag="step", omit_defaults=True, dict=True):
    """A transition of the match: one event and the commands that followed from it."""

    event: AnyEvent
    standstills: tuple[Standstill, ...] = ()
    """Standstills of the referee before the event that no earlier line reports in full."""
    told: Raw = field(name="commands")
    """Commands as JSON; most readers need only their form."""

    @cached_property
    def commands(self) -> list[dict[str, Any]]:
        """The commands as plain objects."""
        commands: list[dict[str, Any]] = msgspec.json.decode(self.told)
        return commands

    @cached_property
    def forms(self) -> "list[CommandForm]":
        """The fields of the commands that are read before the fold has confirmed them.

        Raises:
            BadLine: one of them is no command.
        """
        try:
            forms = _forms.decode(self.told)
        except msgspec.ValidationError as error:
            raise BadLine(f"commands: {error}") from None
        for form in forms:
            if form.command in _TELLING or (form.seat is None and form.limit_ms is not None):
                form.check()
        return forms


class FoulForm(Struct, frozen=True):
    """Fields that are read of a foul in an unconfirmed command."""

    seat: int


class ResultForm(Struct, frozen=True):
    """Fields that are read of a result in an unconfirmed command."""

    fouls: list[FoulForm]
    void: str | None = None


class CommandForm(Struct, frozen=True):
    """Fields that are read of a command before the fold has confirmed it."""

    command: str
    seat: Annotated[int, Meta(ge=0)] | None = None
    limit_ms: float | None = None
    bank_ms: float | None = None
    goes_on: bool = False
    foul: dict[str, Any] | None = None
    result: ResultForm | None = None

    def check(self) -> None:
        """Check that the command has the fields that its kind, or a limit, requires.

        Raises:
            BadLine: a field is missing.
        """
        if self.seat is None and (self.limit_ms is not None or self.command in ("expel-seat", "extend-limit")):
            raise BadLine(f"commands: {self.command[:40]} without a seat")
        if (self.command == "expel-seat" and not isinstance((self.foul or {}).get("cause"), str)) or (
            self.command == "close-match" and self.result is None
        ):
            raise BadLine(f"commands: {self.command} without what it tells")


class ResultLine(Line, frozen=True, kw_only=True, tag="result"):
    """Last line but one: the result, and the secrets of the match."""

    result: Result
    seed: Hex32
    nonces: list[str | None]


class SealLine(Line, frozen=True, kw_only=True, tag="seal"):
    """Last line: the referee's signature over `prev`, and so over every line before."""

    signature: Hex64


OTHER_FORM = "keys in another order, a number in another form, or a key that is left out where it is null"
TOURNAMENT = "tournament"
"""Kind of the first line of a tournament's record."""
_HEADERS = ("header", TOURNAMENT)
"""Kinds of first lines: of the record of a match, and of a tournament."""
AnyLine = Header | Transition | ResultLine | SealLine
_STAND_INS: dict[str, Any] = {"seed": "0" * 64, "programs": [], "folder": ""}
"""Values that replace hidden fields of a header."""
_TELLING = ("expel-seat", "extend-limit", "close-match")
"""Commands with required fields. They are rare, so checking only these keeps reading fast."""

_encoder = msgspec.json.Encoder()
_lines = msgspec.json.Decoder(AnyLine)
_forms = msgspec.json.Decoder(list[CommandForm])
_sized = msgspec.msgpack.Encoder()
"""Encoder that refuses integers of more than 64 bits."""


class BadLine(Exception):
    """Bytes that are not a line of a record; the text says why."""


def encode_line(core: dict[str, Any], opened: dict[str, list[Any]]) -> tuple[bytes, str]:
    """Turn a line into its bytes, without the line feed.

    Args:
        core: its fields, the hidden ones replaced by their hashes.
        opened: what the hashes stand for.

    Returns:
        The bytes, and the line's hash.
    """
    data = _encoder.encode(core)
    return with_open(data, _encoder.encode(opened)[1:-1]), line_hash(data)


def linked_core(n: int, prev: str, fields: bytes) -> bytes:
    """Number the core of a line, and chain it to the line before.

    Args:
        n: its number.
        prev: hash of the line before.
        fields: its other keys and values, as JSON without braces; hidden ones are hashes.
    """
    return b'{"n":%d,"prev":"%s",%s}' % (n, prev.encode(), fields)


def with_open(core: bytes, opened: bytes) -> bytes:
    """Join the core and the `open` part of a line, without its line feed.

    Args:
        core: core of the line.
        opened: keys and values behind its hashes, as JSON without braces.
    """
    return b'%s,"%s":{%s}}' % (core[:-1], OPEN.encode(), opened) if opened else core


def encode_plain(value: Any) -> bytes:
    """Encode a plain value as it stands in a line."""
    return _encoder.encode(value)


class PlainLine(NamedTuple):
    """A line as it was read, not yet converted into a struct."""

    fields: dict[str, Any]
    """All fields; hidden ones are opened as far as the line allows."""
    hash: str
    """SHA-256 of the line's core, in hex."""
    opened: tuple[str, ...]
    """Paths of the fields that were hidden and could be opened."""
    shown: dict[str, Any]
    """Views of a redacted record, by the path of their digest."""
    hidden_count: int
    """Number of fields that the line's core hides, opened or not."""

    @property
    def is_redacted(self) -> bool:
        """Whether hidden fields could not be opened."""
        return self.hidden_count > len(self.opened)


def read_line(data: bytes) -> PlainLine:
    """Decode a line from its bytes, without the line feed.

    Raises:
        BadLine: the bytes are no JSON object in the one form of a line, begin a record of another format, or open a
            field to another value than its hash stands for.
    """
    try:
        line = msgspec.json.decode(data)
        if not isinstance(line, dict):
            raise BadLine("no JSON object")
        _check_format(line)
        # Everything in it comes from players or goes to them, and msgpack has no integers of over 64 bits.
        _sized.encode(line)
        opened = line.pop(OPEN, {})
        core = _encoder.encode(line)
        if not isinstance(opened, dict) or data != with_open(core, _encoder.encode(opened)[1:-1]):
            raise BadLine("not the one form of such a line")
        shown = reveal(line, opened) if opened else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError, OverflowError, BadRedaction) as error:
        raise BadLine(str(error) or type(error).__name__) from None
    return PlainLine(line, line_hash(core), tuple(opened), shown, core.count(HASH_PREFIX))


def _check_format(line: dict[str, Any]) -> None:
    """Refuse a header of another format at once: its other fields may mean anything."""
    form = line.get("format", FORMAT)
    if line.get("kind") in _HEADERS and (form != FORMAT or type(form) is not int):
        raise BadLine(
            f"the header of a record of format {show_json(form, 40)}; this referee reads format {FORMAT} alone"
        )


def parse_line(line: PlainLine) -> AnyLine:
    """Convert a plain line into one of the structs above; commands are checked only as far as they are read.

    Raises:
        BadLine: it is no line of a record, or a field in it is still hidden, or stands openly though it must be hidden.
    """
    fields = line.fields
    kind = fields.get("kind")
    if kind == TOURNAMENT:
        raise BadLine("the record of a tournament; its matches have their own, in the same folder")
    try:
        if line.is_redacted:
            raise BadLine("a hidden field: a redacted record can be checked against its seal only")
        parsed: AnyLine = _lines.decode(_encoder.encode(fields))
    except msgspec.ValidationError as error:
        raise BadLine(str(error)) from None
    except RecursionError:
        raise BadLine("no line: RecursionError") from None
    if line.shown:
        raise BadLine("a view: only a redacted record shows one")
    check_form(fields, parsed)
    if [*line.opened] != [place.path for place in hidden_fields(fields)]:
        raise BadLine("fields that the line's core must hold as hashes stand there openly, or in another order")
    return parsed


def check_form(fields: dict[str, Any], line: AnyLine) -> None:
    """Check that a line has its keys in their order, and its numbers in their form: a line has one form only.

    Commands are checked only as far as they are read before the fold confirms them.

    Args:
        fields: fields of the line, plain.
        line: the struct that they were converted into.

    Raises:
        BadLine: keys or numbers have another order or form, a default stands openly, or a command is malformed.
    """
    if isinstance(line, Transition):
        _ = line.forms  # an unknown command is refused there
    if not has_form(fields, line):
        raise BadLine(OTHER_FORM)


def has_form(fields: dict[str, Any], line: Line) -> bool:
    """Return whether a line of any record has its keys in their order, and its numbers in their form.

    Args:
        fields: fields of the line, plain.
        line: the struct that they were converted into.
    """
    tagged = {"kind": fields.get("kind"), **fields}  # a struct has its tag first
    return [*fields][:3] == ["n", "prev", "kind"] and _encoder.encode(line) == _encoder.encode(tagged)


def parse_header(line: PlainLine) -> Header:
    """Convert the first line of a record, whole or redacted, into a header; hidden fields become null.

    Raises:
        BadLine: it is no header.
    """
    hidden = {name: _STAND_INS[name] for name in HEADER_HIDES if isinstance(line.fields.get(name), dict)}
    try:
        fields = {**line.fields, **hidden}
        header = msgspec.convert(fields, Header, strict=True)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadLine(str(error) or type(error).__name__) from None
    check_form(fields, header)
    return replace(header, **dict.fromkeys(hidden))


def line_hash(core: bytes) -> str:
    """Return the SHA-256 of a line's core, in hex."""
    return hashlib.sha256(core).hexdigest()


def plain_json(commands: tuple[Command, ...]) -> bytes:
    """Encode commands as they stand in an opened line."""
    return _encoder.encode([_with_digest(command) for command in commands])


def _with_digest(command: Command) -> Command:
    """Return a command with its view's digest in place of the view."""
    view: Raw | None = getattr(command, "view", None)
    return command if view is None else replace(command, view=hashlib.sha256(view).hexdigest())
