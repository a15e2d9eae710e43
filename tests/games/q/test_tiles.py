"""Tiles, fitting, lines and runs of Q by tables of drawn maps, without hands and turns.

A drawn map is one line a row, two characters a cell: shape (s 8 q c v d) and colour (r g b y o p), or `..`; its first
cell is row 0, column 0.
"""

from typing import Any

import pytest

from referee.games.q import tiles
from referee.games.q.tiles import Cell, Tile

SHAPES = "s8qcvd"
COLORS = "rgbyop"


def tile(sign: str) -> Tile:
    """Return the tile of two characters."""
    return SHAPES.index(sign[0]) * 6 + COLORS.index(sign[1])


def drawn(*rows: str) -> dict[Cell, Tile]:
    """Return a drawn map."""
    cells: dict[Cell, Tile] = {}
    for row, line in enumerate(rows):
        for column, sign in enumerate(line.split()):
            if sign != "..":
                cells[row, column] = tile(sign)
    return cells


def test_there_are_1080_tiles() -> None:
    """There are thirty tiles of each of 36 kinds, named by colour and shape, sorted by shape first."""
    assert len(tiles.ALL_TILES) == 1080
    assert len(set(tiles.NAMES)) == 36
    assert [tiles.ALL_TILES.count(kind) for kind in range(36)] == [30] * 36
    assert tiles.NAMES[tile("sr")] == "red-star"
    assert tiles.NAMES[tile("8p")] == "purple-8star"
    assert tiles.NAMES[tile("dp")] == "purple-diamond"
    assert sorted([tile("8r"), tile("sp"), tile("sr")]) == [tile("sr"), tile("sp"), tile("8r")]
    assert {name: kind for kind, name in enumerate(tiles.NAMES)} == tiles.BY_NAME


FITS: tuple[tuple[str, tuple[str, ...], Cell, str, str | None], ...] = (
    ("no neighbour at all", ("sr",), (5, 5), "dp", None),
    ("one neighbour, same shape", ("sr",), (0, 1), "sp", None),
    ("one neighbour, same colour", ("sr",), (0, 1), "dr", None),
    ("one neighbour, equal tile", ("sr",), (0, 1), "sr", None),
    ("one neighbour, nothing in common", ("sr",), (0, 1), "dp", "row"),
    ("left neighbour", ("sr ..",), (0, 1), "8g", "row"),
    ("right neighbour", (".. sr",), (0, 0), "8g", "row"),
    ("upper neighbour", ("sr", ".."), (1, 0), "8g", "column"),
    ("lower neighbour", ("..", "sr"), (0, 0), "8g", "column"),
    ("both share the shape", ("sr .. sp",), (0, 1), "sg", None),
    ("both share the colour", ("sr .. dr",), (0, 1), "8r", None),
    ("left in shape, right in colour", ("sr .. dg",), (0, 1), "sg", "row"),
    ("left in colour, right in shape", ("sr .. dg",), (0, 1), "dr", "row"),
    ("left fits, right does not", ("sr .. dg",), (0, 1), "sb", "row"),
    ("right fits, left does not", ("dg .. sr",), (0, 1), "sb", "row"),
    ("above in shape, below in colour", ("sr", "..", "dg"), (1, 0), "sg", "column"),
    ("both above and below in colour", ("sr", "..", "dr"), (1, 0), "cr", None),
    ("row in shape, column in colour", (".. dr", "8p ..", ".. cr"), (1, 1), "8r", None),
    ("row in colour, column in shape", (".. 8g", "sr ..", ".. 8p"), (1, 1), "8r", None),
    ("all four in shape", (".. sr ..", "sg .. sb", ".. sy .."), (1, 1), "so", None),
    ("row fits, column does not", (".. dp", "8r .."), (1, 1), "8g", "column"),
    ("column fits, row does not", (".. 8p", "dr .."), (1, 1), "8g", "row"),
    ("neither fits: the row is named", (".. dp", "cr .."), (1, 1), "8g", "row"),
    ("diagonal neighbours do not count", ("sr ..", ".. dp"), (0, 1), "sp", None),
    ("a gap of one is no neighbour", ("sr .. ..",), (0, 2), "dp", None),
)


@pytest.mark.parametrize(("_name", "rows", "cell", "sign", "expected"), FITS, ids=[row[0] for row in FITS])
def test_fit(_name: str, rows: tuple[str, ...], cell: Cell, sign: str, expected: str | None) -> None:
    """Each axis is judged by itself: all its neighbours share the shape, or all share the colour."""
    assert expected == tiles.misfit(drawn(*rows), cell, tile(sign))


@pytest.mark.parametrize(("_name", "rows", "cell", "sign", "expected"), FITS, ids=[row[0] for row in FITS])
def test_fit_mirrored(_name: str, rows: tuple[str, ...], cell: Cell, sign: str, expected: str | None) -> None:
    """Swapping the rows and columns of a map swaps the axes of a verdict; negative coordinates change nothing."""
    swapped = {(column - 7, row - 9): kind for (row, column), kind in drawn(*rows).items()}
    found = tiles.misfit(swapped, (cell[1] - 7, cell[0] - 9), tile(sign))
    assert (found is None) == (expected is None)
    if "neither" not in _name and expected is not None:
        assert {"row": "column", "column": "row"}[expected] == found


@pytest.mark.parametrize(
    ("cell", "expected", "count"),
    [
        ((0, 1), True, 1),
        ((1, 0), True, 1),
        ((-1, 0), True, 1),
        ((0, -1), True, 1),
        ((1, 1), False, 0),
        ((0, 2), True, 1),
    ],
)
def test_adjacency(cell: Cell, expected: bool, count: int) -> None:  # noqa: FBT001  # a column of a table
    """Only the four sides touch."""
    board = drawn("sr .. .. sg")
    assert expected == tiles.touches(board, cell)
    assert count == tiles.neighbour_count(board, cell)


def test_neighbours_are_counted_on_all_four_sides() -> None:
    """A free cell in the middle of a cross has four neighbours."""
    assert tiles.neighbour_count(drawn(".. sr ..", "sg .. sb", ".. sy .."), (1, 1)) == 4


def test_frontier_and_spots() -> None:
    """The frontier is every free cell next to the map; spots are the cells where a tile fits, row by row."""
    board = drawn("sr sg")
    free = tiles.frontier(board)
    assert {(-1, 0), (-1, 1), (0, -1), (0, 2), (1, 0), (1, 1)} == free
    assert tiles.spots(board, tile("dr"), free) == [(-1, 0), (0, -1), (1, 0)]
    assert tiles.spots(board, tile("dg"), free) == [(-1, 1), (0, 2), (1, 1)]
    assert sorted(free) == tiles.spots(board, tile("sp"), free)
    assert tiles.spots(board, tile("dp"), free) == []


LINES: tuple[tuple[list[Cell], bool], ...] = (
    ([(0, 0)], True),
    ([(0, 0), (0, 5)], True),
    ([(0, 0), (5, 0)], True),
    ([(0, 3), (0, -3), (0, 0)], True),
    ([(-4, 1), (3, 1), (0, 1)], True),
    ([(0, 0), (1, 1)], False),
    ([(0, 0), (0, 1), (1, 1)], False),
    ([(0, 0), (0, 1), (1, 0)], False),
    ([(2, 2), (2, 2)], True),
)


@pytest.mark.parametrize(("cells", "expected"), LINES)
def test_line(cells: list[Cell], expected: bool) -> None:  # noqa: FBT001  # a column of a table
    """Cells lie in line in one row or in one column, with gaps or without, in any order."""
    assert expected == tiles.in_line(cells)


POINTS: tuple[tuple[str, tuple[str, ...], list[Cell], int], ...] = (
    ("a run of length one pays nothing", ("sr",), [(0, 0)], 1),
    ("one tile makes a run of two", ("sr sg",), [(0, 1)], 1 + 2),
    ("one tile in a row and in a column", ("sr sg", ".. dg"), [(0, 1)], 1 + 2 + 2),
    ("two new tiles of one run pay it once", ("sr sg sb",), [(0, 1), (0, 2)], 2 + 3),
    ("two new tiles, two columns and a row", ("sr dr", "sg dg"), [(1, 0), (1, 1)], 2 + 2 + 2 + 2),
    ("new tiles of two runs of one row", ("sr sg .. dg dr",), [(0, 1), (0, 3)], 2 + 2 + 2),
    ("runs that hold no new tile do not pay", ("sr sg sb", ".. .. db"), [(1, 2)], 1 + 2),
    ("five are no Q", ("sr sg sb sy so",), [(0, 4)], 1 + 5),
    ("six colours are a Q", ("sr sg sb sy so sp",), [(0, 5)], 1 + 6 + 100),
    ("six shapes are a Q", ("sr 8r qr cr vr dr",), [(0, 2)], 1 + 6 + 100),
    ("six of both are one Q", ("sr 8g qb cy vo dp",), [(0, 2)], 1 + 6 + 100),
    ("six with a colour twice are none", ("sr sg sb sy so so",), [(0, 5)], 1 + 6),
    ("seven that contain all six are none", ("sr sg sb sy so sp sr",), [(0, 0)], 1 + 7),
    ("a Q pays once for all its new tiles", ("sr sg sb sy so sp",), [(0, 5), (0, 0), (0, 3)], 3 + 6 + 100),
    ("a Q in a column", ("sr", "sg", "sb", "sy", "so", "sp"), [(3, 0)], 1 + 6 + 100),
    (
        "two Qs, crossing",
        ("sr sg sb sy so sp", "8r", "qr", "cr", "vr", "dr"),
        [(0, 0)],
        1 + 6 + 6 + 100 + 100,
    ),
    ("a Q that holds no new tile does not pay", ("sr sg sb sy so sp", "8r"), [(1, 0)], 1 + 2),
    ("a Q reached through a column only", ("sr sg sb sy so sp", "8r"), [(1, 0), (0, 0)], 2 + 2 + 6 + 100),
)


@pytest.mark.parametrize(("_name", "rows", "cells", "expected"), POINTS, ids=[row[0] for row in POINTS])
def test_points(_name: str, rows: tuple[str, ...], cells: list[Cell], expected: int) -> None:
    """One point for each tile, the length of each run once, and a bonus for each run of exactly six."""
    board = drawn(*rows)
    assert expected == tiles.placement_points(board, cells, 100)
    swapped = {(column, row): kind for (row, column), kind in board.items()}
    assert expected == tiles.placement_points(swapped, [(column, row) for row, column in reversed(cells)], 100)


def test_no_function_changes_the_map() -> None:
    board = drawn("sr sg", ".. dg")
    kept = dict(board)
    free: Any = tiles.frontier(board)
    tiles.spots(board, tile("sr"), free)
    tiles.placement_points(board, [(0, 1)], 6)
    tiles.misfit(board, (1, 0), tile("sr"))
    assert kept == board
