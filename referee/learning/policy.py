"""A policy, which chooses among actions by what it observes, as a player that receives views and returns moves."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ..chance import Dealer
from ..games.base import Step
from ..games.notation import to_plain
from .base import Encoding, Mask, Vector

T = TypeVar("T")
Policy = Callable[[Vector, Mask], int]
"""(observation, mask of the legal actions: 1 or 0 each) -> a legal action."""
_HIDDEN = Dealer(bytes(32))
"""Deals what a view does not show. Neither the observation nor the legal actions of the seat depend on it."""


def chooser(encoding: Encoding, policy: Policy) -> Callable[[Any], Any]:
    """Return a player: a function from a plain view to a plain move, whose steps a policy chooses.

    Args:
        encoding: encoding of the match's game, options and number of seats.
        policy: called once for each step of a move.

    >>> first = chooser(referee.learning.encoding_of("quincy"), lambda observation, mask: mask.argmax())
    >>> first(match.turns[0].view)
    {'action': 'add', 'domino': [0, 0], 'square': [1, 1]}
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
            # No legal action is chosen instead: a policy that ignores its mask is not trained as its author believes,
            # and a silent repair would hide that.
            if action not in legal:
                raise ValueError(f"the policy chose action {action}, which its mask does not allow")
            chosen = (*chosen, legal[action])
        return to_plain(move)

    choose.__name__ = getattr(policy, "__name__", type(policy).__name__)  # a player in this process is called so
    return choose
