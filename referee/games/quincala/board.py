"""The board of Quincala Mixing: pieces, towers, layouts, and how far a leg reaches.

Source: Short Rules for Quincala Game 1 - Quincala Mixing (02/06/2010). The figures of the source could not be found:
the layout that comes with the game, boards.toml, is a reconstruction. An organiser can give another layout.
"""

# A piece is a number 0 to 9: White's sizes 1 to 5, then Black's. A tower is a set of pieces, stored as bits. A set is
# enough: a piece knocks off a piece of its own size, so no tower ever has two pieces of one size, and the pieces stand
# in the order of their sizes. A dot is a number, counted row by row from row 1, column 1. Places outside of the playing
# area have a number, too, but no ray.

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from ..base import Coordinate

COLOURS = ("white", "black")
"""Colours by seat."""
MAX_SIZES = 5
NAMES = tuple(f"{letter}{size}" for letter in "wb" for size in range(1, MAX_SIZES + 1))
"""Names by piece: `w` or `b` for the colour, then the size."""
PIECES = {name: piece for piece, name in enumerate(NAMES)}
OWN = (0b00000_11111, 0b11111_00000)
"""By seat, all pieces of its colour."""
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
"""(rows, columns) of one step."""

if TYPE_CHECKING:
    PieceName = str
else:
    PieceName = Literal[NAMES]
"""`w` for White or `b` for Black, and the size: `w1` to `w5`, `b1` to `b5`."""
Board = tuple[int, ...]
"""The tower on each dot, 0 where there is none."""
Marks = Mapping[int, int]
"""Dot -> some of the pieces on it, as bits."""
DotPair = tuple[Coordinate, Coordinate]
"""`[row, column]`; row 1 is at White's edge, column 1 on White's left."""


class StartTowers(Struct, frozen=True, forbid_unknown_fields=True):
    """Places of the towers at the start: with N sizes, each colour has N full towers."""

    white: tuple[DotPair, ...]
    """`[row, column]` of each of White's towers; both count from 1, row 1 at White's edge."""
    black: tuple[DotPair, ...]
    """`[row, column]` of each of Black's towers; both count from 1, row 1 at White's edge."""


class Layout(Struct, frozen=True, forbid_unknown_fields=True):
    """A board: the dots of the playing area, the placing areas, and the starting positions."""

    map: Annotated[tuple[Annotated[str, Meta(pattern="^[wbx. ]+$(?!\n)", max_length=26)], ...], Meta(max_length=26)]
    """A text for each row, row 1 at White's edge first. Each text has a character for each column, column 1 on White's
    left first. At most 26 rows and 26 columns. `w` is a dot of White's placing areas, `b` of Black's, `x` of both, `.`
    any other dot; a space means that there is no dot."""
    start: dict[Literal["3", "4", "5"], StartTowers]
    """Number of sizes, 3 to 5 -> places of the towers. The number of sizes that is played must be among them."""
    note: str = ""
    """Description of the layout, for people."""

    def __post_init__(self) -> None:
        """Refuse a layout on which no game can be played.

        Raises:
            ValueError: the rows differ in length, a player has no placing dot, or a starting position is impossible.
        """
        if len({len(row) for row in self.map}) != 1:
            raise ValueError("map: its rows are not of one length, or there are none")
        field = find_field(self.map)
        for color, area in zip(COLOURS, field.areas, strict=True):
            if not area:
                raise ValueError(f"map: {color} has no placing area")
        for sizes, start in self.start.items():
            _check_start(field, int(sizes), start)


class PreparedMap:
    """A map prepared for play; equal maps make equal fields.

    Args:
        rows: the map of a layout, its rows of one length.
    """

    def __init__(self, rows: tuple[str, ...]) -> None:
        self.rows = rows
        self.height = len(rows)
        self.width = len(rows[0])
        signs = "".join(rows)
        self.is_dot = tuple(sign != " " for sign in signs)
        """Flags by dot, true for a dot of the playing area."""
        self.places = tuple((row + 1, column + 1) for row in range(self.height) for column in range(self.width))
        """(row, column) by dot."""
        self.areas = tuple(
            tuple(dot for dot, sign in enumerate(signs) if sign in area_signs) for area_signs in ("wx", "bx")
        )
        """Dots of the placing areas, by seat."""
        self.rays = tuple(tuple(self._rays(dot)) for dot in range(len(signs)))
        """Rays by dot: for each direction with a dot on the board, the dots that a leg can reach, the nearest first."""

    def __eq__(self, other: object) -> bool:
        """Return whether the other object has the same map."""
        return isinstance(other, PreparedMap) and self.rows == other.rows

    def __hash__(self) -> int:
        """Return a hash of the map."""
        return hash(self.rows)

    def number(self, row: int, column: int) -> int:
        """Return the number of a dot; -1 if the playing area has no dot there."""
        if not (1 <= row <= self.height and 1 <= column <= self.width):
            return -1
        dot = (row - 1) * self.width + column - 1
        return dot if self.is_dot[dot] else -1

    def _rays(self, dot: int) -> Iterator[tuple[int, ...]]:
        """Yield the rays of one dot that are not empty."""
        row, column = self.places[dot]
        for down, right in DIRECTIONS:
            ray: list[int] = []
            for steps in range(1, MAX_SIZES + 1):
                end = self.number(row + steps * down, column + steps * right)
                if end < 0:
                    break
                ray.append(end)
            if ray and self.is_dot[dot]:
                yield tuple(ray)


@cache
def find_field(rows: tuple[str, ...]) -> PreparedMap:
    """Return a map prepared for play; each map is prepared only once."""
    return PreparedMap(rows)


def _check_start(field: PreparedMap, sizes: int, start: StartTowers) -> None:
    """Refuse a wrong number of towers, a tower outside of the playing area, or two towers on one dot."""
    for color, towers in zip(COLOURS, (start.white, start.black), strict=True):
        if len(towers) != sizes:
            raise ValueError(f"start.{sizes}: {color} has {len(towers)} towers, not {sizes}")
    towers = start.white + start.black
    for row, column in towers:
        if field.number(row, column) < 0:
            raise ValueError(f"start.{sizes}: row {row}, column {column} is no dot of the map")
    if len(set(towers)) != len(towers):
        raise ValueError(f"start.{sizes}: two towers stand on one dot")


def bits(pieces: Sequence[int]) -> int:
    """Return the tower that some pieces make, as bits."""
    tower = 0
    for piece in pieces:
        tower |= 1 << piece
    return tower


def names(tower: int) -> tuple[str, ...]:
    """Return the names of a tower's pieces, smallest first."""
    return _NAMES_OF[tower]


def pieces(tower: int) -> tuple[int, ...]:
    """Return a tower's pieces, smallest first."""
    return _PIECES_OF[tower]


def full_tower(seat: int, sizes: int) -> int:
    """Return the tower with one piece of each size in a seat's colour."""
    return ((1 << sizes) - 1) << (MAX_SIZES * seat)


def find_knocked(tower: int, moving: int) -> int:
    """Return the pieces of a tower that arriving pieces knock off: those of the same sizes, in both colours."""
    sizes = (moving | moving >> MAX_SIZES) & OWN[0]
    return tower & (sizes | sizes << MAX_SIZES)


def same_sizes(pieces: int) -> int:
    """Return the pieces of the other colour with the same sizes."""
    return (pieces << MAX_SIZES | pieces >> MAX_SIZES) & (OWN[0] | OWN[1])


def lifted_first(tower: int, seat: int) -> int:
    """Return the pieces that a first leg lifts: the whole tower if it has only the mover's colour, else none."""
    return 0 if tower & OWN[1 - seat] else tower


def lifted_further(tower: int, seat: int) -> int:
    """Return the pieces that a further leg lifts: the mover's pieces in the tower, except the largest."""
    own_pieces = tower & OWN[seat]
    return own_pieces ^ (1 << own_pieces.bit_length() >> 1)


def ends(field: PreparedMap, board: Board, immune: Marks, dot: int, moving: int) -> Iterator[int]:
    """Yield the dots where a leg may end, direction by direction.

    Args:
        field: the board's map.
        board: the towers.
        immune: pieces that may not be knocked off.
        dot: the dot where the leg starts.
        moving: the pieces that the leg moves, at least one. The leg has at most as many steps as pieces.
    """
    reach = moving.bit_count()
    for ray in field.rays[dot]:
        for end in ray[:reach]:
            tower = board[end]
            if tower:
                if not (end in immune and find_knocked(tower, moving) & immune[end]):
                    yield end
                break
            yield end


def first_legs(field: PreparedMap, board: Board, immune: Marks, seat: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every leg that may begin a move."""
    others = OWN[1 - seat]
    for dot, tower in enumerate(board):
        if tower and not tower & others:  # lifted_first(tower, seat), but without 121 calls
            for end in ends(field, board, immune, dot, tower):
                yield dot, end


def find_mixed(board: Board) -> int:
    """Return all pieces that stand in mixed towers, as bits."""
    in_mixed = 0
    for tower in set(board):
        if tower & OWN[0] and tower & OWN[1]:
            in_mixed |= tower
    return in_mixed


def count_mixed(board: Board) -> tuple[int, int]:
    """Return by seat the number of different sizes that its colour has in mixed towers."""
    in_mixed = find_mixed(board)
    return (in_mixed & OWN[0]).bit_count(), (in_mixed & OWN[1]).bit_count()


_BY_SIZE = sorted(range(len(NAMES)), key=lambda piece: (piece % MAX_SIZES, piece))
_PIECES_OF = tuple(tuple(piece for piece in _BY_SIZE if tower >> piece & 1) for tower in range(1 << len(NAMES)))
_NAMES_OF = tuple(tuple(NAMES[piece] for piece in tower) for tower in _PIECES_OF)
_TEXT = Path(__file__).with_name("boards.toml").read_text(encoding="utf-8")
RECONSTRUCTION = msgspec.convert(tomllib.loads(_TEXT), Layout, strict=True)
"""The layout that is used unless the organiser gives another one: a reconstruction."""
