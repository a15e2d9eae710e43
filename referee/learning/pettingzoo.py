"""Games as environments of PettingZoo, to learn in: `referee.learning.pettingzoo.env("quincy")`.

This needs the referee's extra `pettingzoo`. `referee.learning` describes the arrays and the actions.
"""

from collections.abc import Mapping
from typing import Any

from . import encoding_of

try:
    from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

    from .environment import Environment, read_action
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
        game: name of the game.
        seats: number of players; None: the fewest that the game takes.
        options: the game's options as plain data; a missing option takes its default.
        max_cycles: number of turns after which a game is truncated; None: every game is played to its end.
        render_mode: `ansi`, `rgb_array`, `human`, or None for no pictures.

    Raises:
        BadRequest: there is no such environment.

    >>> raw_env("quincy").possible_agents
    ['player_0', 'player_1']
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

    Its arguments and errors are those of `raw_env`. An action that is no number at all raises BadRequest here as well.

    >>> game = env("quincy")
    >>> game.reset(seed=1)
    >>> game.agent_selection, game.observe("player_0")["observation"].shape
    ('player_0', (438,))
    """
    bare = raw_env(game, seats, options, max_cycles=max_cycles, render_mode=render_mode)
    return OrderEnforcingWrapper(_CheckedActions(TerminateIllegalWrapper(bare, illegal_reward=-1)))


# PettingZoo's wrapper for illegal actions looks the action up in the mask. A text would fail there with an IndexError
# of NumPy, and a negative number would be taken for an action at the other end of the mask. So this check comes before
# it.


class _CheckedActions(BaseWrapper):  # type: ignore[misc]  # the type checker does not look into PettingZoo
    """Passes actions on as plain numbers, and refuses what is no action."""

    def step(self, action: Any) -> None:
        """Let the agent that is to act choose a step.

        Raises:
            BadRequest: the action is no number of an action, or the agent is out and was given one.
        """
        super().step(read_action(self, action))
