"""What an installation has: games with their rules, house players, pairing formats."""

from typing import Any

import msgspec

from ..games.base import Game
from ..plugins import Registry, UnknownName
from ..text import nearest
from ..tournament.pairing.base import PairingFormat


def everything(known: Registry) -> dict[str, Any]:
    """Return all that an installation has, plain: `games`, `house_players` and `formats`."""
    players = known.players.values()
    return {
        "games": [described(game) for game in known.games.values()],
        "house_players": [{name: getattr(player, name) for name in ("name", "games", "summary")} for player in players],
        "formats": [outlined(form) for form in known.formats.values()],
    }


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


def described(game: Game[Any, Any, Any]) -> dict[str, Any]:
    """Return a game with its rules, plain."""
    rules = {rule.id: {"text": rule.text, "source": rule.source} for rule in game.rules.values()}
    return {**outlined(game), "rules": rules}


def outlined(plugin: Game[Any, Any, Any] | PairingFormat[Any]) -> dict[str, Any]:
    """Return what a game or a format is called, for how many it is, and its options with their defaults."""
    return {
        "name": plugin.name,
        "title": plugin.title,
        "seats": list(plugin.seats),
        "options": {field.name: field.default for field in msgspec.structs.fields(plugin.options_type)},
    }
