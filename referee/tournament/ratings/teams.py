"""How likely results of teams are, given the strengths of those who play in them.

A team is as strong as its members are on average, so that a team of equal programs plays like each of them. Of two
teams, one beats the other as often as Elo says for two entrants of these strengths; a draw is half a win. Partners are
no opponents: their result says nothing of one against the other. Where more than two teams meet, every two of them are
an encounter.

Source: R. Huang, C. Lin, R. Weng, Generalized Bradley-Terry Models and Multi-class Probability Estimates, Journal of
Machine Learning Research 7 (2006), for strengths of teams that follow from their members'.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, log
from typing import NamedTuple

from .cholesky import Matrix, Vector
from .likelihood import Prior


class TeamMatch(NamedTuple):
    """What came of one match of teams."""

    teams: tuple[tuple[int, ...], ...]
    """Programs that win and lose together."""
    places: tuple[int, ...]
    """By team; less is better."""
    out: int
    """Place of the teams whose members have all fouled: which of them is the stronger, nobody has shown."""

    def programs(self) -> list[int]:
        """Return all who have played."""
        return [program for team in self.teams for program in team]


class _Encounter(NamedTuple):
    """Two teams of programs, and what came of it for the first."""

    team: tuple[int, ...]
    opponents: tuple[int, ...]
    points: float
    """1 for a win, 1/2 for a draw."""


class TeamResults:
    """The likelihood of matches of teams, together with a prior.

    Args:
        counts: how often each match came about.
        prior: of the strengths.
    """

    def __init__(self, counts: Mapping[TeamMatch, int], prior: Prior) -> None:
        self._counts: Counter[_Encounter] = Counter()
        for match, times in counts.items():
            for one, other in combinations(range(len(match.teams)), 2):
                lead = match.places[other] - match.places[one]
                if lead or match.places[one] != match.out:
                    points = 0.5 if not lead else float(lead > 0)
                    self._counts[_Encounter(match.teams[one], match.teams[other], points)] += times
        self._prior = prior

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior, but for a constant."""
        total = self._prior.value(strengths)
        for encounter, times in self._counts.items():
            lead = _lead(encounter, strengths)
            less = 1 - encounter.points if lead > 0 else encounter.points
            total -= times * (log(1 + exp(-abs(lead))) + abs(lead) * less)
        return total

    def gradient(self, strengths: Vector) -> Vector:
        """Return how much more each entrant has got than expected, less the pull of the prior."""
        slope = self._prior.slope(strengths)
        for encounter, times in self._counts.items():
            more = times * (encounter.points - _expected(encounter, strengths))
            for index, share in _shares(encounter):
                slope[index] += more * share
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of results and prior."""
        matrix = self._prior.matrix()
        for encounter, times in self._counts.items():
            expected, shares = _expected(encounter, strengths), _shares(encounter)
            known = times * expected * (1 - expected)
            for index, share in shares:
                for other, other_share in shares:
                    matrix[index][other] += known * share * other_share
        return matrix


def _shares(encounter: _Encounter) -> Sequence[tuple[int, float]]:
    """Return by program how the lead of the first team changes with its strength."""
    own = [(index, 1 / len(encounter.team)) for index in encounter.team]
    return [*own, *((index, -1 / len(encounter.opponents)) for index in encounter.opponents)]


def _lead(encounter: _Encounter, strengths: Vector) -> float:
    return sum(share * strengths[index] for index, share in _shares(encounter))


def _expected(encounter: _Encounter, strengths: Vector) -> float:
    lead = _lead(encounter, strengths)
    return 1 / (1 + exp(-lead)) if lead >= 0 else 1 - 1 / (1 + exp(lead))
