"""Messages in their usual encoding that need more of msgpack than tables.py: every game, and wide values.

Knows no game: the turns are the first ones of a fixed deal. What only an unusual encoding has is in other_forms.py.
"""

from protocol import Role
from referee import builtin
from referee.plugins import find_game

from .first_turns import first_turn
from .tables import EXPELLED, MATCH, PAUSED, TURN, VIEW, Plain

Example = tuple[str, Role, Plain]

_EDGES = (-1, -32, -33, -128, -129, -32768, -32769, -(2**31), 127, 128, 255, 256, 65535, 65536, 2**31 - 1)
"""The last integer of each of msgpack's forms, and the first of the next one."""


def _turn_of(name: str, title: str, match: str) -> tuple[Example, ...]:
    """Return what is said in the first turn of a game."""
    turn = first_turn(find_game(name))
    return (
        (f"turn of {title}", Role.REFEREE, {**TURN, "match": match, "view": turn.view}),
        (f"move of {title}", Role.PLAYER, {"type": "move", "match": match, "turn": 1, "move": turn.move}),
        (
            f"told of {title}",
            Role.REFEREE,
            {"type": "told", "match": match, "turn": 1, "what": turn.told, "draws": None, "ack": None},
        ),
    )


FURTHER_EXAMPLES: tuple[Example, ...] = (
    *(
        example
        for game in builtin.referee_games()
        if game.name != "q"
        for example in _turn_of(game.name, find_game(game.name).title, f"{game.name}-1")
    ),
    (
        "turn with tiles far away in every direction",
        Role.REFEREE,
        {**TURN, "view": {**VIEW, "map": [[number, -number - 1, "green-star"] for number in _EDGES]}},
    ),
    (
        "move: place above the first tile",
        Role.PLAYER,
        {"type": "move", "match": MATCH, "turn": 1, "move": {"action": "place", "tiles": [[-1, 0, "red-star"]]}},
    ),
    (
        "paused, with letters of two, three and four bytes",
        Role.REFEREE,
        {**PAUSED, "reason": "Größe, 再見, \U0001d11e"},
    ),
    (
        "expelled with evidence of more than 255 characters",
        Role.REFEREE,
        {**EXPELLED, "foul": "malformed-message", "rule": None, "code": "not-msgpack", "evidence": "c1" * 200},
    ),
)
"""Name, sender, and the message."""
