"""Speed of the rules: the legal moves and steps of large positions, and random games.

A figure is processor time. For positions, it is the best of several runs, each over many positions of the same kind;
for random games, it is the mean. Quad-Ominos has 125 tiles and here two players. So a seat with 30 tiles in hand sees
at most 94 on the table, and one that sees 100 has 24 in hand.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from referee import chance
from referee.games.base import Game, Step
from referee.games.q.game import QGame
from referee.games.quadominos.game import QuadOminos
from referee.games.quadominos.tiles import EMPTY, FACES, TILE_OF, TILES, all_faces, lay, lays
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
    """Return a state of Quad-Ominos with given numbers of tiles on the table and in the hand of the seat to move."""
    while True:
        table, rest = EMPTY, list(range(len(TILES)))
        source.shuffle(rest)
        first = rest.pop()
        table = lay(table, (0, 0), next(face for face, tile in enumerate(TILE_OF) if tile == first))
        while len(table.board) < laid_tiles and (found := list(lays(table, all_faces(rest)))):
            cell, face = source.choice(found)
            table = lay(table, cell, face)
            rest.remove(TILE_OF[face])
        if len(table.board) == laid_tiles and any(lays(table, all_faces(rest[:held]))):
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
"""Name of the figure, its game, function that makes a position, and the target in ms."""


def listing_ms(game: AnyGame, states: Sequence[Any], runs: int) -> float:
    """Return the milliseconds for the legal moves of one state: the best of the runs."""
    took = []
    for _ in range(runs):
        begun = time.process_time()
        for state in states:
            game.legal_moves(state)
        took.append((time.process_time() - begun) / len(states) * 1000)
    return min(took)


def by_steps(game: AnyGame, state: Any, source: Random) -> tuple[Any, int]:
    """Return the state after a move of random steps, and their number."""
    chosen: tuple[Step, ...] = ()
    while (move := game.move_of(chosen)) is None:
        chosen = (*chosen, source.choice(game.legal_steps(state, chosen)))
    return game.deliver(game.play(state, move)), len(chosen)


def steps_us(game: AnyGame, states: Sequence[Any], runs: int) -> tuple[float, float]:
    """Return the microseconds for choosing a random step, the best of the runs, and the steps of a move."""
    took = []
    for _ in range(runs):
        source, steps, begun = Random(0), 0, time.process_time()
        for state in states:
            chosen: tuple[Step, ...] = ()
            while game.move_of(chosen) is None:
                chosen = (*chosen, source.choice(game.legal_steps(state, chosen)))
            steps += len(chosen)
        took.append(((time.process_time() - begun) / steps * 1e6, steps / len(states)))
    return min(took)


def by_moves(game: AnyGame, state: Any, source: Random) -> tuple[Any, int]:
    """Return the state after one random move of those listed."""
    return stepped(game, state, source), 1


def random_games(game: AnyGame, advance: Callable[[AnyGame, Any, Random], tuple[Any, int]]) -> tuple[float, float]:
    """Play at random for a while.

    Args:
        game: the rules.
        advance: makes the next move, and returns its number of steps.

    Returns:
        Steps a second, and steps a game.
    """
    source = Random(game.name)
    begun, steps, games = time.process_time(), 0, 0
    while time.process_time() - begun < _RANDOM_PLAY_S:
        state, games = dealt(game, source), games + 1
        while game.outcome(state) is None:
            state, count = advance(game, state, source)
            steps += count
    return steps / (time.process_time() - begun), steps / games


STEP_TARGETS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "q": ("60 games a second", lambda rate, length: rate / length >= 60),
    "quincy": ("35 us a step", lambda rate, _: rate >= 1e6 / 35),
    "quadominos": ("35 us a step", lambda rate, _: rate >= 1e6 / 35),
}
"""Targets of random games by steps, in steps and games a second."""


def print_random_games() -> int:
    """Measure random games, and print them; return the number of missed targets."""
    print("random games of two, whole, by legal moves")
    for game in GAMES:
        rate, length = random_games(game, by_moves)
        print(f"  {game.name:<12} {length:6.0f} moves a game {rate / length:8.1f} games a second")
    print("random games of two, whole, by legal steps")
    missed = 0
    for game in GAMES:
        rate, length = random_games(game, by_steps)
        target, holds = STEP_TARGETS.get(game.name, ("none", None))
        verdict = "" if holds is None else "holds" if holds(rate, length) else "MISSED"
        missed += verdict == "MISSED"
        speed = f"{rate / length:8.1f} games a second {1e6 / rate:6.1f} us a step"
        print(f"  {game.name:<12} {length:6.0f} steps a game {speed}   target {target:<18} {verdict}")
    return missed


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
    print("legal steps of one position: of a whole random move")
    for name, game, make, _ in ROWS:
        source = Random(name)
        states = [make(game, source) for _ in range(_POSITIONS)]
        took_us, count = steps_us(game, states, options.runs)
        print(f"  {name:<36} {count:6.1f} steps {took_us:8.1f} us a step")
    missed += print_random_games()
    print("every target holds" if not missed else f"{missed} target(s) missed")
    return 1 if missed else 0
