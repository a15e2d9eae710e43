"""A policy, which chooses among actions by what it observes, as a player that is given views and returns moves."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ..chance import Dealer
from ..games.base import Step
from .base import Encoding, Mask, Vector

T = TypeVar("T")
Policy = Callable[[Vector, Mask], int]
"""(observation, which actions are legal: 1 or 0 each) -> a legal action."""
_HIDDEN = Dealer(bytes(32))
"""Deals what a view does not show; what its seat observes and may do does not depend on it."""


def chooser(encoding: Encoding, policy: Policy) -> Callable[[Any], Any]:
    """Return what chooses the moves of a match: from a plain view to a plain move.

    Args:
        encoding: of the match's game, options and number of seats.
        policy: is asked once for each step of a move.
    """
    rules = encoding.rules

    def choose(plain: Any) -> Any:
        """Return the move that the policy plays."""
        view: Any = msgspec.convert(plain, rules.view_type)
        state = rules.imagine(encoding.options, view, _HIDDEN)
        chosen: tuple[Step, ...] = ()
        while (move := rules.move_of(chosen)) is None:
            legal = encoding.legal(state, chosen)
            action = int(policy(encoding.observation(state, view.seat, chosen), encoding.mask(legal)))
            if action not in legal:
                raise ValueError(f"the policy chose action {action}, which its mask does not allow")
            chosen = (*chosen, legal[action])
        return msgspec.to_builtins(move)

    choose.__name__ = getattr(policy, "__name__", type(policy).__name__)  # a player in this process is called so
    return choose
