"""Messages in encodings that are right and unusual. Knows which; how they are made is the check's affair."""

from collections.abc import Callable

from protocol import Role
from referee.check.encodings import longest, reordered

from .tables import END, MATCH, OFFER, PLACE, START, TURN, Plain

OTHER_FORMS: tuple[tuple[str, Role, Plain, Callable[[bytes], bytes]], ...] = (
    ("offer in the longest forms of msgpack", Role.REFEREE, OFFER, longest),
    ("start in the longest forms of msgpack", Role.REFEREE, START, longest),
    ("turn in the longest forms of msgpack", Role.REFEREE, TURN, longest),
    ("end in the longest forms of msgpack", Role.REFEREE, END, longest),
    (
        "move in the longest forms of msgpack, with a negative number",
        Role.PLAYER,
        {"type": "move", "match": MATCH, "turn": 1, "move": {**PLACE, "tiles": [[-1, 0, "red-star"]]}},
        longest,
    ),
    ("turn with its keys the other way round", Role.REFEREE, TURN, reordered),
    ("end with its keys the other way round", Role.REFEREE, END, reordered),
)
"""Name, who sends it, the message, and what becomes of its shortest encoding."""
