"""Games as environments of PettingZoo, to learn in: `referee.learning.pettingzoo.env("quincy")`.

This needs the referee's extra `pettingzoo`. `referee.learning` describes the arrays and the actions.
"""

from collections.abc import Mapping
from typing import Any

from ..chance import SEED_BYTES
from ..errors import BadRequest
from ..games.arguments import describe, read_whole
from . import encoding_of
from .base import LIMIT, Encoding
from .episode import Episode, RewardKind, read_cycles, read_rewards

try:
    import numpy as np
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

    from .rendering import RENDER_MODES, Renderer
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing}; install the extra, in a checkout of the referee: pip install '.[pettingzoo]'", name=missing.name
    ) from None

__all__ = ["Environment", "env", "raw_env"]

_NO_RESET = "no game is played now: call reset() first"


# PettingZoo has two interfaces: all agents act at once (`ParallelEnv`), or one after the other (`AECEnv`). These games
# have turns, so this is the second one.
class Environment(AECEnv):  # type: ignore[misc]  # the type checker does not look into PettingZoo
    """One game after the other between the same players; `player_0` is the seat that begins.

    Args:
        encoding: encoding of the game, its options and its number of seats.
        max_cycles: number of turns of a player after which a game is truncated; None: it is played to its end.
        rewards: `outcome` or `points`.
        render_mode: `ansi`, `rgb_array`, `human`, or None for no pictures.
    """

    episode: Episode
    """The present game."""

    def __init__(
        self, encoding: Encoding, max_cycles: int | None, rewards: RewardKind, render_mode: str | None
    ) -> None:
        super().__init__()
        self.encoding, self.max_cycles = encoding, read_cycles(max_cycles)
        self.metadata = {"name": f"{encoding.game}_v0", "render_modes": [*RENDER_MODES], "render_fps": 2}
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(encoding.seats)]
        self.agents: list[str] = []
        box = Box(-LIMIT, LIMIT, (encoding.length,), np.float32)
        mask = Box(0, 1, (encoding.actions,), np.int8)
        self.observation_spaces = {
            agent: Dict({"observation": box, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(encoding.actions) for agent in self.possible_agents}
        self._kind = read_rewards(encoding, rewards)
        self._renderer = Renderer(encoding.rules, render_mode)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> Dict:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: makes this deal and the following ones reproducible; None: the deals of the last seed continue.
            options: none are known; the game's own options are given where the environment is made.

        Raises:
            BadRequest: the seed is not a whole number from 0 up.
        """
        if seed is not None:
            self._random = np.random.default_rng(read_whole("seed", seed, 0))
        self.episode = Episode(self.encoding, self._random.bytes(SEED_BYTES), self.max_cycles, self._kind)
        self.agents = list(self.possible_agents)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._take_over()
        self._renderer.follow(self.episode.state)

    def _take_over(self) -> None:
        """Copy the state of the game into the attributes that PettingZoo reads."""
        episode, agents = self.episode, self.agents
        self.agent_selection = self.possible_agents[episode.seat]
        self.rewards = dict(zip(agents, episode.rewards, strict=True))
        self.terminations = dict.fromkeys(agents, episode.outcome is not None)
        self.truncations = dict.fromkeys(agents, episode.is_truncated)

    def observe(self, agent: str) -> dict[str, Any]:
        """Return the observation of an agent, and the mask of its legal actions: all 0 if it is not its turn.

        Raises:
            BadRequest: there is no such agent, or `reset` was not called.
        """
        if agent not in self.possible_agents:
            raise BadRequest(f"there is no agent {describe(agent)}; there are {', '.join(self.possible_agents)}")
        if not hasattr(self, "episode"):
            raise BadRequest(_NO_RESET)
        seat = self.possible_agents.index(agent)
        return {"observation": self.episode.observe(seat), "action_mask": self.episode.mask(seat)}

    def step(self, action: Any) -> None:
        """Let the agent whose turn it is choose a step; as soon as a move is complete, it is played.

        Raises:
            BadRequest: it is not an action, or is not legal.
        """
        number, agent = read_action(self, action), self.agent_selection
        if number is None:
            self._was_dead_step(None)
            return
        if not self.episode.is_legal(number):
            raise BadRequest(f"action {number} of {agent} is not legal now; the action mask shows the legal ones")
        self._cumulative_rewards[agent] = 0.0
        self.episode.act(number)
        self._take_over()
        self._accumulate_rewards()
        self._renderer.follow(self.episode.state)

    def render(self) -> Any:
        """Return the position as text (`ansi`) or pixels (`rgb_array`), or show it in a window (`human`)."""
        return self._renderer.render(self.episode.state)

    def close(self) -> None:
        """Close the window."""
        self._renderer.close()


def raw_env(
    game: str,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    max_cycles: int | None = None,
    rewards: RewardKind = "outcome",
    render_mode: str | None = None,
) -> Environment:
    """Return the environment of a game without wrappers: an illegal action raises BadRequest.

    Args:
        game: name of the game.
        seats: number of players; None: the fewest that the game takes.
        options: the game's options as plain data; a missing option takes its default.
        max_cycles: number of turns after which a game is truncated; None: every game is played to its end.
        rewards: `outcome`: the ranking at the end, from -1 to 1. `points`: after every move, the gain of an agent minus
            the average gain of the others, in hundreds of points; only for games with points before their end.
        render_mode: `ansi`, `rgb_array`, `human`, or None for no pictures.

    Raises:
        BadRequest: there is no such environment.

    >>> raw_env("quincy").possible_agents
    ['player_0', 'player_1']
    """
    return Environment(encoding_of(game, seats, options), max_cycles, rewards, render_mode)


def env(
    game: str,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    max_cycles: int | None = None,
    rewards: RewardKind = "outcome",
    render_mode: str | None = None,
) -> Any:
    """Return the environment of a game with PettingZoo's usual wrappers: an illegal action ends the game and costs 1.

    Its arguments and errors are those of `raw_env`. An action that is not a number raises BadRequest here as well.

    >>> game = env("quincy")
    >>> game.reset(seed=1)
    >>> game.agent_selection, game.observe("player_0")["observation"].shape
    ('player_0', (438,))
    """
    bare = raw_env(game, seats, options, max_cycles=max_cycles, rewards=rewards, render_mode=render_mode)
    return OrderEnforcingWrapper(_CheckedActions(TerminateIllegalWrapper(bare, illegal_reward=-1)))


# PettingZoo's wrapper for illegal actions looks the action up in the mask. There, a text would raise an IndexError of
# NumPy, and a negative number would count from the end of the mask. So this wrapper checks actions first.


class _CheckedActions(BaseWrapper):  # type: ignore[misc]  # the type checker does not look into PettingZoo
    """Passes actions on as plain numbers, and refuses all other values."""

    def step(self, action: Any) -> None:
        """Let the agent that is to act choose a step.

        Raises:
            BadRequest: this is not the number of an action, or the agent is out and was given an action.
        """
        super().step(read_action(self, action))


def read_action(env: Any, action: Any) -> int | None:
    """Return the action of the agent whose turn it is; None for an agent that is out, whose only action is None.

    Args:
        env: the environment, or a wrapper of it.
        action: the argument of `step`.

    Raises:
        BadRequest: `reset` was not called, or this is not an action of the agent.
    """
    bare: Environment = env.unwrapped
    if not bare.agents:
        raise BadRequest(_NO_RESET)
    agent = bare.agent_selection
    if bare.terminations[agent] or bare.truncations[agent]:
        if action is None:
            return None
        raise BadRequest(f"the game is over for {agent}: its only action is None, not {describe(action)}")
    return bare.encoding.read_action(action, f"an action of {agent}")
