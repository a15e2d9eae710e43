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
- `skill.teams` Partners are no opponents. Strengths of teams follow from their members', see teams.
- `skill.fouls` Seats that fouled come last; which of them is the strongest, nobody has shown.

`python -m tests.benchmarks ratings` measures how the intervals hold.

Source: see rankings.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from ..pairing.base import EntrantField, PlayedPairing
from ..points import Scoring, groups_of
from .elo import Programs, Rating
from .likelihood import most_likely
from .rankings import Ranking, Rankings
from .teams import TeamMatch, TeamResults


class SkillBook:
    """Takes results one by one.

    Args:
        field: who takes part, and how many to a match.
        scoring: it says who are partners; None: nobody.
    """

    def __init__(self, field: EntrantField, scoring: Scoring | None = None) -> None:
        self._scoring = scoring or Scoring()
        self._team_matches: Counter[TeamMatch] = Counter()
        """Of programs, as the rankings."""
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
            if self._scoring.teams:
                self._team_matches[self._team_match(leg, programs)] += 1
                continue
            ranked = tuple(tuple(sorted(programs[seat] for seat in group)) for group in groups)
            self._rankings[Ranking(ranked, is_last_told=len(ranked[-1]) > 1 and not leg.fouls)] += 1

    def join(self) -> None:
        """Note that somebody has joined, the last one of the field."""
        self._size += 1

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program: what it has done so far, its former one has."""
        self._rankings = self._renamed(lambda program: ~program if program == entrant else program)
        self._team_matches = self._renamed_teams(lambda program: ~program if program == entrant else program)

    def ratings(self, mean: float = 1500.0) -> tuple[Rating, ...]:
        """Rate the field, in its order.

        Args:
            mean: of the ratings of each group.
        """
        named = [program for ranking in self._rankings for group in ranking.groups for program in group]
        named += [program for match in self._team_matches for program in match.programs()]
        programs = Programs(self._size, {~program for program in named if program < 0})
        rankings = dict(sorted(self._renamed(programs.index).items()))
        for ranking, times in rankings.items():
            programs.meet([index for group in ranking.groups for index in group], times)
        matches = dict(sorted(self._renamed_teams(programs.index).items()))
        for match, times in matches.items():
            programs.meet(match.programs(), times)
        prior = programs.prior()
        likelihood = TeamResults(matches, prior) if self._scoring.teams else Rankings(rankings, prior)
        strengths = most_likely(prior.size, likelihood)
        return programs.rated(strengths, likelihood.information(strengths), mean)

    def _team_match(self, leg: PlayedPairing, programs: Sequence[int]) -> TeamMatch:
        """Return a match of teams: a team is where its best seat is that did not foul."""
        place = {seat: at for at, group in enumerate(groups_of(leg)) for seat in group if seat not in leg.fouls}
        last = len(programs)
        return TeamMatch(
            teams=tuple(tuple(programs[seat] for seat in team) for team in self._scoring.teams),
            places=tuple(min(place.get(seat, last) for seat in team) for team in self._scoring.teams),
            out=last,
        )

    def _renamed_teams(self, name: Callable[[int], int]) -> Counter[TeamMatch]:
        """Return the matches of teams with other names for programs."""
        found: Counter[TeamMatch] = Counter()
        for match, times in self._team_matches.items():
            found[match._replace(teams=tuple(tuple(map(name, team)) for team in match.teams))] += times
        return found

    def _renamed(self, name: Callable[[int], int]) -> Counter[Ranking]:
        """Return the rankings with other names for programs."""
        found: Counter[Ranking] = Counter()
        for ranking, times in self._rankings.items():
            groups = tuple(tuple(sorted(map(name, group))) for group in ranking.groups)
            found[ranking._replace(groups=groups)] += times
        return found
