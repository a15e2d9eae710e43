"""Tiles and table of Quad-Ominos."""

# A tile is an index into TILES. A face is a tile in one of its rotations: an index into FACES. A set of faces is an int
# with a bit for each face. A free cell that touches a tile has a *pattern*: the numbers that its corners must show. One
# look-up and one AND then tell whether any tile of a hand fits on a cell, and to lay a tile changes at most eight
# patterns. A table of cells alone would be simpler, but a search asks this question for every cell in every state.

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations_with_replacement, product

NUMBERS = "012345"
MISSING = "0245"
"""The one combination of four numbers that was never made."""

Tile = int
"""Index into TILES, 0 to 124."""
Face = int
"""A tile in one rotation, 0 to 481; a quad has one face, every other tile has four."""
Faces = int
"""A set of faces: bit f stands for face f."""
Cell = tuple[int, int]
"""(row, column). The first tile of a round lies on (0, 0); rows are numbered downwards, columns to the right."""
Pattern = int
"""Three bits for each corner: its number, or 7 if any number fits. The top left corner has the lowest bits; the others
follow clockwise. Bit 12 is set if no side touches a tile."""

TILES = tuple("".join(four) for four in combinations_with_replacement(NUMBERS, 4) if "".join(four) != MISSING)
"""The numbers of each tile as they are printed: clockwise from the top left, ascending."""
BY_NAME: Mapping[str, Tile] = {name: tile for tile, name in enumerate(TILES)}
TOTALS = tuple(sum(map(int, name)) for name in TILES)
"""By tile, the points for it: the sum of its numbers."""
IS_QUAD = tuple(len(set(name)) == 1 for name in TILES)
QUAD_ZERO: Tile = BY_NAME["0000"]

FACES = tuple(dict.fromkeys(name[turn:] + name[:turn] for name in TILES for turn in range(4)))
"""The numbers of each face, clockwise from the top left; a tile's faces follow one another."""
FACE_BY_NAME: Mapping[str, Face] = {name: face for face, name in enumerate(FACES)}
TILE_OF = tuple(BY_NAME["".join(sorted(name))] for name in FACES)
"""Tile by face."""
_FACES_OF = tuple(
    sum(1 << FACE_BY_NAME[face] for face in {name[turn:] + name[:turn] for turn in range(4)}) for name in TILES
)

_OPEN = 7
_BLANK = 0x1FFF
"""The pattern of a cell that no tile touches."""
_NO_SIDE = 1 << 12
_TOUCHED = (
    *((-1, 0, True, ((3, 0), (2, 1))), (0, 1, True, ((0, 1), (3, 2)))),
    *((1, 0, True, ((1, 2), (0, 3))), (0, -1, True, ((1, 0), (2, 3)))),
    *((-1, -1, False, ((2, 0),)), (-1, 1, False, ((3, 1),)), (1, 1, False, ((0, 2),)), (1, -1, False, ((1, 3),))),
)
"""For each neighbour of a tile: the step to it, rows and columns; whether the two share a side; and the corners that
meet, as pairs of the neighbour's corner and the tile's own corner."""


def _effects(name: str) -> tuple[tuple[int, int, int], ...]:
    """Return for each neighbour of a face the step to it, and the mask that the face puts on its pattern."""
    effects = []
    for down, right, is_side, shared in _TOUCHED:
        keep = _BLANK & ~_NO_SIDE if is_side else _BLANK
        for theirs, ours in shared:
            keep &= ~((_OPEN ^ int(name[ours])) << 3 * theirs)
        effects.append((down, right, keep))
    return tuple(effects)


def _fitting() -> tuple[Faces, ...]:
    """Return the faces that fit, by pattern; no face fits on a cell where no side touches a tile."""
    every = (1 << len(FACES)) - 1
    with_number = [
        [sum(1 << face for face, name in enumerate(FACES) if name[corner] == number) for number in NUMBERS] + [0, every]
        for corner in range(4)
    ]
    first, second, third, fourth = with_number
    upper = [leading & two for two in second for leading in first]
    lower = [three & four for four in fourth for three in third]
    return (*(two & below for below in lower for two in upper), *(0,) * _NO_SIDE)


_EFFECTS = tuple(map(_effects, FACES))
FITTING = _fitting()
"""Faces that fit, by pattern."""
_CLOSED = [number != _OPEN for number in range(8)]
_MET = tuple(a + b + c + d for d in _CLOSED for c in _CLOSED for b in _CLOSED for a in _CLOSED) * 2


@dataclass(slots=True)
class LaidTiles:
    """The tiles on the table; its two dicts never change."""

    board: dict[Cell, Face]
    """Face by cell, in the order in which the tiles were laid; at most 125 entries."""
    around: dict[Cell, Pattern]
    """Patterns of the free cells that touch a tile, by a side or only by a corner."""

    _wanted: Faces = field(default=-1, init=False, repr=False, compare=False)
    """Faces that fit on at least one cell; -1 until they are computed."""

    def wanted(self) -> Faces:
        """Return the faces that fit on at least one cell."""
        if self._wanted < 0:
            wanted = 0
            for pattern in self.around.values():
                wanted |= FITTING[pattern]
            self._wanted = wanted
        return self._wanted


EMPTY = LaidTiles({}, {})


def lay(table: LaidTiles, cell: Cell, face: Face) -> LaidTiles:
    """Return the table with one more tile, on a cell where it fits."""
    board, around = table.board.copy(), table.around.copy()  # after deletions, `copy` is faster than unpacking
    board[cell] = face
    around.pop(cell, None)
    row, column = cell
    for down, right, keep in _EFFECTS[face]:
        other = (row + down, column + right)
        if other not in board:
            around[other] = around.get(other, _BLANK) & keep
    return LaidTiles(board, around)


def lay_all(board: Mapping[Cell, Face]) -> LaidTiles:
    """Return the table of a board; its tiles are laid again in the same order."""
    table = EMPTY
    for cell, face in board.items():
        table = lay(table, cell, face)
    return table


def corners_agree(board: Mapping[Cell, Face]) -> bool:
    """Return whether all tiles that meet at a corner show the same number there."""
    shown: dict[Cell, str] = {}
    for (row, column), face in board.items():
        corners = ((row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column))
        for corner, number in zip(corners, FACES[face], strict=True):
            if shown.setdefault(corner, number) != number:
                return False
    return True


def count_corners(table: LaidTiles, cell: Cell) -> int:
    """Count the corners of a free cell at which tiles lie, 0 to 4."""
    return _MET[table.around.get(cell, _BLANK)]


def touches(table: LaidTiles, cell: Cell) -> bool:
    """Return whether a side of a free cell touches a tile."""
    return table.around.get(cell, _BLANK) < _NO_SIDE


def fits(table: LaidTiles, cell: Cell, face: Face) -> bool:
    """Return whether a face may be laid on a free cell next to a tile."""
    return bool(FITTING[table.around[cell]] >> face & 1)


def clashes(table: LaidTiles, cell: Cell, face: Face) -> str:
    """Return in words the corners at which a face does not show the number of the tiles that it would meet."""
    pattern, name = table.around[cell], FACES[face]
    names = ("top left", "top right", "bottom right", "bottom left")
    wanted = [pattern >> 3 * corner & 7 for corner in range(4)]
    wrong = [
        f"{names[corner]} {name[corner]} meets {want}"
        for corner, want in enumerate(wanted)
        if want not in (_OPEN, int(name[corner]))
    ]
    return ", ".join(wrong)


def all_faces(tiles: Iterable[Tile]) -> Faces:
    """Return all faces of some tiles."""
    faces = 0
    for tile in tiles:
        faces |= _FACES_OF[tile]
    return faces


def each_face(faces: Faces) -> list[Face]:
    """Return the faces of a set, ascending."""
    ascending = []
    while faces:
        ascending.append(highest := faces.bit_length() - 1)
        faces ^= 1 << highest
    return ascending[::-1]


def can_lay(table: LaidTiles, hand: Iterable[Tile]) -> bool:
    """Return whether any tile of a hand fits anywhere."""
    return bool(table.wanted() & all_faces(hand))


def find_cells(table: LaidTiles, face: Face) -> list[Cell]:
    """Return the cells on which a face fits."""
    fitting = _fitting_patterns(face)
    return [cell for cell, pattern in table.around.items() if pattern in fitting]


@cache
def _fitting_patterns(face: Face) -> frozenset[Pattern]:
    """Return the patterns that a face fits: at each corner the pattern has the face's number, or is open."""
    corners = [{int(number) << 3 * corner, _OPEN << 3 * corner} for corner, number in enumerate(FACES[face])]
    return frozenset(map(sum, product(*corners)))


def lays(table: LaidTiles, faces: Faces) -> Iterator[tuple[Cell, Face]]:
    """Yield every pair of a cell and one of these faces that fits on it."""
    for cell, pattern in table.around.items():
        fitting = FITTING[pattern] & faces
        if fitting:
            for face in each_face(fitting):
                yield cell, face


def can_follow(table: LaidTiles, faces: Faces, cell: Cell, face: Face) -> bool:
    """Return whether a second tile can be laid after a first one.

    Args:
        table: the table without the first tile.
        faces: faces of the tiles in hand, with or without those of the first tile.
        cell: a free cell on which the first tile fits.
        face: the face of the first tile.
    """
    rest = faces & ~_FACES_OF[TILE_OF[face]]
    (row, column), around = cell, table.around
    changed = {cell}
    for down, right, keep in _EFFECTS[face]:
        other = (row + down, column + right)
        if other not in table.board:
            if FITTING[around.get(other, _BLANK) & keep] & rest:
                return True
            changed.add(other)
    return any(FITTING[pattern] & rest and other not in changed for other, pattern in around.items())


def firsts_of_two(table: LaidTiles, hand: Sequence[Tile]) -> Iterator[tuple[Cell, Face]]:
    """Yield every pair of a cell and a face such that a second tile of the hand can follow."""
    faces = all_faces(hand)
    return ((cell, face) for cell, face in lays(table, faces) if can_follow(table, faces, cell, face))
