"""Trains a network by self-play, and saves it where `player.py` finds it.

    python3 train.py GAME [SECONDS] [SEATS]

It plays against itself as an environment of PettingZoo. From time to time it plays against house players, as an
environment of Gymnasium, to measure how well it does. GAME-SEATS.svg shows the results as curves. Both environments
need the referee's extra `pettingzoo`. SECONDS is processor time, 240 by default: a busy machine takes longer, but
learns as much.
"""

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # such small matrices are multiplied faster by one thread

import gymnasium
import numpy as np
from curve import Mark, draw_curves
from network import Choice, Network

import referee.learning.pettingzoo
from referee.learning.gymnasium import ENVIRONMENTS

GAMES_A_LESSON = 32
TESTS = 10
"""Number of tests; between two of them, it trains for the same time."""
TEST_SHARE = 0.01
"""Share of the time that a test against one house player takes."""
LEAST_GAMES = 10
"""Least number of games of a test."""
HOUSE_PLAYERS = ("random", "greedy")
FADING = 0.98
"""Factor by which the worth of a choice shrinks for each later choice of the same player."""


def play_itself(
    env: referee.learning.pettingzoo.Environment, network: Network, source: np.random.Generator
) -> list[Choice]:
    """Play one game with the network on every seat; return the choices with their results."""
    made: dict[str, list[Choice]] = {agent: [] for agent in env.possible_agents}
    env.reset()
    while not any(env.terminations.values()):
        agent = env.agent_selection
        seen = env.observe(agent)
        observation, mask = seen["observation"], seen["action_mask"]
        action = draw_action(network.chances(observation, mask), source)
        made[agent].append(Choice(observation, mask, action, 0))
        env.step(action)
    return [
        choice._replace(worth=env.rewards[agent] * FADING**later)
        for agent, choices in made.items()
        for later, choice in enumerate(reversed(choices))
    ]


def measure(
    env: gymnasium.Env[np.typing.NDArray[np.float32], int],
    network: Network,
    source: np.random.Generator,
    seconds: float,
) -> Mark:
    """Return the mean reward of the network, which draws its actions as it does when it trains.

    `player.py` plays the likeliest action instead, which is stronger after some training. An untrained network has no
    likeliest action: all are equally likely.

    Args:
        env: the environment, with its opponents.
        network: the network.
        source: random numbers for the actions.
        seconds: processor time for the games.
    """
    rewards: list[float] = []
    begun = time.process_time()
    while len(rewards) < LEAST_GAMES or time.process_time() - begun < seconds:
        observation, info = env.reset()
        is_over = False
        while not is_over:
            action = draw_action(network.chances(observation, info["action_mask"]), source)
            observation, reward, terminated, truncated, info = env.step(action)
            is_over = terminated or truncated
        rewards.append(float(reward))
    return Mark(time.process_time(), float(np.mean(rewards)), float(1.96 * np.std(rewards) / len(rewards) ** 0.5))


def draw_action(chances: np.typing.NDArray[np.float32], source: np.random.Generator) -> int:
    """Draw an action at random by the given probabilities."""
    sums = np.cumsum(chances)
    return int(np.searchsorted(sums, source.random() * sums[-1], side="right"))


def main(game: str, seconds: float, seats: int | None) -> None:
    """Train for a number of seconds, and save the network and its curves."""
    source = np.random.default_rng(1)
    env = referee.learning.pettingzoo.raw_env(game, seats)
    env.reset(seed=1)
    others = env.encoding.seats - 1
    tests = {name: gymnasium.make(ENVIRONMENTS[game], opponents=[f"house:{name}"] * others) for name in HOUSE_PLAYERS}
    curves: dict[str, list[Mark]] = {name: [] for name in tests}
    for test in tests.values():
        test.reset(seed=1)
    network = Network.fresh(env.encoding.length, env.encoding.actions, source)
    lessons = 0
    for part in range(TESTS + 1):
        while lessons < part or time.process_time() < seconds * part / TESTS:
            network.learn([choice for _ in range(GAMES_A_LESSON) for choice in play_itself(env, network, source)])
            lessons += 1
        for name, test in tests.items():
            mark = measure(test, network, source, seconds * TEST_SHARE)
            curves[name].append(mark)
            played = f"{mark.seconds:.0f} s, {lessons * GAMES_A_LESSON} games"
            print(f"{played}: mean reward {mark.reward:+.2f} ± {mark.error:.2f} against {name}", flush=True)
    path = Path(__file__).with_name(f"{game}-{env.encoding.seats}.npz")
    network.save(path)
    path.with_suffix(".svg").write_text(draw_curves(f"{game}, {env.encoding.seats} seats", curves), encoding="utf-8")
    print(f"saved {path.name} and {path.stem}.svg after {lessons * GAMES_A_LESSON} games")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if sys.argv[2:] else 240, int(sys.argv[3]) if sys.argv[3:] else None)
