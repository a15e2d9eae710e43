"""Games as environments of Gymnasium: one player learns, and the others are fixed opponents.

    import gymnasium
    import referee.learning.gymnasium

    env = gymnasium.make("referee/Quincy-v0", opponents=["house:greedy"])

Importing this module registers the environments. It needs the referee's extra `pettingzoo`, which brings Gymnasium.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ..chance import SEED_BYTES
from ..errors import BadMove, BadRequest
from ..games.arguments import describe, read_list, read_whole
from ..games.notation import to_plain
from ..plugins import installed
from . import encoding_of
from .base import LIMIT, Mask, Vector
from .episode import Episode, RewardKind, read_cycles, read_rewards

try:
    import gymnasium
    import numpy as np
    from gymnasium.spaces import Box, Discrete

    from .rendering import RENDER_MODES, Renderer
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing}; install the extra, in a checkout of the referee: pip install '.[pettingzoo]'", name=missing.name
    ) from None

__all__ = ["ENVIRONMENTS", "Environment"]

ENVIRONMENTS = {
    "q": "referee/Q-v0",
    "quincy": "referee/Quincy-v0",
    "quincala": "referee/Quincala-v0",
    "quadominos": "referee/QuadOminos-v0",
}
"""Name of a game -> id of its environment in Gymnasium's registry."""
Choose = Callable[[Any], Any]
Opponent = Choose | str
"""A function from a view to a move, or `house:NAME`."""


class Environment(gymnasium.Env):  # type: ignore[misc]  # the type checker does not look into Gymnasium
    """One game after the other against the same opponents, seen from one seat.

    An observation is an array. `action_masks()` and `info["action_mask"]` say which actions are legal. An illegal
    action ends the game, and its reward is -1.

    Args:
        game: name of the game.
        opponents: the other players in the order of their turns after this one, each a function from a view to a move,
            or `house:NAME`; None: as many `house:random` as the smallest number of players needs.
        seat: the seat that learns; None: it is drawn for each game.
        options: the game's options as plain data; a missing option takes its default.
        max_cycles: number of turns of a player after which a game is truncated; None: every game is played to its end.
        rewards: `outcome`: the ranking at the end, from -1 to 1. `points`: after every action, the gain of this seat
            minus the average gain of the others, in hundreds of points; only for games with points before their end.
        render_mode: `ansi`, `rgb_array`, `human`, or None for no pictures.

    Raises:
        BadRequest: there is no such environment, or an opponent does not play the game.

    >>> env = gymnasium.make("referee/Quincy-v0", opponents=["house:random"])
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, int(info["action_mask"].sum())
    ((438,), 25)
    >>> action = env.action_space.sample(info["action_mask"])
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, terminated
    (0.0, False)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [*RENDER_MODES], "render_fps": 2}

    def __init__(
        self,
        game: str,
        opponents: Sequence[Opponent] | None = None,
        *,
        seat: int | None = None,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
        rewards: RewardKind = "outcome",
        render_mode: str | None = None,
    ) -> None:
        others = None if opponents is None else read_list("opponents", opponents, "a list of players")
        self.encoding = encoding_of(game, None if others is None else len(others) + 1, options)
        others = ["house:random"] * (self.encoding.seats - 1) if others is None else others
        self._begin_opponents = [_find_opponent(self.encoding.rules, opponent) for opponent in others]
        self._seat = None if seat is None else read_whole("seat", seat)
        if self._seat not in (None, *range(self.encoding.seats)):
            raise BadRequest(f"there are {self.encoding.seats} seats, numbered from 0; there is no seat {seat}")
        self._max_cycles, self._kind = read_cycles(max_cycles), read_rewards(self.encoding, rewards)
        self.render_mode = render_mode
        self.observation_space = Box(-LIMIT, LIMIT, (self.encoding.length,), np.float32)
        self.action_space = Discrete(self.encoding.actions)
        self._renderer = Renderer(self.encoding.rules, render_mode)
        self.episode: Episode | None = None
        self._is_over = True
        self.seat = self._seat or 0
        """The seat that learns in this game."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Vector, dict[str, Any]]:
        """Deal a new game, and let the opponents play until this seat is to act.

        Args:
            seed: makes this game and the following ones reproducible, if the opponents are; None: the games of the last
                seed continue.
            options: none are known; the game's own options are given where the environment is made.

        Returns:
            The observation, and the dict with `action_mask` and `seat`.
        """
        super().reset(seed=seed)
        self._is_over = True
        while self._is_over:  # a game may end before the first turn of this seat; nothing can be learned from it
            self._deal()
        return self._observe()

    def _deal(self) -> None:
        rules, encoding = self.encoding.rules, self.encoding
        self.seat = int(self.np_random.integers(encoding.seats)) if self._seat is None else self._seat
        self.episode = episode = Episode(encoding, self.np_random.bytes(SEED_BYTES), self._max_cycles, self._kind)
        begun = [begin(rules, encoding.options, self.np_random.bytes(SEED_BYTES)) for begin in self._begin_opponents]
        seats = [(self.seat + number) % encoding.seats for number in range(1, encoding.seats)]
        self._opponents = dict(zip(seats, begun, strict=True))
        self._renderer.follow(episode.state)
        self._go_on(episode)

    def step(self, action: Any) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Choose an action; if that completes a move, let the opponents play until this seat is to act again.

        Returns:
            Observation, reward of this action and of the moves after it, whether the game has ended, whether it was
            truncated, and the dict with `action_mask` and `seat`.

        Raises:
            BadRequest: no game is being played, or this is not the number of an action.
        """
        episode, number = self.episode, self.encoding.read_action(action)
        if self._is_over or episode is None:
            raise BadRequest("no game is played now: call reset() first")
        if not episode.is_legal(number):
            self._is_over = True
            observation, info = self._observe()
            return observation, -1.0, True, False, info
        episode.act(number)
        reward = episode.rewards[self.seat] + self._go_on(episode)
        observation, info = self._observe()
        return observation, reward, episode.outcome is not None, episode.is_truncated, info

    def _go_on(self, episode: Episode) -> float:
        """Let the opponents play until this seat is to act or the game is over; return the rewards for that."""
        reward = 0.0
        while episode.seat != self.seat and not episode.is_over:
            self._move_opponent(episode)
            reward += episode.rewards[self.seat]
            self._renderer.follow(episode.state)
        self._is_over = episode.is_over
        return reward

    def _move_opponent(self, episode: Episode) -> None:
        """Let the opponent that is to act choose a move, and play it.

        Raises:
            BadRequest: its move is not legal.
        """
        rules, seat = self.encoding.rules, episode.seat
        move = self._opponents[seat](to_plain(rules.view(episode.state, seat)))
        try:
            episode.play(rules.parse_move(move))
        except BadMove as error:
            raise BadRequest(f"the opponent on seat {seat} has chosen an illegal move: {error}") from None

    def _observe(self) -> tuple[Vector, dict[str, Any]]:
        assert self.episode is not None
        mask = self.encoding.mask(()) if self._is_over else self.episode.mask(self.seat)
        return self.episode.observe(self.seat), {"action_mask": mask, "seat": self.seat}

    def action_masks(self) -> Mask:
        """Return 1 for each legal action and 0 for all others, in the form that MaskablePPO of sb3-contrib needs.

        >>> env = gymnasium.make("referee/Quincy-v0")
        >>> _, info = env.reset(seed=1)
        >>> bool((env.unwrapped.action_masks() == info["action_mask"]).all())
        True
        """
        mask: Mask = self._observe()[1]["action_mask"]
        return mask

    def render(self) -> Any:
        """Return the position as text (`ansi`) or pixels (`rgb_array`), or show it in a window (`human`)."""
        assert self.episode is not None
        return self._renderer.render(self.episode.state)

    def close(self) -> None:
        """Close the window."""
        self._renderer.close()


def _find_opponent(rules: Any, opponent: Opponent) -> Callable[[Any, Any, bytes], Choose]:
    """Return the factory of an opponent: (rules, options, seed) -> a function from a view to a move.

    Raises:
        BadRequest: it is not a player of this game.
    """
    if callable(opponent) and not isinstance(opponent, type):
        return lambda _rules, _options, _seed: opponent
    if not isinstance(opponent, str):
        raise BadRequest(f"an opponent is a function from a view to a move, or 'house:NAME', not {describe(opponent)}")
    return installed().player_of(rules.name, opponent).make


for _game, _id in ENVIRONMENTS.items():
    gymnasium.register(_id, entry_point=f"{__name__}:Environment", kwargs={"game": _game})
