"""The page about records names everything that a record has."""

from typing import get_args

from msgspec import Struct
from msgspec.structs import fields

from referee.match import commands
from referee.match.events import AnyEvent
from referee.match.fouls import Foul
from referee.match.setup import MatchSetup
from referee.record.schema import Header
from tests.docs.manual import ROOT


def tags(base: type[Struct]) -> set[str]:
    """Return how a struct and its descendants are called in a record, but for those that only others build on."""
    own = str(base.__struct_config__.tag)
    return ({own} if own != base.__name__ else set()).union(*(tags(kind) for kind in base.__subclasses__()))


def test_every_key_and_every_name_is_there() -> None:
    """Header, setup, result and fouls with all their keys; every event and every command by its name."""
    keys = {field.encode_name for kind in (Header, MatchSetup, commands.Result, Foul) for field in fields(kind)}
    names = {str(kind.__struct_config__.tag) for kind in get_args(AnyEvent)} | tags(commands.Command)
    text = (ROOT / "logs/README.md").read_text()
    assert sorted(name for name in keys | names if f"`{name}`" not in text) == []
