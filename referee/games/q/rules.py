"""The rules of the Q game as verdicts name them: id, one sentence, source."""

from ..base import Rule

_SEED = "The Q Game (M. Felleisen)"
_TURN = f"{_SEED}, Playing a Turn"
_SCORING = f"{_SEED}, Scoring a Turn"
_END = f"{_SEED}, Ending a Game"

_ROWS = (
    ("q.exchange.pile", "All tiles may be exchanged only if the pile has at least as many.", f"{_TURN}, 2"),
    ("q.place.some", "A placement lays at least one tile.", f"{_TURN}, 3"),
    ("q.place.owned", "Only tiles in the player's own hand may be placed, each once.", f"{_SEED}, Setting up the Game"),
    ("q.place.line", "All tiles of a turn lie in the same row or in the same column.", f"{_TURN}, 3, last condition"),
    ("q.place.free", "A tile goes on a free spot.", f"{_TURN}, 3"),
    (
        "q.place.adjacent",
        "A tile shares a side with a tile of the map as extended by the earlier tiles of the turn.",
        f"{_TURN}, 3, first condition",
    ),
    (
        "q.fit.row",
        "A tile matches all its left and right neighbours in shape, or all of them in colour.",
        f"{_TURN}, 3, third condition; the second one is void on the official page",
    ),
    (
        "q.fit.column",
        "A tile matches all its upper and lower neighbours in shape, or all of them in colour.",
        f"{_TURN}, 3, third condition; the second one is void on the official page",
    ),
    ("q.score.tile", "Each tile placed scores one point.", _SCORING),
    (
        "q.score.run",
        "Each row or column of two or more tiles without a gap that holds a placed one scores its length, once.",
        _SCORING,
    ),
    (
        "q.score.q",
        "Each of these that is a Q, exactly six tiles of all six colours or of all six shapes, scores q_bonus.",
        _SCORING,
    ),
    ("q.score.finish", "To place all tiles of the hand scores finish_bonus.", _SCORING),
    ("q.end.finished", "The game ends when a player has placed all tiles of its hand.", f"{_END}, second condition"),
    (
        "q.end.idle-round",
        "The game ends after a round in which no player made a legal placement.",
        f"{_END}, first condition; illegal requests do not keep a round alive",
    ),
    ("q.end.deserted", "The game ends when no players are left.", f"{_END}, third condition"),
)

RULES = {row[0]: Rule(*row) for row in _ROWS}
