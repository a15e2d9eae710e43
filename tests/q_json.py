"""The course's JSON <-> tiles, maps and positions of the Q game, without any rules.

Source: the data formats of the course's milestones 3 to 10.
"""

from typing import Any

from referee.games.q import tiles as q_tiles


def tile_name(tile: dict[str, str]) -> str:
    """Turn a JTile into a tile's name."""
    return f"{tile['color']}-{tile['shape']}"


def placements(rows: list[Any]) -> list[list[Any]]:
    """Turn a JMap into `[row, column, tile]`s; some cases name a square twice, and mean the last tile."""
    tiles = {(row[0], cell[0]): tile_name(cell[1]) for row in rows for cell in row[1:]}
    return [[row, column, tile] for (row, column), tile in tiles.items()]


def board_of(rows: list[Any]) -> dict[q_tiles.Cell, q_tiles.Tile]:
    """Turn a JMap into a map."""
    return {(row, column): q_tiles.BY_NAME[name] for row, column, name in placements(rows)}


def cell_of(coordinate: dict[str, int]) -> q_tiles.Cell:
    """Turn a JCoordinate into (row, column)."""
    return coordinate["row"], coordinate["column"]


def jcell(cell: q_tiles.Cell) -> dict[str, int]:
    """Turn (row, column) into a JCoordinate."""
    return {"column": cell[1], "row": cell[0]}


def jtile(tile: q_tiles.Tile) -> dict[str, str]:
    """Turn a tile into a JTile."""
    return {"color": q_tiles.COLORS[tile % 6], "shape": q_tiles.SHAPES[tile // 6]}


def jmap(board: q_tiles.Board) -> list[Any]:
    """Turn a map into a JMap, rows and cells sorted."""
    rows: dict[int, list[Any]] = {}
    for (row, column), tile in sorted(board.items()):
        rows.setdefault(row, [row]).append([column, jtile(tile)])
    return list(rows.values())


def moved(rows: list[Any], down: int, right: int) -> list[Any]:
    """Move a JMap. Some cases lie beyond 64-bit integers, and no rule depends on where a map lies."""
    return [[row[0] + down, *([cell[0] + right, cell[1]] for cell in row[1:])] for row in rows]


def at_origin(rows: list[Any]) -> tuple[list[Any], int, int]:
    """Return a JMap moved to row 0 and column 0, and how far down and to the right it was moved."""
    down, right = -min(row[0] for row in rows), -min(cell[0] for row in rows for cell in row[1:])
    return moved(rows, down, right), down, right


def position_of(state: dict[str, Any]) -> dict[str, Any]:
    """Turn a JState into a position of q."""
    players = [
        {"score": player["score"], "hand": [tile_name(tile) for tile in player["tile*"]]} for player in state["players"]
    ]
    rows, _, _ = at_origin(state["map"])
    return {"map": placements(rows), "pile": [tile_name(tile) for tile in state["tile*"]], "players": players}


def options_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the game's options of a case."""
    return {"q_bonus": case["config"]["qbo"], "finish_bonus": case["config"]["fbo"]}
