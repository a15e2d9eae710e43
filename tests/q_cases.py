"""Runs the public tests of the Q course: `python -m tests.q_cases FILE [--tcp | --processes]`.

Rules-level cases (xmap, xlegal, xscore, xstrategy) run on games.q and the house players; game cases (xgames,
xgames-with-observer, xbaddies, remote) run through the match fold, or with --tcp through the real listener over TCP;
with --processes, the remote ones alone, and as the course runs them: `referee xserver` and `referee xclients`.
Prints the ids of those that fail and, last, `N passed, M failed`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.games.base import IllegalMove
from referee.games.q import tiles as q_tiles
from referee.games.q.forms import Options, Place, Placement
from referee.games.q.game import QGame
from sample_players.python.q_simple import step

from .peers.q_actors import STRATEGIES
from .q_games import play_in_fold
from .q_json import (
    at_origin,
    board_of,
    cell_of,
    jcell,
    jmap,
    jtile,
    moved,
    options_of,
    placements,
    position_of,
    tile_name,
)
from .q_processes import play_in_processes
from .q_tcp import play_over_tcp

GAME_HARNESSES = ("xgames", "xgames-with-observer", "xbaddies", "remote")


def run_xmap(case: dict[str, Any]) -> Any:
    """Return where a tile fits."""
    rows, tile = case["input"]
    board = board_of(rows)
    kind = q_tiles.BY_NAME[tile_name(tile)]
    return [jcell(cell) for cell in q_tiles.spots(board, kind, q_tiles.frontier(board))]


def run_xlegal(case: dict[str, Any]) -> Any:
    """Return the new map if the placement is legal, else False."""
    public, placed = case["input"]
    rows, down, right = at_origin(public["map"])
    hand = [tile_name(tile) for tile in public["players"][0]["tile*"]]
    position = {"map": placements(rows), "pile": [], "players": [{"score": 0, "hand": hand}]}
    game = QGame()
    state = game.restore(Options(), position)
    tiles = [
        Placement(item["coordinate"]["row"] + down, item["coordinate"]["column"] + right, tile_name(item["1tile"]))
        for item in placed
    ]
    try:
        return moved(jmap(game.play(state, Place(tiles)).board), -down, -right)
    except IllegalMove:
        return False


def run_xscore(case: dict[str, Any]) -> Any:
    """Return the points of a placement that the map already contains."""
    rows, placed = case["input"]
    cells = [cell_of(item["coordinate"]) for item in placed]
    return q_tiles.placement_points(board_of(rows), cells, case["config"]["qbo"])


def run_xstrategy(case: dict[str, Any]) -> Any:
    """Return one step of a strategy."""
    name, public = case["input"]
    board = board_of(public["map"])
    hand = sorted(q_tiles.BY_NAME[tile_name(tile)] for tile in public["players"][0]["tile*"])
    found = step(board, hand, STRATEGIES[name])
    if found is None:
        return "replace" if len(hand) <= public["tile*"] else "pass"
    return {"1tile": jtile(found[1]), "coordinate": jcell(found[0])}


RULES_HARNESSES = {"xmap": run_xmap, "xlegal": run_xlegal, "xscore": run_xscore, "xstrategy": run_xstrategy}


def read_cases(path: Path) -> Iterator[dict[str, Any]]:
    """Read a file of cases, one JSON object a line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def run_case(case: dict[str, Any]) -> Any:
    """Return the result of a case, without the network."""
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
    parser.add_argument("--processes", action="store_true", help="play the remote cases with xserver and xclients")
    parser.add_argument("--logs", type=Path, help="with --tcp or --processes: keep the records in this folder")
    options = parser.parse_args(arguments)
    cases = list(read_cases(options.file))
    if options.processes:
        cases = [case for case in cases if case["harness"] == "remote"]
    games = [case for case in cases if case["harness"] in GAME_HARNESSES]
    over_tcp = play_over_tcp(games, options.logs) if options.tcp else {}
    if options.processes:
        over_tcp = play_in_processes(games, options.logs)
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
