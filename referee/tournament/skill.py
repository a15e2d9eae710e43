"""Ratings of fields with more than two seats, result by result. Knows rankings; refuses to know who scored what.

The model is that of Plackett and Luce, as openskill follows it: of the seats that have no place yet, each one takes
the next place with a chance in proportion to its strength. Of any two at a table, one comes before the other as often
as Elo says for two alone, so ratings and errors are given in points of Elo.

Decisions of ours, each with its reason:
- `skill.still` Strength does not drift (`tau` is 0): programs do not learn between matches.
- `skill.whole` A result narrows the interval by all that it tells (`gamma` is 1). openskill's default holds back, and
  its intervals then were a quarter too wide after many matches.
- `skill.order` Results are worked in one after the other, so their order shows in the last digits. Where every result
  must count alike, and seats are two, there is `ratings`.
- `skill.prior` openskill's: a standard deviation of twice the spread of one performance, which is 246 points of Elo
  for two seats and 174 for four. A wider one makes the first results count for too much, and intervals far too
  narrow.
- `skill.width` Intervals are a tenth wider than the model's. In simulated tournaments of 3, 4 and 6 seats the model's
  own held the truth 90 to 98 times of 100, least often after many matches: the steps of an approximation add up.

`python -m tests.benchmarks ratings` measures how they hold now: in 200 tournaments of each kind, 92 to 99.5 times of
100, most often after few matches, least often after 200 matches of six seats each.

Source: R. Weng and C.-J. Lin, A Bayesian Approximation Method for Online Ranking, Journal of Machine Learning
Research 12 (2011), algorithm 4; R. Plackett, The Analysis of Permutations, Applied Statistics 24 (1975).
"""

from math import sqrt
from typing import Any

from openskill.models import PlackettLuce

from ..pairing.base import Field, Played
from .points import groups_of
from .ratings import ELO, NORMAL_95, Rating, connected

WIDER = 1.1
"""`skill.width`"""


class SkillBook:
    """Takes results one by one, in the order in which they are to count.

    Args:
        field: who takes part, and how many to a match.
    """

    def __init__(self, field: Field) -> None:
        self._model = PlackettLuce(tau=0.0, gamma=_all_of_it)
        self._skills = [self._model.rating() for _ in field.entrants]
        self._met: list[set[int]] = [set() for _ in field.entrants]
        self._played = [0] * len(field.entrants)
        # After many matches, a match of n draws on a spread of the square root of n performances.
        self._elo = ELO / (self._model.beta * sqrt(field.seats))

    def add(self, played: Played) -> None:
        """Work in a result; byes, void matches and those in which everybody fouled tell nothing.

        Args:
            played: seats that fouled come last, together.
        """
        seats, groups = played.pairing.seats, groups_of(played)
        if len(seats) < 2 or not groups or len(played.fouls) == len(seats):
            return
        place = {seat: float(index) for index, group in enumerate(groups) for seat in group}
        teams = [[self._skills[entrant]] for entrant in seats]
        rated = self._model.rate(teams, ranks=[place[seat] for seat in range(len(seats))])
        for entrant, (skill,) in zip(seats, rated, strict=True):
            self._skills[entrant] = skill
            self._met[entrant].update(seats)
            self._played[entrant] += 1

    def ratings(self, mean: float = 1500.0) -> tuple[Rating, ...]:
        """Rate the field.

        Args:
            mean: of the ratings of each group.

        Returns:
            A rating for each entrant, in the order of the field.
        """
        groups = connected(self._met)
        total: dict[int, float] = {}
        for group, skill in zip(groups, self._skills, strict=True):
            total[group] = total.get(group, 0.0) + skill.mu
        return tuple(
            Rating(
                entrant=entrant,
                rating=mean + self._elo * (skill.mu - total[group] / groups.count(group)),
                error=NORMAL_95 * WIDER * self._elo * skill.sigma,
                played=self._played[entrant],
                group=group,
            )
            for entrant, (group, skill) in enumerate(zip(groups, self._skills, strict=True))
        )


def _all_of_it(*_: Any) -> float:
    """Return which part of what a result tells is believed."""
    return 1.0
