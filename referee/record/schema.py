"""Structs that describe the lines of a record, and the functions that encode, parse and hash a line.

A line holds the SHA-256 of a view's msgpack bytes instead of the view. This keeps records small, and an audit derives
the view again.
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

# A line has a canonical form: its keys have a fixed order, numbers are written in one way, and optional keys that are
# null are left out. Other bytes with the same meaning are refused. JSON would allow them, but a hash covers bytes, so
# two verifiers that normalise differently would disagree. And if a key occurs twice, one reader would see the first
# value and another reader the second.

FORMAT = 1
"""Version of the format. It is increased whenever an old reader would misread or refuse a new record."""
FIRST_PREV = "0" * 64
"""`prev` of the first line, which has no line before it."""

Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
Hex64 = Annotated[str, Meta(pattern=r"^[0-9a-f]{128}$(?!\n)")]


class Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of all lines."""

    n: int
    """Number of the line, from 0."""
    prev: str
    """Hash of the previous line: SHA-256 of its core, without the line feed, in hex."""


class Header(Line, frozen=True, kw_only=True, tag="header", omit_defaults=True):
    """First line: the settings that are fixed before the match."""

    format: int
    referee: str
    """Version of the referee that wrote the record."""
    opened: str
    """Wall-clock time, ISO 8601 in UTC, for human readers; nothing is derived from it."""
    key: Hex32
    """Public key for the signature in the seal (Ed25519)."""
    setup: MatchSetup
    locked_seed: str
    """The encrypted seed. Only the owner of the private key can decrypt it, to resume the match."""
    seed: Hex32 | None
    """The seed in hex if it was fixed beforehand (`--seed`); null otherwise, since only the result reveals it then."""
    programs: list[str] | None
    """Program of each seat as the organiser named it; null if the referee did not start the programs."""
    folder: str | None = None
    """Folder that the paths of the programs are relative to."""
    context: MatchContext | None = None
    """Place of the match in its tournament; None if it belongs to no tournament."""
    dialect: str | None = None
    """Name of the wire protocol of the players; None for the referee's own protocol."""
    durability: Literal["turn"] | None = None
    """`turn` if no command was carried out before its line was on the disk."""
    rules_version: str = ""
    """Name and version of the package that contains the game's rules; empty if the game is built in."""


class Transition(Line, frozen=True, kw_only=True, tag="step", omit_defaults=True, dict=True):
    """A transition of the match: one event and the commands that followed from it."""

    event: AnyEvent
    standstills: tuple[Standstill, ...] = ()
    """Standstills of the referee before the event, except those that an earlier line reports in full."""
    told: Raw = field(name="commands")
    """Commands as JSON. They are decoded only when they are needed."""

    @cached_property
    def commands(self) -> list[dict[str, Any]]:
        """The commands as plain objects."""
        commands: list[dict[str, Any]] = msgspec.json.decode(self.told)
        return commands

    @cached_property
    def forms(self) -> "list[CommandForm]":
        """The few fields of the commands that are read before an audit has derived the commands itself.

        Raises:
            BadLine: an element is no command.
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
    """Fields of a foul that are read before an audit has confirmed the command."""

    seat: int


class ResultForm(Struct, frozen=True):
    """Fields of a result that are read before an audit has confirmed the command."""

    fouls: list[FoulForm]
    void: str | None = None


class CommandForm(Struct, frozen=True):
    """Fields of a command that are read before an audit has confirmed the command."""

    command: str
    seat: Annotated[int, Meta(ge=0)] | None = None
    limit_ms: float | None = None
    bank_ms: float | None = None
    goes_on: bool = False
    foul: dict[str, Any] | None = None
    result: ResultForm | None = None

    def check(self) -> None:
        """Check that the command has the fields that its kind requires, and a seat if it has a limit.

        Raises:
            BadLine: a field is missing.
        """
        if self.seat is None and (self.limit_ms is not None or self.command in ("expel-seat", "extend-limit")):
            raise BadLine(f"commands: {self.command[:40]} without a seat")
        if (self.command == "expel-seat" and not isinstance((self.foul or {}).get("cause"), str)) or (
            self.command == "close-match" and self.result is None
        ):
            raise BadLine(f"commands: {self.command} without its foul or result")


class ResultLine(Line, frozen=True, kw_only=True, tag="result"):
    """Last line but one: the result, and the secrets of the match, which are revealed now."""

    result: Result
    seed: Hex32
    nonces: list[str | None]


class SealLine(Line, frozen=True, kw_only=True, tag="seal"):
    """Last line: the referee's signature over `prev`, and so over all lines before it."""

    signature: Hex64


OTHER_FORM = "keys in another order, a number in another form, or a null key that should be left out"
"""Description of a line that is not in the canonical form."""
TOURNAMENT = "tournament"
"""Kind of the first line of a tournament's record."""
_HEADERS = ("header", TOURNAMENT)
"""Kinds of first lines, for records of matches and of tournaments."""
AnyLine = Header | Transition | ResultLine | SealLine
_STAND_INS: dict[str, Any] = {"seed": "0" * 64, "programs": [], "folder": ""}
"""Placeholders for hidden fields of a header."""
_TELLING = ("expel-seat", "extend-limit", "close-match")
"""Commands with required fields. They are rare, so checking only these keeps reading fast."""

_encoder = msgspec.json.Encoder()
_lines = msgspec.json.Decoder(AnyLine)
_forms = msgspec.json.Decoder(list[CommandForm])
_sized = msgspec.msgpack.Encoder()
"""Encoder that refuses integers of more than 64 bits."""


class BadLine(Exception):
    """Bytes are not a line of a record; the text says why."""


def encode_line(core: dict[str, Any], opened: dict[str, list[Any]]) -> tuple[bytes, str]:
    """Encode a line, without the line feed.

    Args:
        core: fields of the line. Hidden fields are replaced by their hashes.
        opened: the hidden values, as `hide` returns them.

    Returns:
        The bytes of the line, and its hash.
    """
    data = _encoder.encode(core)
    return with_open(data, _encoder.encode(opened)[1:-1]), line_hash(data)


def linked_core(n: int, prev: str, fields: bytes) -> bytes:
    """Make the core of a line, with its number and its link to the previous line.

    Args:
        n: number of the line.
        prev: hash of the previous line.
        fields: the other keys and values, as JSON without braces. Hidden fields are replaced by their hashes.
    """
    return b'{"n":%d,"prev":"%s",%s}' % (n, prev.encode(), fields)


def with_open(core: bytes, opened: bytes) -> bytes:
    """Join the core and the `open` part of a line, without its line feed.

    Args:
        core: core of the line.
        opened: the hidden values by path, as JSON without braces.
    """
    return b'%s,"%s":{%s}}' % (core[:-1], OPEN.encode(), opened) if opened else core


def encode_plain(value: Any) -> bytes:
    """Encode a plain value in the form that lines have."""
    return _encoder.encode(value)


class PlainLine(NamedTuple):
    """A line as it was read, not yet converted into a struct."""

    fields: dict[str, Any]
    """All fields. A hidden field has its value if the line reveals it, and its hash otherwise."""
    hash: str
    """SHA-256 of the line's core, in hex."""
    opened: tuple[str, ...]
    """Paths of the hidden fields whose values the line reveals."""
    shown: dict[str, Any]
    """Views that a redacted record adds: path of a view's digest -> view."""
    hidden_count: int
    """Number of hidden fields in the line's core, whether or not the line reveals their values."""

    @property
    def is_redacted(self) -> bool:
        """True if the line does not reveal the values of all its hidden fields."""
        return self.hidden_count > len(self.opened)


def read_line(data: bytes) -> PlainLine:
    """Decode a line from its bytes, without the line feed.

    Raises:
        BadLine: the bytes are no JSON object in canonical form, or a header of another format, or a value does not
            match its hash.
    """
    try:
        line = msgspec.json.decode(data)
        if not isinstance(line, dict):
            raise BadLine("no JSON object")
        _check_format(line)
        # All values come from players or go to players, so they must fit into msgpack: no integer over 64 bits.
        _sized.encode(line)
        opened = line.pop(OPEN, {})
        core = _encoder.encode(line)
        if not isinstance(opened, dict) or data != with_open(core, _encoder.encode(opened)[1:-1]):
            raise BadLine("a line that is not in the canonical form")
        shown = reveal(line, opened) if opened else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError, OverflowError, BadRedaction) as error:
        raise BadLine(str(error) or type(error).__name__) from None
    return PlainLine(line, line_hash(core), tuple(opened), shown, core.count(HASH_PREFIX))


def _check_format(line: dict[str, Any]) -> None:
    """Raise BadLine for a header of another format. This comes first, because its other fields may mean anything."""
    form = line.get("format", FORMAT)
    if line.get("kind") in _HEADERS and (form != FORMAT or type(form) is not int):
        raise BadLine(
            f"the header of a record of format {show_json(form, 40)}; this referee reads only format {FORMAT}"
        )


def parse_line(line: PlainLine) -> AnyLine:
    """Convert a plain line into one of the structs above.

    Commands are checked only in part: an audit compares them later with those that it derives.

    Raises:
        BadLine: the line is malformed, a value is missing since it is hidden, or a field that must be hidden is not.
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
        raise BadLine("fields that are not hidden though they must be, or that are in another order")
    return parsed


def check_form(fields: dict[str, Any], line: AnyLine) -> None:
    """Check that a line is in the canonical form.

    Commands are checked only in part: an audit compares them later with those that it derives.

    Args:
        fields: fields of the line as plain values.
        line: the struct that they were converted into.

    Raises:
        BadLine: keys are in another order, numbers in another form, a default is written out, or a command is
            malformed.
    """
    if isinstance(line, Transition):
        _ = line.forms  # this property raises BadLine for a malformed command
    if not has_form(fields, line):
        raise BadLine(OTHER_FORM)


def has_form(fields: dict[str, Any], line: Line) -> bool:
    """Return whether a line of any record has its keys in the right order, and its numbers in the right form.

    Args:
        fields: fields of the line as plain values.
        line: the struct that they were converted into.
    """
    tagged = {"kind": fields.get("kind"), **fields}  # a struct has its tag first
    return [*fields][:3] == ["n", "prev", "kind"] and _encoder.encode(line) == _encoder.encode(tagged)


def parse_header(line: PlainLine) -> Header:
    """Convert the first line of a record, whole or redacted, into a header. Hidden fields become None.

    Raises:
        BadLine: the line is no header.
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
    """Encode commands in the form that they have in a line that hides nothing."""
    return _encoder.encode([_with_digest(command) for command in commands])


def _with_digest(command: Command) -> Command:
    """Return a command with its view's digest in place of the view."""
    view: Raw | None = getattr(command, "view", None)
    return command if view is None else replace(command, view=hashlib.sha256(view).hexdigest())
