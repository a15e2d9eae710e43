"""How long the rules take: the legal moves of positions that are large for their game, and moves of random games.

A figure is the best of several runs, each over many positions of the same kind, on one core: what else a machine does
only ever adds to it. Quad-Ominos has 125
tiles and two players: a seat with 30 in hand sees 94 on the table at most, and one that sees 100 holds 24.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from referee import chance
from referee.games.base import Game
from referee.games.q.game import QGame
from referee.games.quadominos.game import QuadOminos
from referee.games.quadominos.tiles import EMPTY, FACES, TILE_OF, TILES, faces_of, laid, lays
from referee.games.quincala.game import QuincalaGame
from referee.games.quincy.game import QuincyGame

AnyGame = Game[Any, Any, Any]
GAMES: tuple[AnyGame, ...] = (QGame(), QuincyGame(), QuincalaGame(), QuadOminos())
_POSITIONS = 20
_RANDOM_PLAY_S = 2.0


def dealt(game: AnyGame, source: Random) -> Any:
    """Return the start of a game for two."""
    return game.new(game.parse_options({}), 2, chance.Dealer(source.randbytes(chance.SEED_BYTES)))


def stepped(game: AnyGame, state: Any, source: Random) -> Any:
    """Return the state after one random move."""
    return game.deliver(game.play(state, source.choice(game.legal_moves(state))))


def wide_map(game: AnyGame, source: Random) -> Any:
    """Return a state of Q with 200 tiles on the map, laid at random, one by one."""
    state = dealt(game, source)
    while len(state.board) < 200:
        places = game.legal_moves(state)[2:]
        state = game.deliver(game.play(state, source.choice(places))) if places else stepped(game, state, source)
    return state


def full_table(game: AnyGame, source: Random, laid_tiles: int, held: int) -> Any:
    """Return a state of Quad-Ominos with so many tiles on the table and in the hand of the seat to move."""
    while True:
        table, rest = EMPTY, list(range(len(TILES)))
        source.shuffle(rest)
        first = rest.pop()
        table = laid(table, (0, 0), next(face for face, tile in enumerate(TILE_OF) if tile == first))
        while len(table.board) < laid_tiles and (found := list(lays(table, faces_of(rest)))):
            cell, face = source.choice(found)
            table = laid(table, cell, face)
            rest.remove(TILE_OF[face])
        if len(table.board) == laid_tiles and any(lays(table, faces_of(rest[:held]))):
            break
    names = [TILES[tile] for tile in rest]
    board = [[row, column, FACES[face]] for (row, column), face in table.board.items()]
    players = [{"score": 0, "hand": hand} for hand in (names[:held], names[held:])]
    return game.restore(game.parse_options({}), {"board": board, "well": [], "players": players})


def middle_game(game: AnyGame, source: Random) -> Any:
    """Return a state of Quincy after 12 random moves of two hands of five."""
    state = dealt(game, source)
    for _ in range(12):
        state = stepped(game, state, source)
    return state


ROWS: tuple[tuple[str, AnyGame, Callable[[AnyGame, Random], Any], float], ...] = (
    ("q: single tiles, 200 on the map", GAMES[0], wide_map, 1.0),
    ("quincy: 12 moves played", GAMES[1], middle_game, 1.0),
    ("quincala: start with 5 sizes", GAMES[2], dealt, 50.0),
    ("quadominos: 30 in hand, 94 laid", GAMES[3], lambda game, source: full_table(game, source, 94, 30), 5.0),
    ("quadominos: 24 in hand, 100 laid", GAMES[3], lambda game, source: full_table(game, source, 100, 24), 5.0),
)
"""What is measured, its game, what makes a position, and the target in ms."""


def listing_ms(game: AnyGame, states: Sequence[Any], runs: int) -> float:
    """Return the milliseconds that the legal moves of one state take: the best of the runs."""
    took = []
    for _ in range(runs):
        begun = time.perf_counter()
        for state in states:
            game.legal_moves(state)
        took.append((time.perf_counter() - begun) / len(states) * 1000)
    return min(took)


def random_plies_per_s(game: AnyGame, source: Random) -> tuple[float, float]:
    """Play at random for a while.

    Returns:
        Moves a second, and moves a game.
    """
    begun, plies, games = time.perf_counter(), 0, 0
    while time.perf_counter() - begun < _RANDOM_PLAY_S:
        state, games = dealt(game, source), games + 1
        while game.outcome(state) is None:
            state = stepped(game, state, source)
            plies += 1
    return plies / (time.perf_counter() - begun), plies / games


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks rules", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs of each; the best one counts")
    options = parser.parse_args(arguments)
    missed = 0
    print("legal moves of one position")
    for name, game, make, target_ms in ROWS:
        source = Random(name)
        states = [make(game, source) for _ in range(_POSITIONS)]
        took_ms = listing_ms(game, states, options.runs)
        count = statistics.mean(len(game.legal_moves(state)) for state in states)
        verdict = "holds" if took_ms < target_ms else "MISSED"
        missed += took_ms >= target_ms
        print(f"  {name:<36} {count:6.0f} moves {took_ms:8.3f} ms   target {target_ms:4.0f} ms   {verdict}")
    print("random games of two, whole")
    for game in GAMES:
        rate, length = random_plies_per_s(game, Random(game.name))
        print(f"  {game.name:<36} {rate:8.0f} moves a second {length:8.0f} moves a game")
    print("every target holds" if not missed else f"{missed} target(s) missed")
    return 1 if missed else 0
