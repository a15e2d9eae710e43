"""Symmetric positive definite matrices: solving and inverting.

A field has 200 entrants at most, so plain Python takes a fraction of a second, and no library for arrays is needed.
"""

from collections.abc import Sequence
from math import sqrt
from operator import mul

Vector = list[float]
Matrix = list[Vector]
"""Rows of equal length, indexed [row][column]."""


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the sum of products, over as many as the shorter one has."""
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
    found = [0.0] * len(half)
    for i in range(len(half) - 1, -1, -1):
        found[i] = half[i] / lower[i][i]
        for j in range(i):
            half[j] -= lower[i][j] * found[i]
    return found


def inverse(lower: Matrix) -> Matrix:
    """Return the inverse of L times its transpose."""
    size = len(lower)
    columns = [_forward(lower, [float(i == j) for j in range(size)]) for i in range(size)]
    return [[dot(row, other) for other in columns] for row in columns]


def _forward(lower: Matrix, right: Vector) -> Vector:
    """Return x with L times x equal to the right side."""
    found: Vector = []
    for row, value in zip(lower, right, strict=True):
        found.append((value - dot(row, found)) / row[-1])
    return found
