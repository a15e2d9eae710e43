"""Types of the views and moves of the built-in games, to annotate a player's function.

    from referee.typing import QuincyMove, QuincyView

    def first(view: QuincyView) -> QuincyMove:
        return referee.imagine("quincy", view).legal_moves()[0]

At run time, views and moves are dicts; these types only describe their keys. protocol/SPEC.md says what each key means.
"""

from typing import Any, Literal, TypedDict

PlacedTile = list[Any]
"""`[row, column, tile]`."""
Piece = Literal["w1", "w2", "w3", "w4", "w5", "b1", "b2", "b3", "b4", "b5"]
DotPieces = list[Any]
"""`[row, column, pieces]`, the pieces in a list."""


class QPass(TypedDict):
    """Pass: do nothing in this turn."""

    action: Literal["pass"]


class QExchange(TypedDict):
    """Exchange the whole hand."""

    action: Literal["exchange"]


class QPlace(TypedDict):
    """Place tiles of the hand, one after the other."""

    action: Literal["place"]
    tiles: list[PlacedTile]


QMove = QPass | QExchange | QPlace
"""A move of the Q game."""


class QView(TypedDict):
    """What a seat may know."""

    seat: int
    hand: list[str]
    scores: list[int]
    order: list[int]
    tiles_left: int
    map: list[PlacedTile]


class QuincyAdd(TypedDict):
    """Play a domino and add a stone."""

    action: Literal["add"]
    domino: list[int]
    square: list[int]


class QuincyRemove(TypedDict):
    """Play a domino with a blank and remove a stone of the opponents."""

    action: Literal["remove"]
    domino: list[int]
    square: list[int]


class QuincyDiscard(TypedDict):
    """Discard an unplayable domino, draw another, and be asked again in the same turn."""

    action: Literal["discard"]
    domino: list[int]


QuincyMove = QuincyAdd | QuincyRemove | QuincyDiscard
"""A move of Quincy."""


class QuincyStoneLine(TypedDict):
    """A line: 4 or more stones side by side, which nobody can remove any more. Two of them win."""

    stone: Literal["A", "B"]
    squares: list[list[int]]


class QuincyPublicEvent(TypedDict):
    """One thing that everybody saw happen."""

    seat: int
    action: Literal["add", "remove", "discard", "skip", "expelled"]
    dominoes: list[list[int]]
    square: list[int] | None


class QuincyView(TypedDict):
    """What a seat may know."""

    seat: int
    stone: Literal["A", "B"]
    hand: list[list[int]]
    drew: list[list[int]]
    same_turn: bool
    order: list[int]
    hand_sizes: list[int]
    pile: int
    board: list[str]
    lines: list[QuincyStoneLine]
    face_up: list[list[int]]
    since: list[QuincyPublicEvent]


class QuincalaPlace(TypedDict):
    """Place one piece of the hand."""

    action: Literal["place"]
    piece: Piece
    dot: list[int]


class QuincalaLeg(TypedDict):
    """Make one leg of the move."""

    action: Literal["leg"]
    start: list[int]
    end: list[int]


class QuincalaStop(TypedDict):
    """End the move, although a further leg is possible."""

    action: Literal["stop"]


QuincalaMove = QuincalaPlace | QuincalaLeg | QuincalaStop
"""A move of Quincala Mixing."""


class QuincalaView(TypedDict):
    """What a seat may know: everything."""

    seat: Literal[0, 1]
    sizes: int
    layout: list[str]
    board: list[DotPieces]
    hands: list[list[Piece]]
    scores: list[int]
    order: list[Literal[0, 1]]
    phase: Literal["place", "move", "continue", "over"]
    steps: int
    path: list[list[int]]
    placed: list[list[int]]
    immune: list[DotPieces]
    fresh: list[DotPieces]
    turns: int
    max_turns: int
    skipped: bool


class QuadOminosLay(TypedDict):
    """Lay one tile."""

    action: Literal["lay"]
    row: int
    column: int
    tile: str


class QuadOminosPoints(TypedDict):
    """Take 25 points as a bonus, and no additional tiles."""

    action: Literal["points"]


class QuadOminosDone(TypedDict):
    """Lay no more of the additional tiles of an opening quad-zero."""

    action: Literal["done"]


QuadOminosMove = QuadOminosLay | QuadOminosPoints | QuadOminosDone
"""A move of Quad-Ominos."""


class QuadOminosView(TypedDict):
    """What a seat may know."""

    seat: int
    hand: list[str]
    step: Literal["open", "lay", "bonus", "second", "extra"]
    additional: int
    bonuses: int
    board: list[PlacedTile]
    order: list[int]
    scores: list[int]
    hand_sizes: list[int]
    well: int
    round: int
    drawn: list[str]
    drew: list[int]
    skipped: list[int]
    lost: list[int]
    passes: int
