"""Climbs to where results are likeliest, by Newton's method."""

from typing import Protocol

from .cholesky import Matrix, Vector, dot, factor, solve

_STEPS = 100
_SMALL = 1e-10
_FARTHEST = 10.0
"""Of one step: farther off, an exponential may overflow, and what the slope says from here is not true there."""


class Likelihood(Protocol):
    """How likely results are, as strictly concave a function of the strengths as a normal prior makes it."""

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior, but for a constant."""

    def gradient(self, strengths: Vector) -> Vector:
        """Return its slope, by entrant."""

    def information(self, strengths: Vector) -> Matrix:
        """Return how much it bends: its second derivatives with the sign turned."""


def most_likely(size: int, likelihood: Likelihood) -> Vector:
    """Return the strengths under which results are likeliest.

    The pull of the prior adds up to nothing over entrants that are connected: their mean is 0 by itself.

    Args:
        size: of the field.
        likelihood: of the results.
    """
    strengths = [0.0] * size
    value = likelihood.value(strengths)
    for _ in range(_STEPS):
        step = _capped(solve(factor(likelihood.information(strengths)), likelihood.gradient(strengths)))
        nearer = [x + y for x, y in zip(strengths, step, strict=True)]
        # A whole step can go too far where nearly everything was won; half of one, often enough, cannot.
        while (gained := likelihood.value(nearer)) < value and max(map(abs, step)) > _SMALL:
            step = [y / 2 for y in step]
            nearer = [x + y for x, y in zip(strengths, step, strict=True)]
        strengths, value = nearer, gained
        if max(map(abs, step), default=0.0) <= _SMALL:
            break
    return strengths


def _capped(step: Vector) -> Vector:
    """Return a step in the same direction that changes nothing by more than the farthest."""
    longest = max(map(abs, step), default=0.0)
    return step if longest <= _FARTHEST else [y * _FARTHEST / longest for y in step]


def prior_value(precision: float, strengths: Vector) -> float:
    """Return the logarithm of a normal prior around 0, but for a constant."""
    return -precision / 2 * dot(strengths, strengths)


def prior_matrix(precision: float, size: int) -> Matrix:
    """Return the information of a normal prior."""
    return [[precision * (row == column) for column in range(size)] for row in range(size)]
