"""Trains a network by self-play, and saves it where `player.py` finds it.

    python3 train.py GAME [SECONDS] [SEATS]

It plays against itself as an environment of PettingZoo (the extra `pettingzoo` of the referee), and now and then
against a player that plays anything legal, to tell how well it does.
"""

import sys
import time
from pathlib import Path

import numpy as np
from network import Choice, Network

import referee.learning.pettingzoo

GAMES_A_LESSON = 32
LESSONS_A_TEST = 50
TEST_GAMES = 100
FADING = 0.98
"""Factor by which the worth of a choice shrinks for each later choice of the same player."""


def self_played(
    env: referee.learning.pettingzoo.Environment, network: Network, source: np.random.Generator
) -> list[Choice]:
    """Play one game, every seat by the network; return what was chosen."""
    made: dict[str, list[Choice]] = {agent: [] for agent in env.possible_agents}
    env.reset()
    while not any(env.terminations.values()):
        agent = env.agent_selection
        seen = env.observe(agent)
        observation, mask = seen["observation"], seen["action_mask"]
        action = drawn(network.chances(observation, mask), source)
        made[agent].append(Choice(observation, mask, action, 0))
        env.step(action)
    return [
        choice._replace(worth=env.rewards[agent] * FADING**later)
        for agent, choices in made.items()
        for later, choice in enumerate(reversed(choices))
    ]


def against_random(
    env: referee.learning.pettingzoo.Environment, network: Network, source: np.random.Generator
) -> float:
    """Return the mean reward of games in which the others play anything legal."""
    total = 0.0
    for number in range(TEST_GAMES):
        own = env.possible_agents[number % len(env.possible_agents)]
        env.reset()
        while not any(env.terminations.values()):
            seen = env.observe(env.agent_selection)
            if env.agent_selection == own:
                env.step(int(np.argmax(network.chances(seen["observation"], seen["action_mask"]))))
            else:
                env.step(int(source.choice(np.flatnonzero(seen["action_mask"]))))
        total += env.rewards[own]
    return total / TEST_GAMES


def drawn(chances: np.typing.NDArray[np.float32], source: np.random.Generator) -> int:
    """Return an action, each as likely as it is said to be."""
    sums = np.cumsum(chances)
    return int(np.searchsorted(sums, source.random() * sums[-1], side="right"))


def main(game: str, seconds: float, seats: int | None) -> None:
    """Train for so long, and save."""
    source = np.random.default_rng(1)
    env = referee.learning.pettingzoo.raw_env(game, seats)
    env.reset(seed=1)
    network = Network.fresh(env.encoding.length, env.encoding.actions, source)
    until, lessons = time.monotonic() + seconds, 0
    while not lessons or time.monotonic() < until:
        network.learn([choice for _ in range(GAMES_A_LESSON) for choice in self_played(env, network, source)])
        lessons += 1
        if lessons % LESSONS_A_TEST == 0:
            mean = against_random(env, network, source)
            print(f"{lessons * GAMES_A_LESSON} games: mean reward {mean:+.2f} against random play", flush=True)
    path = Path(__file__).with_name(f"{game}-{env.encoding.seats}.npz")
    network.save(path)
    print(f"saved {path.name} after {lessons * GAMES_A_LESSON} games")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if sys.argv[2:] else 180, int(sys.argv[3]) if sys.argv[3:] else None)
