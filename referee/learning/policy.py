"""Makes a player, which receives views and returns moves, from a policy, which receives arrays and returns actions."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from ..chance import Dealer
from ..games.base import Step
from ..games.notation import to_plain
from .base import Encoding, Mask, Vector

T = TypeVar("T")
Policy = Callable[[Vector, Mask], int]
"""(observation, mask: 1 for each legal action, else 0) -> a legal action."""
_HIDDEN = Dealer(bytes(32))
"""Deals the cards and tiles that a view does not show. Neither observations nor legal actions depend on these."""


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
            # The player does not choose a legal action instead: that would hide a policy that ignores its mask, and so
            # was not trained as its author believes.
            if action not in legal:
                raise ValueError(f"the policy chose action {action}, which its mask does not allow")
            chosen = (*chosen, legal[action])
        return to_plain(move)

    choose.__name__ = getattr(policy, "__name__", type(policy).__name__)  # this becomes the player's name
    return choose
