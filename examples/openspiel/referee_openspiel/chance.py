"""Turns the referee's shuffle into the outcomes of the library's chance nodes."""

from collections.abc import Sequence
from math import factorial

from referee.games.base import Shuffle

_ITEMS = 20
_ORDERS = factorial(_ITEMS)


def draw_outcome(outcomes: Sequence[tuple[int, float]], shuffle: Shuffle, number: int) -> int:
    """Draw one outcome of a chance node.

    The referee offers chance only in the form of shuffles. A shuffle of twenty items is one of 20! (2.4e18) orders, all
    equally likely; its rank among them is a uniform number, far finer than any probability in a game.

    Args:
        outcomes: (action, probability) of each outcome; the probabilities sum to 1.
        shuffle: the match's shuffle.
        number: number of this chance node in the match, from 1. Each chance node has its own shuffle.

    Returns:
        The action of the outcome.
    """
    rest = list(range(_ITEMS))
    rank = 0
    for item in shuffle.later(number)(rest):
        at = rest.index(item)
        rank = rank * len(rest) + at
        del rest[at]
    share = rank / _ORDERS
    for action, probability in outcomes:
        share -= probability
        if share < 0:
            return action
    return outcomes[-1][0]  # the sum of the probabilities is a tiny bit less than 1
