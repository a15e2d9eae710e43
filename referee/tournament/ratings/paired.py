"""How much of the points one of two players makes, and how sure that is, where each deal was played from both seats.

The two matches of a deal are no independent results: who gets a good hand in both seats of it, gets it once. So the
interval rests on how the pairs of matches vary, not on the matches.

Source: E. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, Journal of the American
Statistical Association 22 (1927), for the interval; it is made for shares of successes, which vary more than the means
of pairs do, so the number of pairs counts as many times as that. A fifth of a pair is added to each outcome for that
comparison, so that equal results don't count as certainty.
"""

from collections.abc import Sequence
from math import inf, log10, sqrt
from typing import NamedTuple

from .elo import NORMAL_95

_ADDED = 0.2


class Estimate(NamedTuple):
    """A number that was estimated, and where it lies with 95 %."""

    value: float
    """The estimate."""
    low: float
    """The lower end of the interval."""
    high: float
    """Its upper end."""


def paired_score(counts: Sequence[int]) -> Estimate:
    """Estimate a player's share of the points.

    Args:
        counts: pairs in which it got 0, 1/2, 1, 3/2 and 2 points; at least one.
    """
    pairs, last = sum(counts), len(counts) - 1
    share = sum(index * count for index, count in enumerate(counts)) / last / pairs
    size = pairs * _steadiness(counts)
    square = NORMAL_95**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = NORMAL_95 * sqrt(share * (1 - share) / size + square / (4 * size**2)) / (1 + square / size)
    return Estimate(share, max(middle - half, 0.0), min(middle + half, 1.0))


def _steadiness(counts: Sequence[int]) -> float:
    """Return how many times less the pairs vary than single successes with the same mean would."""
    weights = [count + _ADDED for count in counts]
    total, last = sum(weights), len(weights) - 1
    mean = sum(weight * index / last for index, weight in enumerate(weights)) / total
    variance = sum(weight * (index / last - mean) ** 2 for index, weight in enumerate(weights)) / total
    return mean * (1 - mean) / variance


def as_elo(score: Estimate) -> Estimate:
    """Return a share of points as points of Elo by which a player is better; for all of them, infinitely many."""
    return Estimate(*map(_elo, score))


def _elo(share: float) -> float:
    if share <= 0:
        return -inf
    return inf if share >= 1 else 400 * log10(share / (1 - share))
