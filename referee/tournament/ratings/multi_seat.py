"""Ratings of fields with more than two seats.

The model is that of Plackett and Luce: of the seats that have no place yet, each one takes the next place with a chance
in proportion to its strength. Of any two at a table, one comes before the other as often as Elo says for two alone, so
ratings and errors are given in points of Elo.

The strengths are those under which all results together are likeliest: every result counts alike, whatever their order,
as it does for two seats.

Decisions of ours, each with its reason:
- `skill.still` Strength does not drift: programs do not learn between matches.
- `skill.prior` That of Elo, for the same reason; also for versions of a program.
- `skill.ties` Seats that share a place have drawn. Intervals take ties for as uncertain as other results, and are a
  little too wide where there are many.
- `skill.fouls` Seats that fouled come last; which of them is the strongest, nobody has shown.

`python -m tests.benchmarks ratings` measures how the intervals hold.

Source: see rankings.
"""

from collections import Counter
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from ...pairing.base import EntrantField, PlayedPairing
from ..points import groups_of
from .elo import Programs, Rating
from .likelihood import most_likely
from .rankings import Ranking, Rankings


class SkillBook:
    """Takes results one by one.

    Args:
        field: who takes part, and how many to a match.
    """

    def __init__(self, field: EntrantField) -> None:
        self._size = len(field.entrants)
        self._rankings: Counter[Ranking] = Counter()
        """Of programs: ~entrant is what an entrant had before."""

    def add(self, played: PlayedPairing, former: AbstractSet[int] = frozenset()) -> None:
        """Work in a result; byes, void matches and those in which everybody fouled tell nothing.

        Args:
            played: seats that fouled come last, together.
            former: entrants that have another program since.
        """
        for leg in played.legs or (played,):
            seats, groups = leg.pairing.seats, groups_of(leg)
            if len(seats) < 2 or not groups or len(leg.fouls) == len(seats):
                continue
            programs = [~entrant if entrant in former else entrant for entrant in seats]
            ranked = tuple(tuple(sorted(programs[seat] for seat in group)) for group in groups)
            self._rankings[Ranking(ranked, is_last_told=len(ranked[-1]) > 1 and not leg.fouls)] += 1

    def join(self) -> None:
        """Note that somebody has joined, the last one of the field."""
        self._size += 1

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program: what it has done so far, its former one has."""
        self._rankings = self._renamed(lambda program: ~program if program == entrant else program)

    def ratings(self, mean: float = 1500.0) -> tuple[Rating, ...]:
        """Rate the field, in its order.

        Args:
            mean: of the ratings of each group.
        """
        named = [program for ranking in self._rankings for group in ranking.groups for program in group]
        programs = Programs(self._size, {~program for program in named if program < 0})
        rankings = dict(sorted(self._renamed(programs.index).items()))
        for ranking, times in rankings.items():
            programs.meet([index for group in ranking.groups for index in group], times)
        prior = programs.prior()
        likelihood = Rankings(rankings, prior)
        strengths = most_likely(prior.size, likelihood)
        return programs.rated(strengths, likelihood.information(strengths), mean)

    def _renamed(self, name: Callable[[int], int]) -> Counter[Ranking]:
        """Return the rankings with other names for programs."""
        found: Counter[Ranking] = Counter()
        for ranking, times in self._rankings.items():
            groups = tuple(tuple(sorted(map(name, group))) for group in ranking.groups)
            found[ranking._replace(groups=groups)] += times
        return found
