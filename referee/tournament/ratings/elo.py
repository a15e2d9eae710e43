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
- `elo.versions` Another program in an entrant's place has a strength of its own, normally distributed around the former
  one's with a standard deviation of 120: what the former one has shown tells less of it, and its interval is wider. All
  programs that an entrant had before its last change count as one. The ratings are those of the programs of now; the
  mean is that of the entrants' former ones, so that who improves does not push the others down.
- `elo.seats` Who moves first is not in the model: formats see to it that seats change.

Source: R. Bradley and M. Terry, Rank Analysis of Incomplete Block Designs I, Biometrika 39 (1952); A. Elo, The Rating
of Chessplayers, Past and Present (1978), for the scale; H. White, Maximum Likelihood Estimation of Misspecified
Models, Econometrica 50 (1982), for the variance of an estimate whose scores vary less than its model says; for versions
see likelihood.Prior.
"""

from collections.abc import Iterable, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

from msgspec import Struct

from ..crosstable import Crosstable
from .cholesky import Matrix, Vector, dot, factor, inverse
from .likelihood import Prior, most_likely

ELO = 400 / log(10)
"""Points of Elo in a unit of the logistic scale."""
PRIOR_ELO = 600.0
"""Standard deviation of strengths before any match: 95 % lie within 1,200 of the mean. A guess, and a wide one."""
VERSION_ELO = 120.0
"""Standard deviation of the step from one version of a program to the next: a guess. A ladder takes as much."""
NORMAL_95 = 1.959964
"""Of a normal distribution, 95 % lies within so many standard deviations of its mean."""
PRECISION = (ELO / PRIOR_ELO) ** 2
"""Of the prior, on the logistic scale."""
TIE = (ELO / VERSION_ELO) ** 2
"""Of the step from one version to the next, on the logistic scale."""


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
    """What two programs did against each other."""

    program: int
    opponent: int
    score: float
    """Of the program: wins and half the draws."""
    played: int
    draws: int


def expected_score(difference: float) -> float:
    """Return the average score of who is stronger by so many points of Elo."""
    return _logistic(difference / ELO)


def elo_ratings(table: Crosstable, mean: float = 1500.0) -> tuple[Rating, ...]:
    """Rate a field whose matches have two seats, in its order.

    Args:
        table: of the field.
        mean: of the ratings of each group.

    Raises:
        ValueError: matches have more than two seats: the encounters of one match would count as independent.
    """
    if table.field.seats != 2:
        raise ValueError(f"Elo is for matches of two, not of {table.field.seats}")
    size = len(table.field.entrants)
    programs = Programs(size, {~program for pair in table.head_to_heads for program in pair if program < 0})
    pairs = [
        Pair(programs.index(program), programs.index(opponent), told.wins + told.draws / 2, told.played, told.draws)
        for (program, opponent), told in sorted(table.head_to_heads.items())
    ]
    for pair in pairs:
        programs.meet((pair.program, pair.opponent), pair.played)
    prior = programs.prior()
    strengths = most_likely(prior.size, _Pairs(pairs, prior))
    return programs.rated(strengths, _uncertain(strengths, pairs, prior), mean)


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else 1 - 1 / (1 + exp(x))


class _Pairs:
    """The likelihood of pairs' results, together with the prior."""

    def __init__(self, pairs: Sequence[Pair], prior: Prior) -> None:
        self._pairs = pairs
        self._prior = prior

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior."""
        total = self._prior.value(strengths)
        for program, opponent, score, played, _ in self._pairs:
            lead = strengths[program] - strengths[opponent]
            # log E = -log(1 + exp(-lead)) and log(1 - E) = -lead + log E, neither overflows from the better side.
            surely = -log(1 + exp(-abs(lead)))
            total += played * surely - abs(lead) * (played - score if lead > 0 else score)
        return total

    def gradient(self, strengths: Vector) -> Vector:
        """Return how much more each entrant has scored than expected, less the pull of the prior."""
        slope = self._prior.slope(strengths)
        for program, opponent, score, played, _ in self._pairs:
            more = score - played * _logistic(strengths[program] - strengths[opponent])
            slope[program] += more
            slope[opponent] -= more
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of results and prior."""
        weights = []
        for program, opponent, _, played, _ in self._pairs:
            expected = _logistic(strengths[program] - strengths[opponent])
            weights.append(played * expected * (1 - expected))
        return self.laplacian(weights)

    def laplacian(self, weights: Sequence[float]) -> Matrix:
        """Return the matrix that belongs to the sum of weight times (x_program - x_opponent) squared, and the prior."""
        matrix = self._prior.matrix()
        for (program, opponent, *_), weight in zip(self._pairs, weights, strict=True):
            matrix[program][program] += weight
            matrix[opponent][opponent] += weight
            matrix[program][opponent] -= weight
            matrix[opponent][program] -= weight
        return matrix


def _uncertain(strengths: Vector, pairs: Sequence[Pair], prior: Prior) -> Vector:
    """Return the variances of the strengths, on the logistic scale.

    That of the estimate is I^-1 V I^-1, where I is the information and V the variance of the scores, the prior being
    counted as an observation in both.
    """
    likelihood = _Pairs(pairs, prior)
    inverted = inverse(factor(likelihood.information(strengths)))
    varied = likelihood.laplacian(_variances(strengths, pairs))
    return [dot(row, [dot(row, column) for column in varied]) for row in inverted]


class Programs:
    """The programs of a field: what each entrant has now, and as another one what some had before.

    Args:
        size: how many entrants there are.
        renewed: those that had another program before.
    """

    def __init__(self, size: int, renewed: Iterable[int]) -> None:
        self._size = size
        self._former = {entrant: size + place for place, entrant in enumerate(sorted(renewed))}
        count = size + len(self._former)
        self._met: list[set[int]] = [set() for _ in range(count)]
        self._played = [0] * count
        for entrant, before in self._former.items():
            self._met[entrant].add(before)
            self._met[before].add(entrant)

    def index(self, program: int) -> int:
        """Return where a program stands in vectors; ~entrant is what an entrant had before."""
        return program if program >= 0 else self._former[~program]

    def prior(self) -> Prior:
        """Return what is known of their strengths before any match."""
        return Prior(len(self._met), PRECISION, TIE, self._former)

    def meet(self, indices: Sequence[int], times: int) -> None:
        """Note that programs have met in so many matches."""
        for index in indices:
            self._met[index].update(indices)
            self._played[index] += times

    def rated(self, strengths: Vector, variances: Vector, mean: float) -> tuple[Rating, ...]:
        """Return the ratings of the programs of now, with the half-widths of their 95 % intervals.

        Args:
            strengths: by program, on the logistic scale; those of first programs are around 0 in each group.
            variances: of the strengths; what is unknown of the mean, which no result tells, is still in them: with the
                prior alone holding it, that is the variance of the prior over the number of the group's entrants.
            mean: of the ratings of each group's first programs.
        """
        groups = connected(self._met)[: self._size]
        found = []
        for entrant, group in enumerate(groups):
            members = groups.count(group)
            # Alone, an entrant is its group's mean: the prior is all that there is to say.
            unknown = 0.0 if members == 1 else 1 / (PRECISION * members)
            before = self._former.get(entrant)
            found.append(
                Rating(
                    entrant=entrant,
                    rating=mean + ELO * strengths[entrant],
                    error=ELO * NORMAL_95 * sqrt(variances[entrant] - unknown),
                    played=self._played[entrant] + (0 if before is None else self._played[before]),
                    group=group,
                )
            )
        return tuple(found)


def _variances(strengths: Vector, pairs: Sequence[Pair]) -> list[float]:
    """Return the variance of each pair's score (`elo.draws`).

    The share of draws is the pair's own, drawn towards that of the whole field as if by two more matches: from a few
    matches, all drawn, it does not follow that the next one must be.
    """
    expected = [_logistic(strengths[pair.program] - strengths[pair.opponent]) for pair in pairs]
    spread = [mean * (1 - mean) for mean in expected]
    possible = sum(2 * pair.played * variance for pair, variance in zip(pairs, spread, strict=True))
    usual = sum(pair.draws for pair in pairs) / (possible + 2)
    found = []
    for pair, mean, variance in zip(pairs, expected, spread, strict=True):
        drawn = min((pair.draws + 2 * usual * 2 * variance) / (pair.played + 2), 2 * mean, 2 - 2 * mean)
        found.append(pair.played * (variance - drawn / 4))
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
