"""The course's JSON <-> the plain views, moves, tiles and positions of the Q game.

Source: The course CS4500 of Fall 2023, data definitions of milestones 3 to 10.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

SHAPES = ("star", "8star", "square", "circle", "clover", "diamond")
COLORS = ("red", "green", "blue", "yellow", "orange", "purple")

Index = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A row or a column, as far as the game counts."""
Natural = Annotated[int, Meta(ge=0, le=2**53)]


class MalformedValue(ValueError):
    """A value that has not the form that it must have; the text says where."""


class JTile(Struct, frozen=True, forbid_unknown_fields=True):
    """A tile."""

    color: Literal["red", "green", "blue", "yellow", "orange", "purple"]
    shape: Literal["star", "8star", "square", "circle", "clover", "diamond"]

    @property
    def tile_name(self) -> str:
        """The tile's name in the game."""
        return f"{self.color}-{self.shape}"


class JCoordinate(Struct, frozen=True, forbid_unknown_fields=True):
    """A spot."""

    row: Index
    column: Index


class JPlacement(Struct, frozen=True, forbid_unknown_fields=True):
    """One tile on one spot; the course's 1Placement."""

    coordinate: JCoordinate
    tile: JTile = msgspec.field(name="1tile")


JChoice = Literal["pass", "replace"] | list[JPlacement]
"""What a player answers in its turn."""


class JPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """A player, as itself and the referee know it."""

    score: Natural
    hand: list[JTile] = msgspec.field(name="tile*")
    name: str = ""


class JPub(Struct, frozen=True, forbid_unknown_fields=True):
    """What a player may know: the first of the players is the addressed one, of the others it is told the score."""

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


def converted(value: Any, form: Any) -> Any:
    """Return a plain value as one of the forms above.

    Raises:
        MalformedValue: it is none.
    """
    try:
        return msgspec.convert(value, form, strict=True)
    except msgspec.ValidationError as error:
        raise MalformedValue(str(error)) from None


# --- what the referee says


def jtiles(names: Sequence[str]) -> list[dict[str, str]]:
    """Return tiles as JTiles."""
    return [_TILES[name] for name in names]


def jpub(view: Any, seat: int, name: str) -> dict[str, Any]:
    """Return a view as a JPub.

    Args:
        view: a plain view of the Q game, or its msgpack bytes in a msgspec.Raw.
        seat: whose view it is.
        name: what its player is called.
    """
    seen = _seen(view)
    me = {"score": seen.scores[seat], "name": name, "tile*": jtiles(seen.hand)}
    others = [seen.scores[other] for other in seen.order if other != seat]
    return {"map": jmap(seen.map), "tile*": seen.tiles_left, "players": [me, *others]}


def hand_of(view: Any) -> list[dict[str, str]]:
    """Return the hand of a view as JTiles."""
    return jtiles(_seen(view).hand)


def _seen(view: Any) -> QView:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(view), type=QView)


def jmap(laid: Sequence[tuple[int, int, str]]) -> list[Any]:
    """Return (row, column, tile)s as a JMap: rows from the top, in each the cells from the left."""
    rows: dict[int, list[Any]] = {}
    for row, column, tile in sorted(laid):
        rows.setdefault(row, [row]).append([column, _TILES[tile]])
    return list(rows.values())


def move_of(choice: Any) -> dict[str, Any]:
    """Return a player's JChoice as a plain move of the game.

    Raises:
        MalformedValue: it is no JChoice.
    """
    chosen = converted(choice, JChoice)
    if isinstance(chosen, list):
        tiles = [
            [placement.coordinate.row, placement.coordinate.column, placement.tile.tile_name] for placement in chosen
        ]
        return {"action": "place", "tiles": tiles}
    return {"action": "exchange" if chosen == "replace" else "pass"}


# --- what a player says and hears


def choice_of(move: Mapping[str, Any]) -> Any:
    """Return a plain move of the game as a JChoice."""
    if move["action"] == "place":
        return [
            {"coordinate": {"row": row, "column": column}, "1tile": _TILES[tile]} for row, column, tile in move["tiles"]
        ]
    return "replace" if move["action"] == "exchange" else "pass"


def placements(rows: Any) -> list[list[Any]]:
    """Return a JMap as [row, column, tile]s; where a spot is named twice, its last tile counts.

    Raises:
        MalformedValue: it is no JMap.
    """
    tiles: dict[tuple[int, int], str] = {}
    for row in converted(rows, list[_Row]):
        index = converted(row[0], Index)
        for column, tile in converted(row[1:], list[tuple[Index, JTile]]):
            tiles[index, column] = tile.tile_name
    return [[row, column, tile] for (row, column), tile in tiles.items()]


def view_of(public: Any) -> dict[str, Any]:
    """Return a JPub as the plain view of a player on seat 0, the others sitting behind it in the order told.

    Raises:
        MalformedValue: it is no JPub.
    """
    seen = converted(public, JPub)
    me = converted(seen.players[0], JPlayer)
    scores = [me.score, *converted(seen.players[1:], list[Natural])]
    return {
        "seat": 0,
        "hand": [tile.tile_name for tile in me.hand],
        "scores": scores,
        "order": list(range(len(scores))),
        "tiles_left": seen.tiles_left,
        "map": placements(seen.map),
    }


def tile_names(tiles: Any) -> list[str]:
    """Return JTiles as tiles of the game.

    Raises:
        MalformedValue: they are none.
    """
    return [tile.tile_name for tile in converted(tiles, list[JTile])]


def position_of(state: JState) -> dict[str, Any]:
    """Return a JState as a position of the game.

    Raises:
        MalformedValue: its map is none.
    """
    players = [{"score": player.score, "hand": [tile.tile_name for tile in player.hand]} for player in state.players]
    return {"map": placements(state.map), "pile": [tile.tile_name for tile in state.pile], "players": players}
