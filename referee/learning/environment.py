"""A game as an environment of PettingZoo, whose agents act one after the other."""

import operator
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv

from ..chance import SEED_BYTES, Dealer
from ..errors import BadRequest
from ..games.arguments import describe, read_whole
from ..games.base import Outcome, Step
from .base import LIMIT, Encoding
from .rendering import PictureWindow, as_pixels, as_text

# PettingZoo has two interfaces: all agents act at once (`ParallelEnv`), or one after the other (AEC). These games have
# turns, so this is the second one. A move of several steps is several actions in a row of the same agent:
# `agent_selection` stays until the move is whole, and only then is the move played. The position changes with whole
# moves alone, as in a match.
RENDER_MODES = ("ansi", "rgb_array", "human")
_NO_RESET = "no game is played now: call reset() first"


class Environment(AECEnv):  # type: ignore[misc]  # PettingZoo is not looked into by the type checker
    """One game after the other between the same players; `player_0` is the seat that begins.

    Args:
        encoding: encoding of the game, its options and its number of seats.
        max_cycles: number of turns of a player after which a game is truncated; None: it is played to its end.
        render_mode: `ansi`, `rgb_array`, `human`, or None for no pictures.
    """

    def __init__(self, encoding: Encoding, max_cycles: int | None, render_mode: str | None) -> None:
        super().__init__()
        if render_mode not in (None, *RENDER_MODES):
            raise BadRequest(f"render_mode is {', '.join(RENDER_MODES)} or None, not {render_mode!r}")
        if max_cycles is not None:
            max_cycles = read_whole("max_cycles", max_cycles, 1)
        self.encoding, self.max_cycles, self.render_mode = encoding, max_cycles, render_mode
        self.metadata = {"name": f"{encoding.game}_v0", "render_modes": [*RENDER_MODES], "render_fps": 2}
        self.possible_agents = [f"player_{seat}" for seat in range(encoding.seats)]
        self.agents: list[str] = []
        box = Box(-LIMIT, LIMIT, (encoding.length,), np.float32)
        mask = Box(0, 1, (encoding.actions,), np.int8)
        self.observation_spaces = {
            agent: Dict({"observation": box, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: Discrete(encoding.actions) for agent in self.possible_agents}
        self._random = np.random.default_rng()
        self._window = PictureWindow(encoding.rules.title)
        self._chosen: tuple[Step, ...] = ()
        self._legal: dict[int, Step] = {}

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
            BadRequest: the seed is no whole number from 0 up.
        """
        if seed is not None:
            self._random = np.random.default_rng(read_whole("seed", seed, 0))
        encoding = self.encoding
        # The dealer is that of real matches; only its seed comes from NumPy. So the deals have the same distribution
        # here and there.
        self.state_of_game = encoding.rules.new(
            encoding.options, encoding.seats, Dealer(self._random.bytes(SEED_BYTES))
        )
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._turns = [0] * encoding.seats
        """Turns by seat that are over."""
        self._ask(())
        self._draw()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent observes, and its actions: none if it is not its turn.

        Raises:
            BadRequest: there is no such agent, or `reset` was not called.
        """
        if agent not in self.possible_agents:
            raise BadRequest(f"there is no agent {describe(agent)}; there are {', '.join(self.possible_agents)}")
        if not hasattr(self, "agent_selection"):
            raise BadRequest(_NO_RESET)
        encoding, seat = self.encoding, self.possible_agents.index(agent)
        # The legal steps are those of the agent whose turn it is. A mask for another agent would show it that agent's
        # hand.
        is_to_act = agent == self.agent_selection and agent in self.agents
        observed = encoding.observation(self.state_of_game, seat, self._chosen if is_to_act else ())
        return {"observation": observed, "action_mask": encoding.mask(self._legal if is_to_act else ())}

    def step(self, action: Any) -> None:
        """Let the agent whose turn it is choose a step; as soon as a move is complete, it is played.

        Raises:
            BadRequest: it is no action, or is not legal.
        """
        number = read_action(self, action)
        agent = self.agent_selection
        if number is None:
            self._was_dead_step(None)
            return
        step = self._legal.get(number)
        if step is None:
            raise BadRequest(f"action {number} of {agent} is not legal now; the action mask tells which are")
        chosen = (*self._chosen, step)
        move = self.encoding.rules.move_of(chosen)
        if move is None:
            self._ask(chosen)
        else:
            self._play(move)
        self._draw()

    def render(self) -> Any:
        """Return the position as text (`ansi`) or pixels (`rgb_array`), or show it in a window (`human`)."""
        rules = self.encoding.rules
        if self.render_mode == "ansi":
            return as_text(rules.draw_text(self.state_of_game))
        if self.render_mode == "rgb_array":
            return as_pixels(rules.draw_svg(self.state_of_game))
        if self.render_mode == "human":
            self._window.show(rules.draw_svg(self.state_of_game))
        return None

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def _draw(self) -> None:
        """Show the position if there is a window."""
        if self.render_mode == "human":
            self.render()

    def _ask(self, chosen: tuple[Step, ...]) -> None:
        """Set the agent whose turn it is, and its legal steps."""
        rules, state = self.encoding.rules, self.state_of_game
        if not chosen:
            self.agent_selection = self.possible_agents[rules.to_move(state)]
        self._chosen, self._legal = chosen, self.encoding.legal(state, chosen)

    def _play(self, move: Any) -> None:
        """Play a complete move, and ask the next agent, or end the game."""
        rules = self.encoding.rules
        self.state_of_game = state = rules.deliver(rules.play(self.state_of_game, move))
        outcome = rules.outcome(state)
        if outcome is not None:
            self.terminations = dict.fromkeys(self.agents, True)
            self.rewards = {f"player_{seat}": reward for seat, reward in rewards(outcome, self._teams()).items()}
            self._accumulate_rewards()
            self._chosen, self._legal = (), {}
            return
        self._turns[self.possible_agents.index(self.agent_selection)] += not rules.is_same_turn(state)
        self._ask(())
        if self._turns[rules.to_move(state)] == self.max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)

    def _teams(self) -> tuple[tuple[int, ...], ...]:
        return self.encoding.rules.teams(self.encoding.options, self.encoding.seats)


def read_action(env: Any, action: Any) -> int | None:
    """Return an action as a number; numbers of NumPy and arrays of one number are accepted, too.

    Args:
        env: the environment, or a wrapper of it.
        action: the argument of `step`.

    Returns:
        None for an agent that is out, whose only action is None.

    Raises:
        BadRequest: `reset` was not called, or this is no action of the agent whose turn it is.
    """
    agents = env.unwrapped.agents
    if not agents:
        raise BadRequest(_NO_RESET)
    agent = env.unwrapped.agent_selection
    if env.unwrapped.terminations[agent] or env.unwrapped.truncations[agent]:
        if action is None:
            return None
        raise BadRequest(f"the game is over for {agent}: its only action is None, not {describe(action)}")
    count = env.unwrapped.encoding.actions
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.item()
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < count:
        raise BadRequest(f"an action of {agent} is a number from 0 to {count - 1}, not {describe(action)}")
    return number


def rewards(outcome: Outcome, teams: tuple[tuple[int, ...], ...]) -> dict[int, float]:
    """Return by seat the reward at the end: the share of opponents ranked behind it minus the share ranked before it.

    Args:
        outcome: outcome of the game.
        teams: seats that win and lose together.
    """
    rank = {seat: number for number, group in enumerate(outcome.ranking) for seat in group}
    team = {seat: number for number, group in enumerate(teams) for seat in group}
    by_seat = {}
    for seat, own_rank in rank.items():
        others = [rank[other] for other in rank if other != seat and team.get(other, other) != team.get(seat, seat)]
        ahead = sum(other > own_rank for other in others) - sum(other < own_rank for other in others)
        by_seat[seat] = ahead / len(others) if others else 0.0
    return by_seat
