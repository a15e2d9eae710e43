"""Ratings of fields with more than two seats.

The model is that of Plackett and Luce: of the seats that have no place yet, each one takes the next place with a chance
in proportion to its strength. Of any two at a table, one comes before the other as often as Elo says for two alone, so
ratings and errors are given in points of Elo.

The strengths are those under which all results together are likeliest: every result counts alike, whatever their order,
as it does for two seats.

Decisions of ours, each with its reason:
- `skill.still` Strength does not drift: programs do not learn between matches.
- `skill.prior` That of Elo, for the same reason.
- `skill.ties` Seats that share a place have drawn. Intervals take ties for as uncertain as other results, and are a
  little too wide where there are many.
- `skill.fouls` Seats that fouled come last; which of them is the strongest, nobody has shown.

`python -m tests.benchmarks ratings` measures how the intervals hold.

Source: see rankings.
"""

from collections import Counter

from ...pairing.base import EntrantField, PlayedPairing
from ..points import groups_of
from .cholesky import factor, inverse
from .elo import PRECISION, Rating, connected, rated
from .likelihood import most_likely
from .rankings import Ranking, Rankings


class SkillBook:
    """Takes results one by one.

    Args:
        field: who takes part, and how many to a match.
    """

    def __init__(self, field: EntrantField) -> None:
        self._rankings: Counter[Ranking] = Counter()
        self._met: list[set[int]] = [set() for _ in field.entrants]
        self._played = [0] * len(field.entrants)

    def add(self, played: PlayedPairing) -> None:
        """Work in a result; byes, void matches and those in which everybody fouled tell nothing.

        Args:
            played: seats that fouled come last, together.
        """
        seats, groups = played.pairing.seats, groups_of(played)
        if len(seats) < 2 or not groups or len(played.fouls) == len(seats):
            return
        ranked = tuple(tuple(sorted(seats[seat] for seat in group)) for group in groups)
        self._rankings[Ranking(ranked, is_last_told=len(ranked[-1]) > 1 and not played.fouls)] += 1
        for entrant in seats:
            self._met[entrant].update(seats)
            self._played[entrant] += 1

    def join(self) -> None:
        """Note that somebody has joined, the last one of the field."""
        self._met.append(set())
        self._played.append(0)

    def ratings(self, mean: float = 1500.0) -> tuple[Rating, ...]:
        """Rate the field.

        Args:
            mean: of the ratings of each group.

        Returns:
            A rating for each entrant, in the order of the field.
        """
        likelihood = Rankings(self._rankings, PRECISION)
        strengths = most_likely(len(self._played), likelihood)
        inverted = inverse(factor(likelihood.information(strengths)))
        variances = [row[entrant] for entrant, row in enumerate(inverted)]
        return rated(strengths, variances, connected(self._met), self._played, mean)
