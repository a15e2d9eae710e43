"""Elo by maximum likelihood, from all results at once.

The model is that of Bradley and Terry: entrant i scores E = 1 / (1 + 10^((r_j - r_i) / 400)) against j on average; a
draw is half a win. Programs do not learn between matches, so all results count the same, and their order does not
matter.

Our own decisions, each with its reason:
- `elo.prior` Strengths are held together by a normal prior around the mean with a standard deviation of 1150. Without
  one, an entrant that wins everything would be infinitely strong. The prior is wider than any field that the benchmark
  has (200 to 800), because it must not pull the best and the worst towards the middle by more than the interval says.
- `elo.draws` The score of a match with draws varies less than that of a match without draws. Let d be the share of
  draws between equal programs, and let draws between others be rarer by the same factor as upsets are. Then the score
  of a match has the variance (1 - d) E(1 - E). So results weigh 1 / (1 - d) times as much as decided ones, also against
  the prior. The share is that of the whole field, as if three more matches between equals had been decided: after n
  draws in n matches, it is only sure (with 95 %) that fewer than 3 in n are decided. A score with the mean E > 1/2 has
  at least the variance (1 - E)(E - 1/2), which it has if the weaker program draws all matches that it does not lose. So
  a result weighs at most E / (E - 1/2) times as much: twice as much if one program is far stronger.
- `elo.interval` The interval belongs to the normal distribution that fits the posterior at its peak. The uncertainty of
  the group's mean is subtracted, because ratings are relative to this mean.
- `elo.groups` Entrants that no chain of matches connects can't be compared. Each connected group gets the same mean.
- `elo.fouls` A foul is a loss. If both fouled, the match shows nothing and is left out.
- `elo.versions` A new program of an entrant has its own strength. It is normally distributed around that of the former
  program, with a standard deviation of 120. So former results count less for it, and its interval is wider. All
  programs before the last change count as one. The ratings are those of the present programs. But the mean is that of
  each entrant's first program, so that an entrant that improves does not push the others down.
- `elo.seats` The model ignores who moves first, because formats make seats change.

`python -m tests.benchmarks ratings` measures how often the intervals contain the true value.

Source: R. Bradley and M. Terry, Rank Analysis of Incomplete Block Designs I, Biometrika 39 (1952); A. Elo, The Rating
of Chessplayers, Past and Present (1978), for the scale; R. Wedderburn, Quasi-likelihood Functions, Generalized Linear
Models, and the Gauss-Newton Method, Biometrika 61 (1974), for scores that vary by a constant factor less than the model
says; J. Hanley and A. Lippman-Hand, If Nothing Goes Wrong, Is Everything All Right?, JAMA 249 (1983), for the three
matches; for versions see newton.Prior.
"""

from collections.abc import Callable, Iterable, Sequence
from math import exp, inf, log, log10, sqrt
from typing import NamedTuple

from msgspec import Struct

from ..crosstable import Crosstable
from .newton import Matrix, Prior, Vector, factor, inverse, most_likely

ELO = 400 / log(10)
"""Points of Elo in a unit of the logistic scale."""
MEAN = 1500.0
"""Mean of the ratings of a group, a convention."""
PRIOR_ELO = 1150.0
"""Standard deviation of strengths before any match (`elo.prior`)."""
VERSION_ELO = 120.0
"""Standard deviation of the step from one version of a program to the next: a guess, the same as for a ladder."""
NORMAL_95 = 1.959964
"""Number of standard deviations around the mean that hold 95 % of a normal distribution."""
_DECIDED = 3.0
"""Number of decided matches between equals that are added to the results."""
_DRAW_STEPS = 3
"""Number of iterations: draws and strengths depend on each other. Each step reduces the error to about a hundredth."""
PRECISION = (ELO / PRIOR_ELO) ** 2
"""Precision of the prior on the logistic scale."""
TIE = (ELO / VERSION_ELO) ** 2
"""Precision of the step from one version to the next, on the logistic scale."""


class Rating(Struct, frozen=True, kw_only=True):
    """An entrant's estimated strength."""

    entrant: int
    rating: float
    error: float
    """Half the width of the 95 % interval, relative to the mean of the group."""
    played: int
    """Number of matches on which the rating is based."""
    group: int
    """Number of the entrant's group, from 0. Ratings of different groups can't be compared."""

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return self.rating - self.error

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return self.rating + self.error


class Pair(NamedTuple):
    """Results of two programs against each other."""

    program: int
    opponent: int
    score: float
    """Score of the program: wins and half the draws."""
    played: int
    draws: int


def expected_score(difference: float) -> float:
    """Return the expected score of a program that is stronger by a number of points of Elo."""
    return _logistic(difference / ELO)


def elo_ratings(table: Crosstable, mean: float = MEAN) -> tuple[Rating, ...]:
    """Rate all entrants of a field whose matches have two seats.

    Args:
        table: the results of the field.
        mean: mean of the ratings of each group.

    Raises:
        ValueError: matches have more than two seats. Encounters of one match would wrongly count as independent.
    """
    if table.field.seats != 2:
        raise ValueError(f"Elo is for matches of two, not of {table.field.seats}")
    size = len(table.field.entrants)
    programs = Programs(size, {~program for pair in table.head_to_heads for program in pair if program < 0})
    pairs = _pairs(table, programs.index)
    for pair in pairs:
        programs.meet((pair.program, pair.opponent), pair.played)
    prior = programs.prior()
    strengths = most_likely(prior.size, _Pairs(pairs, prior))
    weights = [1.0] * len(pairs)
    for _ in range(_DRAW_STEPS if any(pair.draws for pair in pairs) else 0):
        dispersion = _dispersion(strengths, pairs)
        weights = [weigh_result(strengths[pair.program] - strengths[pair.opponent], dispersion) for pair in pairs]
        strengths = most_likely(prior.size, _Pairs(pairs, prior, weights), strengths)
    information = _Pairs(pairs, prior, weights).information(strengths)
    return programs.rate(strengths, information, mean)


def estimate_dispersion(table: Crosstable, ratings: Sequence[Rating]) -> float:
    """Return the factor by which scores between equals vary less than those of decided matches (`elo.draws`).

    Args:
        table: the results of the field.
        ratings: ratings of the field, by entrant.
    """
    pairs = _pairs(table, lambda program: program if program >= 0 else ~program)
    if not any(pair.draws for pair in pairs):
        return 1.0
    return _dispersion([rating.rating / ELO for rating in ratings], pairs)


def weigh_result(lead: float, dispersion: float) -> float:
    """Return the weight of a result relative to one in a field without draws (`elo.draws`).

    Args:
        lead: lead of one program over the other, on the logistic scale.
        dispersion: dispersion of scores between equals.
    """
    better = _logistic(abs(lead))
    return 1 / max(dispersion, (better - 0.5) / better)


def _pairs(table: Crosstable, index: Callable[[int], int]) -> list[Pair]:
    return [
        Pair(index(program), index(opponent), met.wins + met.draws / 2, met.played, met.draws)
        for (program, opponent), met in sorted(table.head_to_heads.items())
    ]


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else 1 - 1 / (1 + exp(x))


class _Pairs:
    """The quasi-likelihood of pairs' results, together with the prior.

    Args:
        pairs: the results.
        prior: prior of the strengths.
        weights: weight of each pair's results: one over the factor by which their scores vary less than those of
            decided matches; 1 by default.
    """

    def __init__(self, pairs: Sequence[Pair], prior: Prior, weights: Sequence[float] = ()) -> None:
        self._prior = prior
        self._weighted = list(zip(pairs, weights or [1.0] * len(pairs), strict=True))

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior."""
        total = 0.0
        for (program, opponent, score, played, _), weight in self._weighted:
            lead = strengths[program] - strengths[opponent]
            # log E = -log(1 + exp(-lead)) and log(1 - E) = -lead + log E, neither overflows from the better side.
            surely = -log(1 + exp(-abs(lead)))
            total += weight * (played * surely - abs(lead) * (played - score if lead > 0 else score))
        return self._prior.value(strengths) + total

    def gradient(self, strengths: Vector) -> Vector:
        """Return the slope: how much more each program has scored than expected, plus the slope of the prior."""
        slope = self._prior.slope(strengths)
        for (program, opponent, score, played, _), weight in self._weighted:
            more = weight * (score - played * _logistic(strengths[program] - strengths[opponent]))
            slope[program] += more
            slope[opponent] -= more
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of results and prior."""
        matrix = self._prior.matrix()
        for (program, opponent, _, played, _), weight in self._weighted:
            expected = _logistic(strengths[program] - strengths[opponent])
            added = weight * played * expected * (1 - expected)
            matrix[program][program] += added
            matrix[opponent][opponent] += added
            matrix[program][opponent] -= added
            matrix[opponent][program] -= added
        return matrix


class Programs:
    """The programs of a field: the present program of each entrant, and the former programs of some entrants.

    Args:
        size: number of entrants.
        renewed: entrants that had another program before.
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
        """Return the index of a program in vectors; `~entrant` stands for an entrant's former program."""
        return program if program >= 0 else self._former[~program]

    def prior(self) -> Prior:
        """Return the prior distribution of the programs' strengths."""
        return Prior(len(self._met), PRECISION, TIE, self._former)

    def meet(self, indices: Sequence[int], times: int) -> None:
        """Note a number of matches in which programs have met."""
        for index in indices:
            self._met[index].update(indices)
            self._played[index] += times

    def rate(self, strengths: Vector, information: Matrix, mean: float) -> tuple[Rating, ...]:
        """Return the ratings of the present programs, with the half-widths of their 95 % intervals.

        No result says anything about the mean of a group; only the prior does. Its variance is the variance of the
        prior, divided by the number of the group's entrants, and is subtracted from the variances of the strengths.

        Args:
            strengths: likeliest strength of each program, on the logistic scale.
            information: information matrix of results and prior for these strengths.
            mean: mean of the ratings of each group's first programs.
        """
        inverted = inverse(factor(information))
        groups = find_groups(self._met)[: self._size]
        ratings = []
        for entrant, group in enumerate(groups):
            members = groups.count(group)
            # A single entrant is its group's mean, and only the prior is known about it.
            unknown = 0.0 if members == 1 else 1 / (PRECISION * members)
            before = self._former.get(entrant)
            ratings.append(
                Rating(
                    entrant=entrant,
                    rating=mean + ELO * strengths[entrant],
                    error=ELO * NORMAL_95 * sqrt(inverted[entrant][entrant] - unknown),
                    played=self._played[entrant] + (0 if before is None else self._played[before]),
                    group=group,
                )
            )
        return tuple(ratings)


def _dispersion(strengths: Vector, pairs: Sequence[Pair]) -> float:
    """Return the factor by which draws reduce the variance of scores (`elo.draws`)."""
    possible = 0.0
    for pair in pairs:
        expected = _logistic(strengths[pair.program] - strengths[pair.opponent])
        possible += 4 * pair.played * expected * (1 - expected)
    decided = max(possible - sum(pair.draws for pair in pairs), 0.0)
    return (decided + _DECIDED) / (possible + _DECIDED)


def find_groups(met: Sequence[set[int]]) -> list[int]:
    """Number the groups of entrants that are connected by matches.

    Args:
        met: for each entrant, the entrants that it has met.

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


# --- Pairs of matches
#
# This estimates a player's share of the points against another one, if each deal was played from both seats.
#
# The two matches of a deal are not independent, because both players get the same hands. So the interval depends on the
# variation of the pairs of matches, not of single matches.
#
# Source: E. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, Journal of the American
# Statistical Association 22 (1927), for the interval. It is made for shares of successes, which vary more than the
# means of pairs. So the number of pairs is multiplied by the ratio of the two variances. To estimate this ratio, a
# fifth of a pair is added to each outcome, so that equal results don't count as certainty.


_ADDED = 0.2


class Estimate(NamedTuple):
    """An estimated number, with its 95 % interval."""

    value: float
    """The estimate."""
    low: float
    """The lower end of the interval."""
    high: float
    """The upper end of the interval."""


def paired_score(counts: Sequence[int]) -> Estimate:
    """Estimate a player's share of the points.

    Args:
        counts: numbers of pairs in which it got 0, 1/2, 1, 3/2 and 2 points; at least one is above 0.
    """
    pairs, last = sum(counts), len(counts) - 1
    share = sum(index * count for index, count in enumerate(counts)) / last / pairs
    size = pairs * _steadiness(counts)
    square = NORMAL_95**2
    middle = (share + square / (2 * size)) / (1 + square / size)
    half = NORMAL_95 * sqrt(share * (1 - share) / size + square / (4 * size**2)) / (1 + square / size)
    return Estimate(share, max(middle - half, 0.0), min(middle + half, 1.0))


def _steadiness(counts: Sequence[int]) -> float:
    """Return the variance of single successes with the same mean, divided by the variance of the pairs."""
    weights = [count + _ADDED for count in counts]
    total, last = sum(weights), len(weights) - 1
    mean = sum(weight * index / last for index, weight in enumerate(weights)) / total
    variance = sum(weight * (index / last - mean) ** 2 for index, weight in enumerate(weights)) / total
    return mean * (1 - mean) / variance


def as_elo(score: Estimate) -> Estimate:
    """Convert a share of points into a lead in points of Elo; a share of 1 gives infinity."""
    return Estimate(*map(_elo, score))


def _elo(share: float) -> float:
    if share <= 0:
        return -inf
    return inf if share >= 1 else 400 * log10(share / (1 - share))
