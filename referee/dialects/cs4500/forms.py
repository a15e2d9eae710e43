"""Converts the course's JSON to the plain views, moves, tiles and positions of the Q game, and back.

Source: The course CS4500 of Fall 2023, data definitions of milestones 3 to 10.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

SHAPES = ("star", "8star", "square", "circle", "clover", "diamond")
COLORS = ("red", "green", "blue", "yellow", "orange", "purple")

Index = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A row or a column, within the range of the game."""
Natural = Annotated[int, Meta(ge=0, le=2**53)]


class MalformedValue(ValueError):
    """Raised for a value of the wrong form; the text says where it is wrong."""


class JTile(Struct, frozen=True, forbid_unknown_fields=True):
    """A tile."""

    color: Literal["red", "green", "blue", "yellow", "orange", "purple"]
    shape: Literal["star", "8star", "square", "circle", "clover", "diamond"]

    @property
    def tile_name(self) -> str:
        """The tile's name in the game."""
        return f"{self.color}-{self.shape}"


class JCoordinate(Struct, frozen=True, forbid_unknown_fields=True):
    """A cell of the map."""

    row: Index
    column: Index


class JPlacement(Struct, frozen=True, forbid_unknown_fields=True):
    """One tile on one cell; the course's 1Placement."""

    coordinate: JCoordinate
    tile: JTile = msgspec.field(name="1tile")


JChoice = Literal["pass", "replace"] | list[JPlacement]
"""A player's answer in its turn."""


class JPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A player, with all that itself and the referee know about it."""

    score: Natural
    hand: list[JTile] = msgspec.field(name="tile*")
    name: str = ""


class JPub(Struct, frozen=True, forbid_unknown_fields=True):
    """A player's view. The player itself is the first of the players; it sees only the scores of the others."""

    map: list[Any]
    tiles_left: Natural = msgspec.field(name="tile*")
    players: Annotated[list[Any], Meta(min_length=1, max_length=12)]


class JState(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole game: the pile with its front first, the players in turn order, the first of them to move."""

    map: list[Any]
    pile: list[JTile] = msgspec.field(name="tile*")
    players: Annotated[list[JPlayer], Meta(min_length=1, max_length=4)]


class QView(Struct, frozen=True):
    """A view of the Q game, as it comes in the messages of a match."""

    hand: list[str]
    scores: list[int]
    order: list[int]
    tiles_left: int
    map: list[tuple[int, int, str]]


_Row = Annotated[list[Any], Meta(min_length=1)]
_TILES = {f"{color}-{shape}": {"color": color, "shape": shape} for shape in SHAPES for color in COLORS}


def convert(value: Any, form: Any) -> Any:
    """Convert a plain value into one of the forms above.

    Raises:
        MalformedValue: it does not have that form.
    """
    try:
        return msgspec.convert(value, form, strict=True)
    except msgspec.ValidationError as error:
        raise MalformedValue(str(error)) from None


# --- what the referee sends


def jtiles(names: Sequence[str]) -> list[dict[str, str]]:
    """Return tiles as JTiles."""
    return [_TILES[name] for name in names]


def jpub(view: Any, seat: int, name: str) -> dict[str, Any]:
    """Return a view as a JPub.

    Args:
        view: a plain view of the Q game, or its msgpack bytes in a msgspec.Raw.
        seat: the seat whose view it is.
        name: the name of its player.
    """
    plain = _decode_view(view)
    me = {"score": plain.scores[seat], "name": name, "tile*": jtiles(plain.hand)}
    others = [plain.scores[other] for other in plain.order if other != seat]
    return {"map": jmap(plain.map), "tile*": plain.tiles_left, "players": [me, *others]}


def jhand(view: Any) -> list[dict[str, str]]:
    """Return the hand of a view as JTiles."""
    return jtiles(_decode_view(view).hand)


def _decode_view(view: Any) -> QView:
    # The view is a struct of the game, a plain dict from a record, or raw bytes on their way to a socket. One round
    # trip through msgpack makes all three the same, and costs little compared with the JSON that follows.
    return msgspec.msgpack.decode(msgspec.msgpack.encode(view), type=QView)


def jmap(laid: Sequence[tuple[int, int, str]]) -> list[Any]:
    """Return a JMap of tuples (row, column, tile): rows from the top, and cells from the left in each row."""
    rows: dict[int, list[Any]] = {}
    for row, column, tile in sorted(laid):
        rows.setdefault(row, [row]).append([column, _TILES[tile]])
    return list(rows.values())


def parse_choice(choice: Any) -> dict[str, Any]:
    """Parse a player's JChoice into a plain move of the game.

    Raises:
        MalformedValue: it is not a JChoice.
    """
    chosen = convert(choice, JChoice)
    if isinstance(chosen, list):
        tiles = [
            [placement.coordinate.row, placement.coordinate.column, placement.tile.tile_name] for placement in chosen
        ]
        return {"action": "place", "tiles": tiles}
    return {"action": "exchange" if chosen == "replace" else "pass"}


# --- what a player sends and receives


def make_choice(move: Mapping[str, Any]) -> Any:
    """Return a plain move of the game as a JChoice."""
    if move["action"] == "place":
        return [
            {"coordinate": {"row": row, "column": column}, "1tile": _TILES[tile]} for row, column, tile in move["tiles"]
        ]
    return "replace" if move["action"] == "exchange" else "pass"


def placements(rows: Any) -> list[list[Any]]:
    """Parse a JMap into lists [row, column, tile]; if a cell comes twice, its last tile counts.

    Raises:
        MalformedValue: it is not a JMap.
    """
    # The course's own programs build a map from the list, so that a later tile replaces an earlier one.
    tiles: dict[tuple[int, int], str] = {}
    for row in convert(rows, list[_Row]):
        index = convert(row[0], Index)
        for column, tile in convert(row[1:], list[tuple[Index, JTile]]):
            tiles[index, column] = tile.tile_name
    return [[row, column, tile] for (row, column), tile in tiles.items()]


def parse_view(public: Any) -> dict[str, Any]:
    """Parse a JPub into the plain view of a player on seat 0; the others follow in the order of the JPub.

    Raises:
        MalformedValue: it is not a JPub.
    """
    jpub_view = convert(public, JPub)
    me = convert(jpub_view.players[0], JPlayer)
    scores = [me.score, *convert(jpub_view.players[1:], list[Natural])]
    return {
        "seat": 0,
        "hand": [tile.tile_name for tile in me.hand],
        "scores": scores,
        "order": list(range(len(scores))),
        "tiles_left": jpub_view.tiles_left,
        "map": placements(jpub_view.map),
    }


def tile_names(tiles: Any) -> list[str]:
    """Return JTiles as tiles of the game.

    Raises:
        MalformedValue: the value is not a list of JTiles.
    """
    return [tile.tile_name for tile in convert(tiles, list[JTile])]


def parse_position(state: JState) -> dict[str, Any]:
    """Return a JState as a position of the game.

    Raises:
        MalformedValue: its map is not a JMap.
    """
    players = [{"score": player.score, "hand": [tile.tile_name for tile in player.hand]} for player in state.players]
    return {"map": placements(state.map), "pile": [tile.tile_name for tile in state.pile], "players": players}
