"""Environments of all games, by PettingZoo's own tests and by the games' results."""

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import resvg_py
from pettingzoo.test import api_test, max_cycles_test, render_test, seed_test, test_save_obs
from pettingzoo.utils import BaseWrapper

import referee.learning.pettingzoo
from referee.errors import BadRequest
from referee.games.base import Outcome
from referee.learning import ENCODINGS, rendering
from referee.learning.episode import rank_rewards
from referee.plugins import load

TABLES = [(game, seats) for game in ENCODINGS for seats in load().games[game].seats]
ALL = pytest.mark.parametrize(("game", "seats"), TABLES)
OPTIONS = {"quadominos": {"rounds": 1}}
"""Options with which a game is whole and short."""

# PettingZoo expects either a bare array, or one of its own games
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
]
test_save_obs.__test__ = False


@ALL
def test_pettingzoo_finds_nothing(game: str, seats: int) -> None:
    """Its tests of the interface, of seeds, of cycles and of saving observations pass, on whole games."""
    make = partial(referee.learning.pettingzoo.env, game, seats, OPTIONS.get(game))
    make_raw = partial(referee.learning.pettingzoo.raw_env, game, seats, OPTIONS.get(game))
    api_test(make())
    seed_test(make)
    test_save_obs(make())
    max_cycles_test(
        SimpleNamespace(
            env=lambda max_cycles: WholeTurns(make_raw(max_cycles=max_cycles)),
            parallel_env=lambda max_cycles: Rounds(make_raw(max_cycles=max_cycles)),
        )
    )


@ALL
def test_pettingzoo_can_look_at_it(game: str, seats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its test wants text, pixels and windows, and a picture that is not empty.

    With more than the fewest players, pictures are small and without letters, because letters take most of the time.
    """
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    if seats > load().games[game].seats[0]:
        monkeypatch.setattr(rendering, "_WIDTH", 64)
        monkeypatch.setattr(resvg_py, "svg_to_bytes", partial(resvg_py.svg_to_bytes, skip_system_fonts=True))
    inked = {"rgb_array": lambda picture: len(np.unique(picture)) > 20, "ansi": lambda text: "\x1b[" in text}
    render_test(partial(referee.learning.pettingzoo.env, game, seats, OPTIONS.get(game)), inked)


class WholeTurns(BaseWrapper):  # type: ignore[misc]  # PettingZoo is not looked into by the type checker
    """Takes any action, legal or not, as a whole turn: PettingZoo's test of cycles knows neither masks nor steps.

    The first two actions, one of them a pass, are chosen only if there is no other.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=3, options=options)

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if action is None:
            super().step(None)
            return
        while agent == self.agent_selection and not (self.terminations[agent] or self.truncations[agent]):
            legal = np.flatnonzero(self.observe(agent)["action_mask"])
            super().step(next((int(action) for action in legal if action > 1), int(legal[0])))


class Rounds:
    """Lets all agents act at the same time."""

    def __init__(self, env: Any) -> None:
        self.env = WholeTurns(env)

    def reset(self) -> tuple[dict[str, Any], dict[str, Any]]:
        self.env.reset()
        return {}, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def step(self, actions: dict[str, int]) -> tuple[Any, ...]:
        for action in actions.values():
            if not any(self.env.truncations.values()):
                self.env.step(action)
        return {}, self.env.rewards, self.env.terminations, self.env.truncations, {}


def played(env: Any, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Play one random game; yield the agent to act, and its observation."""
    source = np.random.default_rng(seed)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observed, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        yield agent, observed
        env.step(int(source.choice(np.flatnonzero(observed["action_mask"]))))


@pytest.mark.parametrize("game", ["q", "quincy"])
def test_rewards_are_those_of_the_outcome(game: str) -> None:
    """At the end every agent gets its reward once, and they add up to 0."""
    env = referee.learning.pettingzoo.raw_env(game, 4)
    for _ in played(env, 1):
        before = dict(env.rewards)
    assert set(before.values()) == {0.0}
    outcome = env.encoding.rules.outcome(env.episode.state)
    assert outcome is not None
    env.reset(seed=1)
    source = np.random.default_rng(1)
    while not any(env.terminations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(source.choice(np.flatnonzero(mask))))
    teams = load().games[game].teams(env.encoding.options, 4)
    expected = {f"player_{seat}": reward for seat, reward in enumerate(rank_rewards(outcome, teams))}
    assert expected == env.rewards
    assert sum(env.rewards.values()) == pytest.approx(0)
    assert set(env.truncations.values()) == {False}


REWARDS: tuple[tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], dict[int, float]], ...] = (
    (((1,), (0,)), (), {0: -1, 1: 1}),
    (((0, 1),), (), {0: 0, 1: 0}),
    (((2,), (0,), (1,)), (), {2: 1, 0: 0, 1: -1}),
    (((0, 2), (1,)), (), {0: 0.5, 2: 0.5, 1: -1}),
    (((0, 2), (1, 3)), ((0, 2), (1, 3)), {0: 1, 1: -1, 2: 1, 3: -1}),
    (((0,),), (), {0: 0}),
)
"""Ranking, teams, and the reward of each seat."""


@pytest.mark.parametrize(("ranking", "teams", "expected"), REWARDS)
def test_rewards_follow_ranks(
    ranking: tuple[tuple[int, ...], ...], teams: tuple[tuple[int, ...], ...], expected: dict[int, float]
) -> None:
    """A seat that is ahead of all opponents gets 1, one behind all of them -1; partners are no opponents."""
    seats = tuple(seat for group in ranking for seat in group)
    assert expected == dict(enumerate(rank_rewards(Outcome(ranking, (0,) * 4, seats, "q.end.finished"), teams)))


def test_seeds_make_deals() -> None:
    """The same seed gives the same games one after the other, and all of them differ."""
    env, deals = referee.learning.pettingzoo.raw_env("quincy"), []
    for seed in (5, None, None, 5, None, None):
        env.reset(seed=seed)
        deals.append(env.episode.state)
    assert deals[:3] == deals[3:]
    assert len(set(deals)) == 3


def test_what_others_may_do_is_not_told() -> None:
    """Only the agent to act has actions; the others see the game as their views show it."""
    env = referee.learning.pettingzoo.raw_env("quincy", 4)
    env.reset(seed=1)
    masks = {agent: int(env.observe(agent)["action_mask"].sum()) for agent in env.agents}
    assert masks.pop("player_0") > 0
    assert set(masks.values()) == {0}
    hands = [env.encoding.part(env.observe(agent)["observation"], "hand") for agent in env.agents]
    assert [float(hand.sum()) for hand in hands] == [5] * 4
    assert len({hand.tobytes() for hand in hands}) == 4


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"game": "chess"}, "the game 'chess' has no encoding"),
    ({"game": "quincy", "seats": 3}, "2 or 4 players, not 3"),
    ({"game": "q", "options": {"bonus": 1}}, "it knows: q_bonus"),
    ({"game": "q", "render_mode": "svg"}, "ansi, rgb_array, human or None, not 'svg'"),
)


@pytest.mark.parametrize(("given", "says"), BAD)
def test_what_there_is_not_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        referee.learning.pettingzoo.env(**given)


def test_an_illegal_action_is_refused() -> None:
    """Without wrappers it is an error, which changes nothing; with them it ends the game and costs 1."""
    env = referee.learning.pettingzoo.raw_env("quincy")
    env.reset(seed=1)
    before = env.episode.state
    illegal = int(np.flatnonzero(env.observe("player_0")["action_mask"] == 0)[0])
    with pytest.raises(BadRequest, match=f"action {illegal} of player_0 is not legal"):
        env.step(illegal)
    assert before is env.episode.state
    wrapped = referee.learning.pettingzoo.env("quincy")
    wrapped.reset(seed=1)
    wrapped.step(illegal)
    assert wrapped.rewards == {"player_0": -1, "player_1": 0}
    assert set(wrapped.terminations.values()) == {True}
