"""What an installation has: games with their rules, house players, pairing formats."""

from typing import Any

import msgspec

from ..games.base import Game
from ..pairing.base import PairingFormat
from ..plugins import Registry


def everything(known: Registry) -> dict[str, Any]:
    """Return all that an installation has, plain: `games`, `house_players` and `formats`."""
    players = known.players.values()
    return {
        "games": [described(game) for game in known.games.values()],
        "house_players": [{name: getattr(player, name) for name in ("name", "games", "summary")} for player in players],
        "formats": [outlined(form) for form in known.formats.values()],
    }


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
