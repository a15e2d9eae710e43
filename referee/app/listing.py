"""What an installation has: games with their rules, house players, pairing formats."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, fields

from ..games.base import Game
from ..plugins import Registry, UnknownName
from ..text import nearest
from ..tournament.pairing.base import PairingFormat


class Outline(Struct, frozen=True, kw_only=True):
    """A game or a pairing format in short."""

    name: str
    title: str
    seats: Sequence[int]
    """Numbers of seats that it can be played with."""
    options: Mapping[str, Any]
    """Name of an option -> its default."""


class RuleText(Struct, frozen=True, kw_only=True):
    """A rule of a game."""

    text: str
    source: str
    """Where the rule comes from."""


class GameDescription(Outline, frozen=True, kw_only=True):
    """A game with its rules."""

    rules: Mapping[str, RuleText]
    """Id of a rule -> what it says."""


class HousePlayerLine(Struct, frozen=True, kw_only=True):
    """A house player."""

    name: str
    games: Sequence[str]
    """Names of the games that it plays."""
    summary: str


class Listing(Struct, frozen=True, kw_only=True):
    """All that an installation has."""

    version: Literal[1] = 1
    """Version of this object's form."""
    games: Sequence[GameDescription]
    house_players: Sequence[HousePlayerLine]
    formats: Sequence[Outline]
    """The pairing formats."""


def list_everything(known: Registry) -> Listing:
    """Return all that an installation has."""
    return Listing(
        games=[describe(game) for game in known.games.values()],
        house_players=[
            HousePlayerLine(name=player.name, games=player.games, summary=player.summary)
            for player in known.players.values()
        ],
        formats=[outline(form) for form in known.formats.values()],
    )


def find_topic(name: str, known: Registry) -> Game[Any, Any, Any] | PairingFormat[Any]:
    """Return the game or the format of a name.

    Raises:
        UnknownName: there is none; the text says which one was probably meant.
    """
    topics: dict[str, Game[Any, Any, Any] | PairingFormat[Any]] = {**known.games, **known.formats}
    if name in known.players:
        raise UnknownName(f"house:{name} is a house player; `referee list` tells how it plays")
    if name not in topics:
        raise UnknownName(f"there is no game or pairing format {name!r}{nearest(name, topics)}")
    return topics[name]


def describe(game: Game[Any, Any, Any]) -> GameDescription:
    """Return a game with its rules."""
    rules = {rule.id: RuleText(text=rule.text, source=rule.source) for rule in game.rules.values()}
    return GameDescription(**asdict(outline(game)), rules=rules)


def outline(plugin: Game[Any, Any, Any] | PairingFormat[Any]) -> Outline:
    """Return what a game or a format is called, for how many it is, and its options with their defaults."""
    return Outline(
        name=plugin.name,
        title=plugin.title,
        seats=list(plugin.seats),
        options={field.name: field.default for field in fields(plugin.options_type)},
    )
