"""The pages about records name everything that a record has."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from msgspec import Struct
from msgspec.structs import fields

from protocol.messages import TimeControl
from referee.match import commands
from referee.match.events import Answer, AnyEvent, MatchOpened, SeatEvent
from referee.match.fouls import Foul
from referee.match.setup import MatchSetup
from referee.record.schema import Header, Line, ResultLine, SealLine
from referee.record.tournament_record import TournamentHeader, TournamentTransition
from referee.tournament.commands import TournamentCommand
from referee.tournament.events import AnyTournamentEvent, TournamentEvent
from referee.tournament.match_context import FoulEntry, MatchContext, MatchEntry
from referee.tournament.rulings import Ruling
from tests.docs.manual import ROOT

LINES = (ROOT / "docs/reference/record-lines.md").read_text()
SENTENCES: dict[str, type[Struct]] = {
    "`setup` has": MatchSetup,
    "`time` has": TimeControl,
    "`context` has": MatchContext,
    "A foul has": Foul,
    "its fouls have": FoulEntry,
}
"""Beginning of a sentence on the page about lines -> the struct whose keys follow."""


def tagged(base: type[Struct]) -> Iterator[type[Struct]]:
    """Yield a struct and its descendants, except for mere base classes."""
    if base.__struct_config__.tag != base.__name__:
        yield base
    for kind in base.__subclasses__():
        yield from tagged(kind)


def tag_of(kind: type[Struct]) -> str:
    """Return the name of a struct in a record."""
    return str(kind.__struct_config__.tag)


def own_keys(kind: type[Struct], base: type[Struct]) -> list[str]:
    """Return the keys that a struct adds to those of its base."""
    shared = {field.encode_name for field in fields(base)}
    return [field.encode_name for field in fields(kind) if field.encode_name not in shared]


def keys_in(text: str) -> list[str]:
    """Return the words in backticks that can be keys; values such as those of an optional key can't."""
    return re.findall(r"`([a-z_]+)`", text)


def base_of(kind: Any) -> type[Struct]:
    """Return the struct whose keys a table does not repeat."""
    bases = (Answer, SeatEvent, TournamentEvent, TournamentCommand, Line, commands.SeatCommand, commands.Command)
    return next((base for base in bases if issubclass(kind, base)), MatchOpened)


KINDS = [
    *get_args(AnyEvent),
    *tagged(commands.Command),
    *(Header, ResultLine, SealLine, TournamentHeader, TournamentTransition),
    *get_args(AnyTournamentEvent),
    *tagged(TournamentCommand),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_row_has_every_key_in_the_order_of_writing(kind: type[Struct]) -> None:
    """A verifier that expects the tables' keys meets no others."""
    tag = re.escape(tag_of(kind))
    rows = re.findall(rf"^\| (?:`[a-z-]+`, )*`{tag}`(?:, `[a-z-]+`)* \|(.*)\|$", LINES, re.MULTILINE)
    expected = own_keys(kind, base_of(kind))
    assert expected in [[key for key in keys_in(row) if key in expected] for row in rows]


@pytest.mark.parametrize("begin", SENTENCES)
def test_a_sentence_has_every_key(begin: str) -> None:
    """The same holds for keys in sentences."""
    text = LINES[LINES.index(begin) + len(begin) :]
    keys = [field.encode_name for field in fields(SENTENCES[begin])]
    assert [key for key in keys if key not in keys_in(text[: text.index("\n\n")] if "\n\n" in text else text)] == []


def test_every_key_and_every_name_is_explained() -> None:
    """This holds for all keys of header, setup, result and fouls, and for each name of an event or command."""
    structs = (Header, MatchSetup, commands.Result, Foul, Ruling, MatchEntry)
    keys = {field.encode_name for kind in structs for field in fields(kind)}
    names = {tag_of(kind) for kind in (*get_args(AnyEvent), *tagged(commands.Command))}
    text = (ROOT / "logs/README.md").read_text()
    assert sorted(name for name in keys | names if f"`{name}`" not in text) == []
