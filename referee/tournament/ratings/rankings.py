"""How likely rankings of tables are, given strengths.

Of the entrants that have no place yet, each takes the next one with a chance in proportion to the exponential of its
strength. Those that share a place count as one draw that went to all of them in equal parts: for two seats a draw is
half a win, as it is for Elo.

Source: R. Plackett, The Analysis of Permutations, Applied Statistics 24 (1975); R. Luce, Individual Choice Behavior
(1959). That its logarithm is concave: D. Hunter, MM Algorithms for Generalized Bradley-Terry Models, The Annals of
Statistics 32 (2004).
"""

from collections.abc import Mapping
from itertools import accumulate
from math import exp, log
from typing import NamedTuple

from .cholesky import Matrix, Vector
from .likelihood import Prior


class Ranking(NamedTuple):
    """What one table tells."""

    groups: tuple[tuple[int, ...], ...]
    """Entrants from best to worst; those that share a place together."""
    is_last_told: bool = False
    """Whether the last group is one that shares a place, and not merely what is left over."""


class Rankings:
    """The likelihood of rankings, together with a prior.

    Args:
        counts: how often each ranking came about.
        prior: of the strengths.
    """

    def __init__(self, counts: Mapping[Ranking, int], prior: Prior) -> None:
        self._counts = counts
        self._prior = prior

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior, but for a constant."""
        weights = list(map(exp, strengths))
        total = self._prior.value(strengths)
        for ranking, times in self._counts.items():
            for group, left in _draws(ranking, weights):
                total += times * (sum(strengths[entrant] for entrant in group) / len(group) - log(left))
        return total

    def gradient(self, strengths: Vector) -> Vector:
        """Return how much more each entrant has got than expected, less the pull of the prior."""
        weights = list(map(exp, strengths))
        slope = self._prior.slope(strengths)
        for ranking, times in self._counts.items():
            draws = _draws(ranking, weights)
            for group, _ in draws:
                for entrant in group:
                    slope[entrant] += times / len(group)
            for group, expected in zip(ranking.groups, _taken_part(draws, len(ranking.groups), 1), strict=True):
                for entrant in group:
                    slope[entrant] -= times * weights[entrant] * expected
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of rankings and prior."""
        weights = list(map(exp, strengths))
        matrix = self._prior.matrix()
        for ranking, times in self._counts.items():
            draws, size = _draws(ranking, weights), len(ranking.groups)
            behind: list[int] = []
            once, twice = _taken_part(draws, size, 1), _taken_part(draws, size, 2)
            # Two entrants were in all draws together in which the better one was: the better ones' sums are needed.
            for group, alone, both in zip(reversed(ranking.groups), reversed(once), reversed(twice), strict=True):
                behind += group
                for entrant in group:
                    matrix[entrant][entrant] += times * weights[entrant] * alone
                    part = times * weights[entrant] * both
                    for other in behind:
                        shared = part * weights[other]
                        matrix[entrant][other] -= shared
                        if other not in group:
                            matrix[other][entrant] -= shared
        return matrix


def _draws(ranking: Ranking, weights: Vector) -> list[tuple[tuple[int, ...], float]]:
    """Return who took each place, and the weights of all that could have; the last place only if it was shared."""
    groups = ranking.groups
    left = list(accumulate(sum(weights[entrant] for entrant in group) for group in reversed(groups)))[::-1]
    told = len(groups) if ranking.is_last_told else len(groups) - 1
    return list(zip(groups[:told], left[:told], strict=True))


def _taken_part(draws: list[tuple[tuple[int, ...], float]], groups: int, power: int) -> list[float]:
    """Return by group the sum, over the draws it took part in, of one over the weights that were left, to a power."""
    sums = list(accumulate(left**-power for _, left in draws))
    return sums if len(sums) == groups else [*sums, sums[-1] if sums else 0.0]
