"""Compares the cost of a move in python-chess's engine protocol over pipes and in ours on a sandbox's socket.

Both talk to a program that answers at once. python-chess talks to a UCI engine, whose moves it parses and plays on its
board. The referee talks to a player of Q, whose moves it judges, records, chains and signs. Printed are the wall time
and the processor time of the process that leads the game, in microseconds a move.
"""

import argparse
import asyncio
import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path

from . import wire

_MISSING = "python-chess is not installed: pip install -e '.[test]', or pip install chess"
_PLIES = 100
"""Moves of a game, as many as a match of the `wire` benchmark has turns."""
_CYCLE = ("g1f3", "g8f6", "f3g1", "f6g8")
"""Moves that are legal for ever, in a cycle."""
_ENGINE = f"""
import sys
moves = {[f"bestmove {move}" for move in _CYCLE]!r}
ply = 0
for line in sys.stdin:
    if line.startswith("go"):
        print(moves[ply % 4], flush=True)
        ply += 1
    elif line.startswith("ucinewgame"):
        ply = 0
    elif line.startswith("isready"):
        print("readyok", flush=True)
    elif line.startswith("uci"):
        print("uciok", flush=True)
    elif line.startswith("quit"):
        break
"""


async def _chess_games(games: int) -> wire.Cost:
    """Play games against the engine; return the cost of a move."""
    import chess.engine  # noqa: PLC0415  # what it is, main has found out

    _, engine = await chess.engine.popen_uci([sys.executable, "-c", _ENGINE])
    limit = chess.engine.Limit(time=6.0)
    spent: list[tuple[float, float]] = []
    for game in range(games + 1):
        board = chess.Board()
        begun = time.perf_counter(), time.process_time()
        for _ in range(_PLIES):
            found = await engine.play(board, limit, game=game)
            assert found.move is not None
            board.push(found.move)
        spent.append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    await engine.quit()
    wall, processor = (sum(seconds) * 1e6 / games / _PLIES for seconds in zip(*spent[1:], strict=True))  # one warms up
    return wire.Cost(wall, processor, 0.0)


def _our_matches(matches: int) -> wire.Cost:
    """Play matches on a Unix socket, as programs in a sandbox do; return the cost of a move."""
    with tempfile.TemporaryDirectory() as folder:
        return wire.measure("referee", 1, matches, socket_path=Path(folder) / "socket")


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks python_chess", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each, one after the other; the median counts")
    parser.add_argument("--games", type=int, default=20, help="games of a run")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("chess") is None:
        print(_MISSING, file=sys.stderr)
        return 2
    pairs = [(asyncio.run(_chess_games(options.games)), _our_matches(options.games)) for _ in range(options.runs)]
    print(f"games of {_PLIES} moves, microseconds a move:")
    print(f"  {'':<28} {'wall':>8} {'processor':>10}")
    names = ("python-chess, UCI over pipes", "refereed, over a Unix socket")
    for name, costs in zip(names, zip(*pairs, strict=True), strict=True):
        wall, processor = (statistics.median(getattr(cost, field) for cost in costs) for field in ("wall", "processor"))
        print(f"  {name:<28} {wall:8.1f} {processor:10.1f}")
    return 0
