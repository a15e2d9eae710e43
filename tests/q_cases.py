"""Runs the public tests of the Q course: `python -m tests.q_cases FILE [--tcp]`.

Rules-level cases (xmap, xlegal, xscore, xstrategy) run on games.q and the house players; game cases (xgames,
xgames-with-observer, xbaddies, remote) run through the match fold, or, with --tcp, through the real listener over loopback TCP.
Prints the ids of those that fail and, last, `N passed, M failed`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.games import q_tiles
from referee.games.base import IllegalMove
from referee.games.q import Options, Place, Placement, QGame
from sample_players.python.q_simple import step

from .peers.q_actors import STRATEGIES
from .q_games import play_in_fold

GAME_HARNESSES = ("xgames", "xgames-with-observer", "xbaddies", "remote")


def tile_name(tile: dict[str, str]) -> str:
    """Turn a JTile into a tile's name."""
    return f"{tile['color']}-{tile['shape']}"


def placements(rows: list[Any]) -> list[list[Any]]:
    """Turn a JMap into `[row, column, tile]`s."""
    return [[row[0], cell[0], tile_name(cell[1])] for row in rows for cell in row[1:]]


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


def run_xmap(case: dict[str, Any]) -> Any:
    """Return where a tile fits."""
    rows, tile = case["input"]
    board = board_of(rows)
    kind = q_tiles.BY_NAME[tile_name(tile)]
    return [jcell(cell) for cell in q_tiles.spots(board, kind, q_tiles.frontier(board))]


def moved(rows: list[Any], down: int, right: int) -> list[Any]:
    """Move a JMap. Some cases lie where no 64-bit integer reaches; no rule depends on where a map lies."""
    return [[row[0] + down, *([cell[0] + right, cell[1]] for cell in row[1:])] for row in rows]


def at_origin(rows: list[Any]) -> tuple[list[Any], int, int]:
    """Return a JMap moved to row 0 and column 0, and how far down and to the right it was moved."""
    down, right = -min(row[0] for row in rows), -min(cell[0] for row in rows for cell in row[1:])
    return moved(rows, down, right), down, right


def run_xlegal(case: dict[str, Any]) -> Any:
    """Return the new map if the placement is legal, else False."""
    public, placed = case["input"]
    rows, down, right = at_origin(public["map"])
    hand = [tile_name(tile) for tile in public["players"][0]["tile*"]]
    position = {"map": placements(rows), "pile": [], "players": [{"score": 0, "hand": hand}]}
    game = QGame()
    state = game.restore(Options(), position)
    tiles = [
        Placement(one["coordinate"]["row"] + down, one["coordinate"]["column"] + right, tile_name(one["1tile"]))
        for one in placed
    ]
    try:
        return moved(jmap(game.play(state, Place(tiles)).board), -down, -right)
    except IllegalMove:
        return False


def run_xscore(case: dict[str, Any]) -> Any:
    """Return the points of a placement that the map already contains."""
    rows, placed = case["input"]
    cells = [cell_of(one["coordinate"]) for one in placed]
    return q_tiles.placement_points(board_of(rows), cells, case["config"]["qbo"])


def run_xstrategy(case: dict[str, Any]) -> Any:
    """Return one step of a strategy."""
    name, public = case["input"]
    board = board_of(public["map"])
    hand = sorted(q_tiles.BY_NAME[tile_name(tile)] for tile in public["players"][0]["tile*"])
    found = step(board, hand, q_tiles.frontier(board), STRATEGIES[name])
    if found is None:
        return "replace" if len(hand) <= public["tile*"] else "pass"
    return {"1tile": jtile(found[1]), "coordinate": jcell(found[0])}


RULES_HARNESSES = {"xmap": run_xmap, "xlegal": run_xlegal, "xscore": run_xscore, "xstrategy": run_xstrategy}


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


def read_cases(path: Path) -> Iterator[dict[str, Any]]:
    """Read a file of cases, one JSON object a line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def run_case(case: dict[str, Any]) -> Any:
    """Return what a case gives, without the network."""
    harness = case["harness"]
    if harness in RULES_HARNESSES:
        return RULES_HARNESSES[harness](case)
    if harness in GAME_HARNESSES:
        return play_in_fold(case, position_of(case["state"]), options_of(case))
    raise ValueError(f"{case['id']}: there is no harness {harness!r}")


def main(arguments: list[str]) -> int:
    """Run a file of cases.

    Returns:
        0 if all pass, else 1.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.q_cases", description=__doc__)
    parser.add_argument("file", type=Path, help="JSON Lines, a case a line")
    parser.add_argument("--tcp", action="store_true", help="play the game cases over loopback TCP")
    parser.add_argument("--logs", type=Path, help="with --tcp: keep the records in this folder")
    options = parser.parse_args(arguments)
    cases = list(read_cases(options.file))
    if options.tcp:
        from .q_tcp import play_over_tcp

        over_tcp = play_over_tcp([case for case in cases if case["harness"] in GAME_HARNESSES], options.logs)
    else:
        over_tcp = {}
    failed = 0
    for case in cases:
        found = over_tcp[case["id"]] if case["id"] in over_tcp else run_case(case)
        if found != case["expected"]:
            failed += 1
            print(f"FAILED {case['id']}: expected {_shown(case['expected'])}, found {_shown(found)}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 300 else text[:300] + "..."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
