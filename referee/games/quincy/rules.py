"""The rules of Quincy as verdicts name them: id, one sentence, source."""

from ..base import Rule

_SEED = "Quincy (M. Whitley)"
_OBJECT = f"{_SEED}, Object of the Game"
_MECHANICS = f"{_SEED}, Game Mechanics"
_TURN = f"{_SEED}, What you do when it's your turn"
_EDGES = f"{_SEED}, Edge Cases"
_FOUR = f"{_SEED}, Adapting for Four Players"

_ROWS = (
    ("quincy.play.owned", "Only a domino of the player's own hand may be played or discarded.", f"{_TURN}, 1"),
    (
        "quincy.add.named",
        "A domino without a blank adds a stone where one end names the row and the other the column, either way round.",
        f"{_MECHANICS}, Examples 1 and 2 and Doubles",
    ),
    (
        "quincy.add.wild",
        "A domino with a blank adds a stone in the row or the column of its other end, the double blank anywhere.",
        f"{_MECHANICS}, Blanks and The Double Blank",
    ),
    ("quincy.add.empty", "A stone is added on an empty square.", f"{_MECHANICS}, Blanks; stones are never exchanged"),
    ("quincy.remove.blank", "Only a domino with a blank removes a stone.", f"{_TURN}, 2"),
    (
        "quincy.remove.wild",
        "A stone is removed from the row or the column of the domino's other end, with the double blank from anywhere.",
        f"{_MECHANICS}, Blanks and The Double Blank",
    ),
    ("quincy.remove.opponent", "Only a stone of the opponents is removed.", f"{_MECHANICS}, Blanks"),
    (
        "quincy.remove.unbreakable",
        "A stone of a line is never removed, however long the line has become.",
        f"{_MECHANICS}, Caveat to removing stones; {_EDGES}, Lengthening an unbreakable line",
    ),
    (
        "quincy.discard.unplayable",
        "Only a domino that can add no stone and remove none may be discarded.",
        f"{_EDGES}, Unplayable domino",
    ),
    (
        "quincy.end.lines",
        "A team wins when its turn ends with two lines of its stones: straight runs of 4 or more, apart or crossing.",
        f"{_OBJECT}; {_EDGES}, Winning in one move; a run of 8 or 9 is one line, and a winning play draws nothing",
    ),
    (
        "quincy.end.eliminated",
        "A team wins when no player of the other one is left.",
        f"{_FOUR}; the page knows no elimination: the partner plays on alone",
    ),
    (
        "quincy.end.wash",
        "Nobody wins when all dominoes are played or discarded, or nobody can play any more.",
        f"{_EDGES}, All dominoes exhausted",
    ),
)

RULES = {row[0]: Rule(*row) for row in _ROWS}
