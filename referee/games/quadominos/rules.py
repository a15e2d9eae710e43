"""The rules of Quad-Ominos as verdicts name them: id, one sentence, source.

The source is the article "Quad-Ominos" of Wikipedia as of 2010 on the game that Pressman published in 1978, which tells
Pressman's rules. Where it is silent or contradicts itself, "settled here" says what was decided.
"""

from ..base import Rule

_ARTICLE = "Wikipedia (2010), Quad-Ominos (Pressman, 1978)"
_TILES = f"{_ARTICLE}, The Tiles"
_PLAY = f"{_ARTICLE}, Gameplay"
_WIN = f"{_ARTICLE}, Winning"

_ROWS = (
    (
        "quadominos.tile.turned",
        "A tile lies in one of the four rotations of its printed numbers, never mirrored.",
        f"{_TILES}; settled here: every tile is printed ascending clockwise",
    ),
    (
        "quadominos.deal.hand",
        "Each player is dealt 30, 20, 15 or 12 tiles if they are 2, 3, 4 or 5, and 10 if they are 6 or more.",
        f"{_PLAY}, list; settled here: as many players as are in the game when the round begins",
    ),
    (
        "quadominos.open.highest",
        "The holder of the highest quad, or without a quad of the highest total, opens the round with that tile.",
        f"{_PLAY}, second paragraph; settled here: of equal totals, the greater number of four digits",
    ),
    (
        "quadominos.open.asked",
        "Who holds the highest quad is asked to open, even without a choice; a highest total is laid by the referee.",
        f"{_PLAY}, second paragraph; settled here: so that the question tells nobody who holds the quad-zero",
    ),
    (
        "quadominos.open.middle",
        "The first tile of a round lies on row 0, column 0.",
        f"{_PLAY}, second paragraph: the center of the table",
    ),
    (
        "quadominos.open.zero",
        "It may open with the quad-zero in place of a higher quad, for 25 points and up to two additional tiles.",
        f"{_PLAY}, second paragraph; settled here: both are earned also where the quad-zero is the only quad",
    ),
    (
        "quadominos.turn.lay",
        "Who can lay a tile lays one: a turn is given up only after an opening quad-zero, for its additional tiles.",
        f"{_PLAY}, third and last paragraph",
    ),
    (
        "quadominos.lay.owned",
        "Only a tile of the player's own hand may be laid.",
        f"{_PLAY}, first paragraph after the list",
    ),
    ("quadominos.lay.free", "A tile goes on a free place.", f"{_PLAY}, third paragraph"),
    (
        "quadominos.lay.side",
        "At least one whole side of a tile touches a side of a tile on the table.",
        f"{_PLAY}, third paragraph",
    ),
    (
        "quadominos.lay.match",
        "Each corner that meets corners on the table, those of diagonal neighbours included, shows their number.",
        f"{_PLAY}, third paragraph",
    ),
    ("quadominos.score.total", "A tile scores the sum of its four numbers.", f"{_PLAY}, third paragraph"),
    (
        "quadominos.bonus.choice",
        "Another opening quad, or a tile that meets others at 3 or 4 corners, earns 25 points or two additional tiles.",
        f"{_PLAY}, second and fourth paragraph",
    ),
    (
        "quadominos.bonus.two",
        "Additional tiles are two: a first may be laid only if a second can follow, and then it must follow.",
        f"{_PLAY}, fourth paragraph",
    ),
    (
        "quadominos.bonus.chain",
        "An additional tile earns no bonus of its own, unless the option chain_bonus says so.",
        f"{_PLAY}, fourth paragraph; settled here, as the instructions do not say; chosen once both tiles are laid",
    ),
    (
        "quadominos.draw.until",
        "Who can't lay a tile draws until one can be laid, and loses 20 points for each; the referee does it.",
        f"{_PLAY}, last paragraph",
    ),
    (
        "quadominos.draw.skip",
        "Who can't lay a tile while the well is empty loses 20 points once, and the turn passes.",
        f"{_PLAY}, last paragraph; settled here: also right after the last tile of the well was drawn in vain",
    ),
    (
        "quadominos.round.out",
        "Who lays its last tile ends the round, and scores the total of all tiles left in the other hands.",
        _WIN,
    ),
    (
        "quadominos.round.blocked",
        "A round ends, and nobody collects, once every player in turn was skipped.",
        f"{_WIN}; settled here, as the article does not say",
    ),
    (
        "quadominos.end.target",
        "The game ends after a round that leaves a player with the target or more; the highest score wins.",
        f"{_WIN}; settled here: it is looked at after a round, and equal scores share the rank",
    ),
    (
        "quadominos.end.rounds",
        "With the option rounds, the game ends after so many rounds.",
        f"{_WIN}; settled here: an option of this program",
    ),
    (
        "quadominos.end.cap",
        "Without reaching the target, the game ends after max_rounds rounds.",
        f"{_WIN}; settled here, as penalties may keep everybody from the target for ever",
    ),
    (
        "quadominos.end.last",
        "The game ends when fewer than two players are left.",
        f"{_WIN}; settled here: an eliminated player keeps no score, and its tiles go to the well's end",
    ),
)

RULES = {row[0]: Rule(*row) for row in _ROWS}
