"""A wrapper that reads actions before PettingZoo's own, which take what is no number for an index of arrays."""

from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper

from .environment import read_action


class GivenActionsWrapper(BaseWrapper):  # type: ignore[misc]  # PettingZoo is not looked into by the type checker
    """Lets numbers of actions through as plain ones."""

    def step(self, action: Any) -> None:
        """Let the agent that is to act choose a step.

        Raises:
            BadRequest: it is no number of an action, or the agent is out and was given one.
        """
        super().step(read_action(self, action))
