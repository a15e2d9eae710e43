"""Games as environments of PettingZoo, to learn in: `referee.learning.pettingzoo.env("quincy")`.

Needs the extra `pettingzoo` of the referee. What the arrays and actions mean is told by `referee.learning`.
"""

from collections.abc import Mapping
from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper

from . import encoding_of
from .environment import read_action


class GivenActionsWrapper(BaseWrapper):  # type: ignore[misc]  # PettingZoo is not looked into by the type checker
    """Lets numbers of actions through as plain ones."""

    def step(self, action: Any) -> None:
        """Let the agent that is to act choose a step.

        Raises:
            BadRequest: it is no number of an action, or the agent is out and was given one.
        """
        super().step(read_action(self, action))


try:
    from pettingzoo.utils.wrappers import OrderEnforcingWrapper, TerminateIllegalWrapper

    from .environment import Environment
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"{missing}; install the extra, in a checkout of the referee: pip install '.[pettingzoo]'", name=missing.name
    ) from None

__all__ = ["Environment", "env", "raw_env"]


def raw_env(
    game: str,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    max_cycles: int | None = None,
    render_mode: str | None = None,
) -> Environment:
    """Return the environment of a game without wrappers: an illegal action raises BadRequest.

    Args:
        game: its name.
        seats: how many players; by default the fewest that it can be played by.
        options: the game's options, plain; what is missing takes its default.
        max_cycles: a game is truncated before a player's turn after so many; by default it is played to its end.
        render_mode: `ansi`, `rgb_array` or `human`.

    Raises:
        BadRequest: there is no such environment.
    """
    return Environment(encoding_of(game, seats, options), max_cycles, render_mode)


def env(
    game: str,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    max_cycles: int | None = None,
    render_mode: str | None = None,
) -> Any:
    """Return the environment of a game with PettingZoo's usual wrappers: an illegal action ends the game and costs 1.

    Its arguments and errors are those of `raw_env`. What is no number of an action at all raises BadRequest here, too.
    """
    bare = raw_env(game, seats, options, max_cycles=max_cycles, render_mode=render_mode)
    return OrderEnforcingWrapper(GivenActionsWrapper(TerminateIllegalWrapper(bare, illegal_reward=-1)))
