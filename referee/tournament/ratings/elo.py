"""Elo by maximum likelihood, from all results at once.

The model is that of Bradley and Terry: entrant i scores E = 1 / (1 + 10^((r_j - r_i) / 400)) against j on average, a
draw being half a win. Programs do not learn between matches, so all results count alike, and their order does not
matter.

Decisions of ours, each with its reason:
- `elo.prior` Strengths are held together by a normal prior around the mean with a standard deviation of 600. Without
  one, who wins everything would be infinitely strong. Ten wins out of ten against an equal field weigh more than it
  does.
- `elo.draws` A draw tells as much of strength as half a win, yet varies less: with a share of draws d, a match's
  score has the variance E(1 - E) - d/4. The information matrix alone would give intervals that are too wide for games
  with draws.
- `elo.groups` Who is connected by no chain of matches cannot be compared: each group has the mean of the anchor by
  itself.
- `elo.fouls` A foul is a loss. Where both fouled, nobody has shown anything, and the match is left out.
- `elo.seats` Who moves first is not in the model: formats see to it that seats change.

Source: R. Bradley and M. Terry, Rank Analysis of Incomplete Block Designs I, Biometrika 39 (1952); A. Elo, The Rating
of Chessplayers, Past and Present (1978), for the scale; H. White, Maximum Likelihood Estimation of Misspecified
Models, Econometrica 50 (1982), for the variance of an estimate whose scores vary less than its model says.
"""

from collections.abc import Sequence
from math import exp, log, sqrt
from typing import NamedTuple

from msgspec import Struct

from ..crosstable import Crosstable
from .cholesky import Matrix, Vector, dot, factor, inverse
from .likelihood import most_likely, prior_matrix, prior_value

ELO = 400 / log(10)
"""Points of Elo in a unit of the logistic scale."""
PRIOR_ELO = 600.0
"""Standard deviation of strengths before any match: 95 % lie within 1,200 of the mean. A guess, and a wide one."""
NORMAL_95 = 1.959964
"""Of a normal distribution, 95 % lies within so many standard deviations of its mean."""
PRECISION = (ELO / PRIOR_ELO) ** 2
"""Of the prior, on the logistic scale."""


class Rating(Struct, frozen=True, kw_only=True):
    """How strong an entrant is, as far as the results tell."""

    entrant: int
    rating: float
    error: float
    """Half the width of the 95 % interval, against the mean of the group."""
    played: int
    """Matches that it rests on."""
    group: int
    """Ratings of different groups can't be compared; counted from 0, in the order of the field."""


class Pair(NamedTuple):
    """What two entrants did against each other."""

    one: int
    other: int
    score: float
    """Of the first one: wins and half the draws."""
    played: int
    draws: int


def expected_score(difference: float) -> float:
    """Return the average score of who is stronger by so many points of Elo."""
    return _logistic(difference / ELO)


def elo_ratings(table: Crosstable, mean: float = 1500.0) -> tuple[Rating, ...]:
    """Rate a field whose matches have two seats.

    Args:
        table: with the results so far.
        mean: of the ratings of each group.

    Returns:
        A rating for each entrant, in the order of the field.

    Raises:
        ValueError: matches have more than two seats: the encounters of one match would count as independent.
    """
    if table.field.seats != 2:
        raise ValueError(f"Elo is for matches of two, not of {table.field.seats}")
    size = len(table.field.entrants)
    pairs = pairs_of(table)
    met: list[set[int]] = [set() for _ in range(size)]
    played = [0] * size
    for one, other, _, times, _ in pairs:
        met[one].add(other)
        met[other].add(one)
        played[one] += times
        played[other] += times
    groups = connected(met)
    strengths = most_likely(size, _Pairs(pairs))
    return rated(strengths, _uncertain(strengths, pairs), groups, played, mean)


def pairs_of(table: Crosstable) -> list[Pair]:
    """Return every pair that met, without the matches in which both fouled (`elo.fouls`)."""
    found = []
    for entrant in range(len(table.field.entrants)):
        for other, versus in sorted(table.opponents(entrant).items()):
            wins, draws, lost = versus.wins, versus.draws, table.head_to_head(other, entrant).wins
            if entrant < other and (played := wins + draws + lost):
                found.append(Pair(entrant, other, wins + draws / 2, played, draws))
    return found


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else 1 - 1 / (1 + exp(x))


class _Pairs:
    """The likelihood of pairs' results, together with the prior."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior."""
        total = prior_value(PRECISION, strengths)
        for one, other, score, played, _ in self._pairs:
            lead = strengths[one] - strengths[other]
            # log E = -log(1 + exp(-lead)) and log(1 - E) = -lead + log E, neither overflows from the better side.
            surely = -log(1 + exp(-abs(lead)))
            total += played * surely - abs(lead) * (played - score if lead > 0 else score)
        return total

    def gradient(self, strengths: Vector) -> Vector:
        """Return how much more each entrant has scored than expected, less the pull of the prior."""
        slope = [-PRECISION * strength for strength in strengths]
        for one, other, score, played, _ in self._pairs:
            more = score - played * _logistic(strengths[one] - strengths[other])
            slope[one] += more
            slope[other] -= more
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of results and prior."""
        weights = []
        for one, other, _, played, _ in self._pairs:
            expected = _logistic(strengths[one] - strengths[other])
            weights.append(played * expected * (1 - expected))
        return self.laplacian(len(strengths), weights)

    def laplacian(self, size: int, weights: Sequence[float]) -> Matrix:
        """Return the matrix that belongs to the sum of weight times (x_one - x_other) squared, and the prior."""
        matrix = prior_matrix(PRECISION, size)
        for (one, other, *_), weight in zip(self._pairs, weights, strict=True):
            matrix[one][one] += weight
            matrix[other][other] += weight
            matrix[one][other] -= weight
            matrix[other][one] -= weight
        return matrix


def _uncertain(strengths: Vector, pairs: Sequence[Pair]) -> Vector:
    """Return the variances of the strengths, on the logistic scale.

    That of the estimate is I^-1 V I^-1, where I is the information and V the variance of the scores, the prior being
    counted as an observation in both.
    """
    likelihood = _Pairs(pairs)
    inverted = inverse(factor(likelihood.information(strengths)))
    varied = likelihood.laplacian(len(strengths), _variances(strengths, pairs))
    return [dot(row, [dot(row, column) for column in varied]) for row in inverted]


def rated(
    strengths: Vector, variances: Vector, groups: Sequence[int], played: Sequence[int], mean: float
) -> tuple[Rating, ...]:
    """Return ratings, with the half-widths of their 95 % intervals.

    Args:
        strengths: by entrant, on the logistic scale; around 0 in each group.
        variances: of the strengths; what is unknown of the mean, which no result tells, is still in them: with the
            prior alone holding it, that is the variance of the prior over the size of the group.
        groups: of the entrants, by number.
        played: matches of each entrant.
        mean: of the ratings of each group.
    """
    found = []
    for entrant, (strength, variance, group) in enumerate(zip(strengths, variances, groups, strict=True)):
        members = groups.count(group)
        # Alone, an entrant is its group's mean: the prior is all that there is to say.
        unknown = 0.0 if members == 1 else 1 / (PRECISION * members)
        found.append(
            Rating(
                entrant=entrant,
                rating=mean + ELO * strength,
                error=ELO * NORMAL_95 * sqrt(variance - unknown),
                played=played[entrant],
                group=group,
            )
        )
    return tuple(found)


def _variances(strengths: Vector, pairs: Sequence[Pair]) -> list[float]:
    """Return the variance of each pair's score (`elo.draws`).

    The share of draws is the pair's own, drawn towards that of the whole field as if by two more matches: from a few
    matches, all drawn, it does not follow that the next one must be.
    """
    expected = [_logistic(strengths[pair.one] - strengths[pair.other]) for pair in pairs]
    spread = [e * (1 - e) for e in expected]
    possible = sum(2 * pair.played * s for pair, s in zip(pairs, spread, strict=True))
    usual = sum(pair.draws for pair in pairs) / (possible + 2)
    found = []
    for pair, e, s in zip(pairs, expected, spread, strict=True):
        drawn = min((pair.draws + 2 * usual * 2 * s) / (pair.played + 2), 2 * e, 2 - 2 * e)
        found.append(pair.played * (s - drawn / 4))
    return found


def connected(met: Sequence[set[int]]) -> list[int]:
    """Number the groups of entrants that are connected by matches.

    Args:
        met: for each entrant, whom it has met.

    Returns:
        For each entrant the number of its group, from 0 in the order of the field.
    """
    group = [-1] * len(met)
    count = 0
    for start in range(len(met)):
        if group[start] >= 0:
            continue
        reached = [start]
        while reached:
            entrant = reached.pop()
            if group[entrant] < 0:
                group[entrant] = count
                reached.extend(met[entrant])
        count += 1
    return group
