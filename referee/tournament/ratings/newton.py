"""Newton's method for ratings: finds the strengths under which the results are likeliest.

This module also has the prior distribution of strengths (`Prior`). Ratings and their intervals are in `elo.py` for two
seats, and in `multi_seat.py` for more.
"""

# Why not numpy? Its import would cost every command a tenth of a second. The matrices are small: for a field of two
# hundred entrants, plain Python solves them in a fraction of a second.

from collections.abc import Mapping, Sequence
from math import sqrt
from operator import mul
from typing import Protocol

# --- Symmetric positive definite matrices: solving and inverting


Vector = list[float]
Matrix = list[Vector]
"""Rows of equal length, indexed [row][column]."""


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the sum of products; the longer sequence is cut to the length of the shorter one."""
    return sum(map(mul, one, other), 0.0)


def factor(matrix: Matrix) -> Matrix:
    """Return the lower triangle L with L times its transpose equal to the matrix.

    Args:
        matrix: symmetric and positive definite; only its lower triangle is read.

    Returns:
        Rows of 1, 2, 3... numbers.

    Raises:
        ValueError: the matrix is not positive definite.

    Source: A.-L. Cholesky, in the row by row form of G. Golub and C. Van Loan, Matrix Computations, 4.2.
    """
    lower: Matrix = []
    for i, given in enumerate(matrix):
        row: Vector = []
        for j, above in enumerate(lower):
            row.append((given[j] - dot(row, above)) / above[j])
        row.append(sqrt(given[i] - dot(row, row)))
        lower.append(row)
    return lower


def solve(lower: Matrix, right: Vector) -> Vector:
    """Return x with L times its transpose times x equal to the right side."""
    half = _forward(lower, right)
    solution = [0.0] * len(half)
    for i in range(len(half) - 1, -1, -1):
        solution[i] = half[i] / lower[i][i]
        for j in range(i):
            half[j] -= lower[i][j] * solution[i]
    return solution


def inverse(lower: Matrix) -> Matrix:
    """Return the inverse of L times its transpose."""
    size = len(lower)
    columns = [_forward(lower, [float(i == j) for j in range(size)]) for i in range(size)]
    return [[dot(row, other) for other in columns] for row in columns]


def _forward(lower: Matrix, right: Vector) -> Vector:
    """Return x with L times x equal to the right side."""
    solution: Vector = []
    for row, value in zip(lower, right, strict=True):
        solution.append((value - dot(row, solution)) / row[-1])
    return solution


# --- Newton's method


_STEPS = 100
_SMALL = 1e-10
_FARTHEST = 10.0
"""Largest change in one step. After a larger step an exponential could overflow, and the slope would not hold."""


class Likelihood(Protocol):
    """The likelihood of results times a normal prior. Its logarithm is a strictly concave function of the strengths."""

    def value(self, strengths: Vector) -> float:
        """Return this logarithm, up to a constant."""

    def gradient(self, strengths: Vector) -> Vector:
        """Return the slope of the logarithm, by program."""

    def information(self, strengths: Vector) -> Matrix:
        """Return the negative second derivatives of the logarithm."""


def most_likely(size: int, likelihood: Likelihood, start: Vector | None = None) -> Vector:
    """Return the strengths under which results are likeliest.

    The mean of connected entrants becomes 0 by itself, because the prior pulls their strengths towards 0.

    Args:
        size: number of programs.
        likelihood: likelihood of the results.
        start: strengths to begin with; None to begin with equal ones.
    """
    strengths = [0.0] * size if start is None else start
    value = likelihood.value(strengths)
    for _ in range(_STEPS):
        step = _cap(solve(factor(likelihood.information(strengths)), likelihood.gradient(strengths)))
        nearer = [x + y for x, y in zip(strengths, step, strict=True)]
        # A whole step can go too far if an entrant has won nearly everything. Then it is halved until it helps.
        while (gained := likelihood.value(nearer)) < value and max(map(abs, step)) > _SMALL:
            step = [y / 2 for y in step]
            nearer = [x + y for x, y in zip(strengths, step, strict=True)]
        strengths, value = nearer, gained
        if max(map(abs, step), default=0.0) <= _SMALL:
            break
    return strengths


def _cap(step: Vector) -> Vector:
    """Return a step in the same direction that changes no strength by more than _FARTHEST."""
    longest = max(map(abs, step), default=0.0)
    return step if longest <= _FARTHEST else [y * _FARTHEST / longest for y in step]


class Prior:
    """The prior distribution of strengths: first programs are around 0, later ones near the former program.

    Source: R. Coulom, Whole-History Rating: A Bayesian Rating System for Players of Time-Varying Strength, Computers
    and Games (2008), for strengths of one player at different times that are tied by a normal prior.

    Args:
        size: number of programs.
        precision: one over the variance of a first program's strength.
        tie: one over the variance of the step from one program to the next.
        former: program -> the former program of the same entrant.
    """

    def __init__(self, size: int, precision: float, tie: float = 0.0, former: Mapping[int, int] | None = None) -> None:
        self.size = size
        self._precision = precision
        self._tie = tie
        self._former = former or {}

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the density, up to a constant."""
        return dot(strengths, self.slope(strengths)) / 2

    def slope(self, strengths: Vector) -> Vector:
        """Return the slope of this logarithm, by program."""
        slope = [0.0 if index in self._former else -self._precision * own for index, own in enumerate(strengths)]
        for later, before in self._former.items():
            pull = self._tie * (strengths[later] - strengths[before])
            slope[later] -= pull
            slope[before] += pull
        return slope

    def matrix(self) -> Matrix:
        """Return the information matrix of the prior."""
        matrix = [[0.0] * self.size for _ in range(self.size)]
        for index in range(self.size):
            matrix[index][index] = 0.0 if index in self._former else self._precision
        for later, before in self._former.items():
            matrix[later][later] += self._tie
            matrix[before][before] += self._tie
            matrix[later][before] -= self._tie
            matrix[before][later] -= self._tie
        return matrix
