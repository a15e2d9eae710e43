"""Chess at full speed: plies a second and processor time a ply, of a tournament whose programs answer at once.

All programs play the same fixed game again and again. One kind speaks the protocol itself. The other kind is a UCI
engine behind `referee_openspiel.uci`. Each kind is played twice, with a few matches and with many, so that the cost of
starting can be subtracted. Each is compared with fastchess: measured if its program is given, otherwise a figure from
another machine.

The package must be installed: pip install examples/openspiel.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

import chess
import pyspiel

from .throughput import FIRST, adopt_orphans, play, play_chess, write_engine

FASTCHESS = 8860, 84
"""Plies a second at two games at once, and microseconds of processor time a ply with both engines."""
_WIRE = """
from protocol.client import run

moves = {moves!r}
run(lambda view: moves[len(view["history"])])
"""


def main(arguments: list[str]) -> int:
    """Play the tournaments one after the other, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks chess", description=__doc__)
    parser.add_argument("--tables", type=int, default=2)
    parser.add_argument("--matches", type=int, default=60, help=f"of each tournament, besides {FIRST}")
    parser.add_argument("--fastchess", metavar="FILE", help="fastchess's program")
    options = parser.parse_args(arguments)
    adopt_orphans()
    texts, moves = make_game(Random(1))
    print(f"a game of {len(moves)} plies, {options.tables} at once; microseconds are those of one ply")
    with tempfile.TemporaryDirectory() as folder:
        program, engine = Path(folder, "player.py"), Path(folder, "engine")
        program.write_text(_WIRE.format(moves=texts))
        write_engine(engine, moves)
        players = {"wire": str(program), "uci": f"-m referee_openspiel.uci {engine}"}
        for name, player in players.items():
            print(f"{name:9} | {measure(Path(folder, name), player, options)}", flush=True)
        if options.fastchess is not None:
            print(f"fastchess | {play_chess(Path(folder), options.fastchess, options.tables)}")
        else:
            print("fastchess | {} plies/s, {} us of processor time with engines, on another machine".format(*FASTCHESS))
    return 0


def make_game(source: Random) -> tuple[list[str], list[str]]:
    """Return the moves of a whole game of over a hundred plies, in the notations of OpenSpiel and of UCI."""
    while True:
        state, board = pyspiel.load_game("chess").new_initial_state(), chess.Board()
        texts, moves = list[str](), list[str]()
        while not state.is_terminal() and len(texts) < 200:
            action = source.choice(state.legal_actions())
            texts.append(state.action_to_string(state.current_player(), action))
            moves.append(board.push_san(texts[-1]).uci())
            state.apply_action(action)
        if state.is_terminal() and len(texts) > 100:
            return texts, moves


def measure(folder: Path, player: str, options: argparse.Namespace) -> str:
    """Play a tournament of few matches, and one of many; return the cost of a ply in the additional matches."""
    settings = f'game = "openspiel:chess"\ntables = {options.tables}\nprograms = "kept"\n'
    command = f"cmd:{sys.executable} {player}"
    few, many = (play(folder / str(count), settings, command, count) for count in (FIRST, FIRST + options.matches))
    plies, wall_s = many.turns - few.turns, many.wall_s - few.wall_s
    referee_us = 1e6 * (many.keeper_s - few.keeper_s) / plies
    all_us = referee_us + 1e6 * (many.others_s - few.others_s) / plies
    speed = plies / wall_s
    return (
        f"{speed:.0f} plies/s, {1e6 / speed:.0f} us on the wall; {referee_us:.0f} us of processor time of the referee, "
        f"{all_us:.0f} with programs; {speed / FASTCHESS[0]:.2f} and {all_us / FASTCHESS[1]:.1f} times fastchess's"
    )
