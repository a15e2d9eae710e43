"""Measures the strength of the house players: greedy against random, and search against greedy, in each game for two.

Every deal is played twice with the seats exchanged, so that a lucky deal helps both. In a game without a deal, the
first turns are random instead, and the same in both games. A score is wins plus half the draws. Its interval is that of
the mean over pairs of games (95 %, normal), because two games of one deal are not independent. Players are called
directly, without a network. The only clock is processor time, by which search keeps its budget, so other work on the
machine does not matter.
"""

import argparse
import os
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import Any, NamedTuple

from referee import chance
from referee.games.base import Game, Outcome
from referee.plugins import load
from referee.testing import plain
from sample_players.python.greedy import make_greedy
from sample_players.python.plugin import make_random
from sample_players.python.search import BUDGET_S, Budget, Search

AnyGame = Game[Any, Any, Any]
GAMES = ("q", "quincy", "quincala", "quadominos")
OPTIONS: dict[str, dict[str, Any]] = {"quadominos": {"rounds": 1}}
"""Options: one round of Quad-Ominos is a game here, because whole games last ten times as long and show hardly more."""
_OPENING_TURNS = 4
"""Random opening turns of games without a deal."""
_Z = 1.96
MATCHES = (("greedy", "random"), ("search", "greedy"))


class Job(NamedTuple):
    """One deal, which is played twice."""

    game: str
    first: str
    second: str
    deal: int
    budget_s: float


class Tally(NamedTuple):
    """Wins, draws and losses of the first player, and its score of each pair of games."""

    wins: int
    draws: int
    losses: int
    pairs: tuple[float, ...]


def played_twice(job: Job) -> tuple[float, float]:
    """Play one deal with both seatings.

    Returns:
        The score of the first player in each game: 1, 0.5 or 0.
    """
    return played(job, 0), played(job, 1)


def played(job: Job, seat: int) -> float:
    """Play one game.

    Args:
        job: the deal.
        seat: of the first player.
    """
    game = load().games[job.game]
    options = game.parse_options(OPTIONS.get(job.game, {}))
    state = game.new(options, 2, chance.Dealer(chance.seed_from_number(job.deal)))
    if job.game == "quincala":
        state = _opened(game, state, Random(job.deal))
    names = (job.first, job.second) if seat == 0 else (job.second, job.first)
    seeds = [chance.player_seed(chance.seed_from_number(job.deal), number) for number in range(2)]
    players = [_player(name, game, options, seeds[number], job.budget_s) for number, name in enumerate(names)]
    while (outcome := game.outcome(state)) is None:
        mover = game.to_move(state)
        move = game.parse_move(players[mover](plain(game.view(state, mover))))
        state = game.deliver(game.play(state, move))
    return _score(outcome, seat)


def _opened(game: AnyGame, state: Any, source: Random) -> Any:
    turns = 0
    while turns < _OPENING_TURNS and game.outcome(state) is None:
        state = game.deliver(game.play(state, source.choice(game.legal_moves(state))))
        turns += not game.is_same_turn(state)
    return state


def _player(name: str, game: AnyGame, options: Any, seed: bytes, budget_s: float) -> Any:
    if name == "search":
        return Search(game, options, seed, Budget(seconds=budget_s), time.process_time).choose
    return (make_greedy if name == "greedy" else make_random)(game, options, seed)


def _score(outcome: Outcome, seat: int) -> float:
    best = outcome.ranking[0]
    return 0.0 if seat not in best else 1.0 if len(best) == 1 else 0.5


def tallied(results: list[tuple[float, float]]) -> Tally:
    """Count the results of pairs of games."""
    single = [score for pair in results for score in pair]
    pairs = tuple(sum(pair) / 2 for pair in results)
    return Tally(single.count(1.0), single.count(0.5), single.count(0.0), pairs)


def interval(pairs: tuple[float, ...]) -> tuple[float, float]:
    """Return the bounds of the mean score: 95 %, over pairs."""
    mean = statistics.mean(pairs)
    half = _Z * statistics.stdev(pairs) / len(pairs) ** 0.5 if len(pairs) > 1 else 1.0
    return max(mean - half, 0.0), min(mean + half, 1.0)


def main(arguments: list[str]) -> int:
    """Play and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks strength", description=__doc__)
    parser.add_argument("game", nargs="?", choices=GAMES, help="one game; all if none is named")
    parser.add_argument("--games", type=int, default=200, help="games of each pairing, two for each deal")
    parser.add_argument(
        "--budget", type=float, default=BUDGET_S, help="seconds of processor time that search has for a move"
    )
    options = parser.parse_args(arguments)
    if options.games < 4:
        parser.error("--games takes 4 or more")
    doubtful = []
    jobs = os.cpu_count() or 1
    print(f"{options.games} games of each pairing, {options.budget} s of the processor a move, {jobs} processes")
    with ProcessPoolExecutor(jobs) as pool:
        for name in [options.game] if options.game else GAMES:
            for first, second in MATCHES:
                begun = time.perf_counter()
                deals = [Job(name, first, second, deal, options.budget) for deal in range(options.games // 2)]
                tally = tallied(list(pool.map(played_twice, deals)))
                low, high = interval(tally.pairs)
                stronger = low > 0.5
                title = f"{name}: {first} against {second}"
                said = "stronger" if stronger else "NOT SHOWN TO BE STRONGER" if high >= 0.5 else "WEAKER"
                doubtful += [] if stronger else [title]
                counts = f"{tally.wins:4} won {tally.draws:3} drawn {tally.losses:4} lost"
                score = f"score {statistics.mean(tally.pairs):.3f} ({low:.3f} to {high:.3f})"
                print(f"  {title:<38} {counts}  {score}  {said}  {time.perf_counter() - begun:.0f} s", flush=True)
    print(f"does not hold: {'; '.join(doubtful)}" if doubtful else "every player is stronger than the one below it")
    return 1 if doubtful else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
