"""Environments of Gymnasium: its own checks, given opponents, masks, rewards within the game, many at once."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import referee.learning.gymnasium
from referee.errors import BadRequest
from referee.learning.gymnasium import ENVIRONMENTS

ALL = pytest.mark.parametrize("game", ENVIRONMENTS)


def first_legal(view: Any) -> Any:
    """Play the first legal move of Quincy."""
    return referee.imagine("quincy", view).legal_moves()[0]


def play(env: Any, seed: int | None) -> Iterator[tuple[dict[str, Any], float, bool, bool]]:
    """Play one game at random; yield what each reset and step return, without the observation."""
    source = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    yield info, 0.0, False, False
    is_over = False
    while not is_over:
        _, reward, terminated, truncated, info = env.step(source.choice(np.flatnonzero(info["action_mask"])))
        is_over = terminated or truncated
        yield info, reward, terminated, truncated


@ALL
@pytest.mark.filterwarnings("error")
def test_gymnasium_finds_nothing(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its check of environments passes without a warning, pictures included."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    check_env(gymnasium.make(ENVIRONMENTS[game]).unwrapped)


@ALL
def test_every_game_is_played_to_its_end(game: str) -> None:
    """Only the end has a reward: -1, 0 or 1. There is always a legal action until the end, and none after it."""
    env = gymnasium.make(ENVIRONMENTS[game], opponents=["house:random"]).unwrapped
    seats = set()
    for seed in range(6):
        *before, (info, reward, terminated, truncated) = play(env, seed)
        assert {earlier[1] for earlier in before} == {0.0}
        assert all(earlier[0]["action_mask"].any() for earlier in before)
        assert (terminated, truncated, info["action_mask"].any()) == (True, False, False)
        assert reward in (-1.0, 0.0, 1.0)
        seats.add(info["seat"])
    assert seats == {0, 1}


@ALL
def test_the_mask_is_there_in_both_forms(game: str) -> None:
    """`action_masks`, which MaskablePPO calls through wrappers, returns one number for each action."""
    env = gymnasium.make(ENVIRONMENTS[game])
    _, info = env.reset(seed=2)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.shape == (env.unwrapped.encoding.actions,)
    assert (mask == info["action_mask"]).all()
    assert 0 < mask.sum() < mask.size
    assert env.action_space.sample(mask) in np.flatnonzero(mask)


@pytest.mark.parametrize("game", ["q", "quadominos"])
def test_points_are_rewarded_as_they_are_made(game: str) -> None:
    """The rewards of a game add up to the points that the seat has more than the other, in hundreds."""
    env = gymnasium.make(ENVIRONMENTS[game], rewards="points", seat=1).unwrapped
    seen = list(play(env, 4))
    assert sum(reward != 0 for _, reward, _, _ in seen) > 1
    own, other = env.episode.state.scores[1], env.episode.state.scores[0]
    # A game may begin with moves of the other seat, whose points come before the first action.
    env.reset(seed=4)
    first = env.episode.state.scores
    assert sum(reward for _, reward, _, _ in seen) == pytest.approx((own - other - first[1] + first[0]) / 100)


def test_points_need_points() -> None:
    """For a game without points before its end, there is an error."""
    for game in ("quincy", "quincala"):
        with pytest.raises(BadRequest, match="has no points before its end, so its rewards are 'outcome'"):
            gymnasium.make(ENVIRONMENTS[game], rewards="points")


def test_opponents_are_functions_and_house_players() -> None:
    """Opponents sit after the seat that learns, in their order; three opponents make a game of four."""
    views = []

    def watcher(view: Any) -> Any:
        views.append(view["seat"])
        return first_legal(view)

    env = gymnasium.make("referee/Quincy-v0", opponents=["house:greedy", watcher, "house:random"], seat=3).unwrapped
    for _ in play(env, 1):
        pass
    assert set(views) == {1}
    assert env.encoding.seats == 4


def test_a_strong_opponent_wins_more_often() -> None:
    """Random play loses to greedy in most games of Quincy, and has about half of the points against itself."""
    totals = {}
    for name in ("greedy", "random"):
        env = gymnasium.make("referee/Quincy-v0", opponents=[f"house:{name}"]).unwrapped
        totals[name] = sum(reward for seed in range(40) for _, reward, _, _ in play(env, seed))
    assert totals["greedy"] < -25
    assert abs(totals["random"]) < 20


def test_the_same_seed_is_the_same_game() -> None:
    """Deals, seats and the choices of house players follow from the seed; later games with it differ."""
    env = gymnasium.make("referee/Quincy-v0", opponents=["house:random"]).unwrapped
    games = [[(info["seat"], info["action_mask"].tobytes()) for info, *_ in play(env, seed)] for seed in (5, 5, 6)]
    assert games[0] == games[1] != games[2]


def test_an_illegal_action_ends_the_game() -> None:
    """It costs 1; then the environment wants a reset."""
    env = gymnasium.make("referee/Quincy-v0").unwrapped
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated, info["action_mask"].any()) == (-1.0, True, False, False)
    with pytest.raises(BadRequest, match=r"call reset\(\) first"):
        env.step(0)


def test_a_game_is_truncated() -> None:
    """After a number of turns of a player the game is over, without a reward."""
    env = gymnasium.make("referee/QuadOminos-v0", max_cycles=3).unwrapped
    *_, (_, reward, terminated, truncated) = play(env, 1)
    assert (reward, terminated, truncated) == (0.0, False, True)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_gymnasium_makes_vectors(mode: str) -> None:
    """Its own vector environments play several games at once, in this process or in others."""
    many = gymnasium.make_vec(
        "referee/Quincy-v0", num_envs=2, vectorization_mode=mode, opponents=[first_legal], max_cycles=4
    )
    observed, info = many.reset(seed=1)
    assert observed.shape == (2, 438)
    ends = 0
    for _ in range(20):
        actions = [int(np.argmax(mask)) for mask in many.call("action_masks")]
        observed, _, terminated, truncated, info = many.step(np.array(actions))
        assert info["action_mask"].shape == (2, 604)
        ends += int(terminated.sum() + truncated.sum())
    many.close()
    assert ends > 1


def passing(_view: Any) -> Any:
    """Return something that is not a move of Quincy."""
    return {"action": "pass"}


MISTAKES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"opponents": ["house:gready"]}, 'did you mean "house:greedy"'),
    ({"opponents": ["house:dag"]}, "no house player 'dag' of quincy"),
    ({"opponents": [3]}, "a function from a view to a move, or 'house:NAME', not 3"),
    ({"opponents": "house:random"}, "opponents is a list of players, not 'house:random'"),
    ({"opponents": ["house:random"] * 2}, "2 or 4 players, not 3"),
    ({"seat": 2}, "there is no seat 2"),
    ({"max_cycles": 0}, "max_cycles is at least 1"),
    ({"rewards": "money"}, "rewards is 'outcome' or 'points', not 'money'"),
    ({"options": {"x": 1}}, "options of quincy"),
)


@pytest.mark.parametrize(("given", "says"), MISTAKES)
def test_a_mistake_is_named(given: dict[str, Any], says: str) -> None:
    """The error about an impossible environment says what is possible."""
    with pytest.raises(BadRequest, match=says):
        gymnasium.make("referee/Quincy-v0", **given)


def test_an_opponent_that_plays_illegally_is_named() -> None:
    """It is a mistake of its author, and no win for the learner."""
    env = gymnasium.make("referee/Quincy-v0", opponents=[passing], seat=1)
    with pytest.raises(BadRequest, match="the opponent on seat 0 has chosen an illegal move"):
        env.reset(seed=1)
