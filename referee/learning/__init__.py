"""Games as arrays and numbers, for programs that learn (see `base`). This needs the referee's extra `learning`."""

from collections.abc import Mapping
from typing import Any

from ..errors import BadRequest
from ..games.arguments import describe, read_options, read_whole
from ..games.base import seats_text
from ..plugins import find_game

try:
    from .base import Encoding, Part
    from .policy import Policy, chooser
    from .q import QEncoding
    from .quadominos import QuadOminosEncoding
    from .quincala import QuincalaEncoding
    from .quincy import QuincyEncoding
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing}; install the extra, in a checkout of the referee: pip install '.[learning]'", name=missing.name
    ) from None

__all__ = ["ENCODINGS", "Encoding", "Part", "Policy", "chooser", "encoding_of"]

ENCODINGS: dict[str, type[Encoding]] = {
    kind.game: kind for kind in (QEncoding, QuincyEncoding, QuincalaEncoding, QuadOminosEncoding)
}
"""Encodings by name of the game."""


def encoding_of(game: str, seats: int | None = None, options: Mapping[str, Any] | None = None) -> Encoding:
    """Return the encoding of a game: how its positions and moves become arrays and numbers.

    Args:
        game: name of the game.
        seats: number of players; None: the fewest that the game takes.
        options: the game's options as plain data; a missing option takes its default.

    Raises:
        BadRequest: the game has no encoding, or can't be played like this.

    >>> encoding = encoding_of("quincy")
    >>> encoding.length, encoding.actions
    (438, 604)
    """
    if not isinstance(game, str) or game not in ENCODINGS:
        raise BadRequest(f"the game {describe(game)} has no encoding as arrays; these have: {', '.join(ENCODINGS)}")
    rules = find_game(game)
    count = rules.seats[0] if seats is None else read_whole("seats", seats)
    if count not in rules.seats:
        raise BadRequest(f"{game} is for {seats_text(rules.seats)} players, not {count}")
    return ENCODINGS[game](rules, rules.parse_options(read_options(options)), count)
