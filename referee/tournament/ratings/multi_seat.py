"""Ratings of fields with more than two seats.

The model is that of Plackett and Luce: each seat without a place takes the next place with a probability proportional
to its strength. So one of two seats comes before the other as often as Elo predicts for a match of two. Therefore
ratings and errors are given in points of Elo.

The ratings are the strengths under which all results together are likeliest. All results count the same, and their
order does not matter, as for two seats.

Our own decisions, each with its reason:
- `skill.still` Strength does not drift, because programs do not learn between matches.
- `skill.prior` The prior is that of Elo, for the same reason, also for versions of a program.
- `skill.ties` Seats that share a place have drawn. Intervals treat ties like other results, so they are a little too
  wide if there are many ties.
- `skill.teams` Partners are not opponents. The strength of a team follows from its members; see Results of teams.
- `skill.fouls` Seats that fouled come last. The result does not show which of them is the strongest.

`python -m tests.benchmarks ratings` measures how often the intervals contain the true value.

Source: see Rankings of tables.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, combinations
from math import exp, log
from typing import NamedTuple

from ..pairing.base import EntrantField, PlayedPairing
from ..points import Scoring, rank_groups
from .elo import MEAN, Programs, Rating
from .newton import Matrix, Prior, Vector, most_likely

# --- Rankings of tables
#
# This computes how likely rankings are, given the strengths.
#
# Each entrant without a place takes the next place with a probability proportional to the exponential of its strength.
# If entrants share a place, each of them counts as having taken an equal part of it. So for two seats a draw is half a
# win, as for Elo.
#
# Source: R. Plackett, The Analysis of Permutations, Applied Statistics 24 (1975); R. Luce, Individual Choice Behavior
# (1959). That its logarithm is concave: D. Hunter, MM Algorithms for Generalized Bradley-Terry Models, The Annals of
# Statistics 32 (2004).


class Ranking(NamedTuple):
    """The ranking of a match."""

    groups: tuple[tuple[int, ...], ...]
    """Groups of entrants that share a place, from best to worst."""
    is_last_told: bool = False
    """True if the last group shares the last place; False if its order is not known."""


class Rankings:
    """The likelihood of rankings, together with a prior.

    Args:
        counts: ranking -> number of matches with it.
        prior: prior of the strengths.
    """

    def __init__(self, counts: Mapping[Ranking, int], prior: Prior) -> None:
        self._counts = counts
        self._prior = prior

    def value(self, strengths: Vector) -> float:
        """Return the logarithm of the likelihood times the prior, up to a constant."""
        weights = list(map(exp, strengths))
        total = self._prior.value(strengths)
        for ranking, times in self._counts.items():
            for group, left in _draws(ranking, weights):
                total += times * (sum(strengths[entrant] for entrant in group) / len(group) - log(left))
        return total

    def gradient(self, strengths: Vector) -> Vector:
        """Return the slope: how much more each program has got than expected, plus the slope of the prior."""
        weights = list(map(exp, strengths))
        slope = self._prior.slope(strengths)
        for ranking, times in self._counts.items():
            draws = _draws(ranking, weights)
            for group, _ in draws:
                for entrant in group:
                    slope[entrant] += times / len(group)
            for group, expected in zip(ranking.groups, _taken_part(draws, len(ranking.groups), 1), strict=True):
                for entrant in group:
                    slope[entrant] -= times * weights[entrant] * expected
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of rankings and prior."""
        weights = list(map(exp, strengths))
        matrix = self._prior.matrix()
        for ranking, times in self._counts.items():
            draws, size = _draws(ranking, weights), len(ranking.groups)
            behind: list[int] = []
            once, twice = _taken_part(draws, size, 1), _taken_part(draws, size, 2)
            # Two entrants take part together in all draws in which the better one takes part. So its sums are used.
            for group, alone, both in zip(reversed(ranking.groups), reversed(once), reversed(twice), strict=True):
                behind += group
                for entrant in group:
                    matrix[entrant][entrant] += times * weights[entrant] * alone
                    part = times * weights[entrant] * both
                    for other in behind:
                        shared = part * weights[other]
                        matrix[entrant][other] -= shared
                        if other not in group:
                            matrix[other][entrant] -= shared
        return matrix


def _draws(ranking: Ranking, weights: Vector) -> list[tuple[tuple[int, ...], float]]:
    """Return, for each place, the entrants that took it, and the sum of weights of all that could have taken it.

    The last place is included only if it was shared.
    """
    groups = ranking.groups
    left = list(accumulate(sum(weights[entrant] for entrant in group) for group in reversed(groups)))[::-1]
    drawn_groups = len(groups) if ranking.is_last_told else len(groups) - 1
    return list(zip(groups[:drawn_groups], left[:drawn_groups], strict=True))


def _taken_part(draws: list[tuple[tuple[int, ...], float]], groups: int, power: int) -> list[float]:
    """Return, for each group, the sum of `left**-power` over the draws in which it took part."""
    sums = list(accumulate(left**-power for _, left in draws))
    return sums if len(sums) == groups else [*sums, sums[-1] if sums else 0.0]


# --- Results of teams
#
# This computes how likely results of teams are, given the strengths of their members.
#
# The strength of a team is the mean of its members' strengths, so a team of equal programs plays like each of them. One
# team beats another as often as Elo predicts for two entrants of these strengths; a draw is half a win. A result says
# nothing about the strength of partners relative to each other. If more than two teams meet, each pair of teams is an
# encounter.
#
# Source: R. Huang, C. Lin, R. Weng, Generalized Bradley-Terry Models and Multi-class Probability Estimates, Journal of
# Machine Learning Research 7 (2006), for strengths of teams that follow from their members.


class TeamMatch(NamedTuple):
    """The result of a match of teams."""

    teams: tuple[tuple[int, ...], ...]
    """Programs that win and lose together."""
    places: tuple[int, ...]
    """Place of each team; less is better."""
    out: int
    """Place of the teams whose members have all fouled. The result does not show which of them is the stronger."""

    def programs(self) -> list[int]:
        """Return the programs of all teams."""
        return [program for team in self.teams for program in team]


class _Encounter(NamedTuple):
    """Two teams of programs, and the points of the first."""

    team: tuple[int, ...]
    opponents: tuple[int, ...]
    points: float
    """1 for a win, 1/2 for a draw."""


class TeamResults:
    """The likelihood of matches of teams, together with a prior.

    Args:
        counts: result -> number of matches with it.
        prior: prior of the strengths.
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
        """Return the logarithm of the likelihood times the prior, up to a constant."""
        total = self._prior.value(strengths)
        for encounter, times in self._counts.items():
            lead = _lead(encounter, strengths)
            less = 1 - encounter.points if lead > 0 else encounter.points
            total -= times * (log(1 + exp(-abs(lead))) + abs(lead) * less)
        return total

    def gradient(self, strengths: Vector) -> Vector:
        """Return the slope: how much more each program has got than expected, plus the slope of the prior."""
        slope = self._prior.slope(strengths)
        for encounter, times in self._counts.items():
            more = times * (encounter.points - _expected_points(encounter, strengths))
            for index, share in _shares(encounter):
                slope[index] += more * share
        return slope

    def information(self, strengths: Vector) -> Matrix:
        """Return the information matrix of results and prior."""
        matrix = self._prior.matrix()
        for encounter, times in self._counts.items():
            expected, shares = _expected_points(encounter, strengths), _shares(encounter)
            added = times * expected * (1 - expected)
            for index, share in shares:
                for other, other_share in shares:
                    matrix[index][other] += added * share * other_share
        return matrix


def _shares(encounter: _Encounter) -> Sequence[tuple[int, float]]:
    """Return, for each program, by how much the lead of the first team changes with the program's strength."""
    team_shares = [(index, 1 / len(encounter.team)) for index in encounter.team]
    return [*team_shares, *((index, -1 / len(encounter.opponents)) for index in encounter.opponents)]


def _lead(encounter: _Encounter, strengths: Vector) -> float:
    return sum(share * strengths[index] for index, share in _shares(encounter))


def _expected_points(encounter: _Encounter, strengths: Vector) -> float:
    lead = _lead(encounter, strengths)
    return 1 / (1 + exp(-lead)) if lead >= 0 else 1 - 1 / (1 + exp(lead))


# --- The ratings


# Equal rankings are counted, not kept one by one: four entrants have at most 75 different rankings, so a season of a
# hundred thousand matches costs no more than its first hundred. This works because the order of matches does not
# matter.


class SkillBook:
    """Collects results one by one, and computes ratings from them.

    Args:
        field: the entrants, and the seats of a match.
        scoring: scoring, which defines the teams; None if there are no teams.
    """

    def __init__(self, field: EntrantField, scoring: Scoring | None = None) -> None:
        self._scoring = scoring or Scoring()
        self._team_matches: Counter[TeamMatch] = Counter()
        """Result of a match of teams -> how often it occurred. Programs are numbered as in the rankings."""
        self._size = len(field.entrants)
        self._rankings: Counter[Ranking] = Counter()
        """Ranking of programs -> how often it occurred. `~entrant` stands for an entrant's former program."""

    def add(self, played: PlayedPairing, former: AbstractSet[int] = frozenset()) -> None:
        """Add a result. Byes, void matches and matches in which all fouled are ignored.

        Args:
            played: the result.
            former: entrants that have changed their program after this result.
        """
        for leg in played.legs or (played,):
            seats, groups = leg.pairing.seats, rank_groups(leg)
            if len(seats) < 2 or not groups or len(leg.fouls) == len(seats):
                continue
            programs = [~entrant if entrant in former else entrant for entrant in seats]
            if self._scoring.teams:
                self._team_matches[self._team_match(leg, programs)] += 1
                continue
            ranked = tuple(tuple(sorted(programs[seat] for seat in group)) for group in groups)
            self._rankings[Ranking(ranked, is_last_told=len(ranked[-1]) > 1 and not leg.fouls)] += 1

    def join(self) -> None:
        """Note that an entrant has joined, as the last one of the field."""
        self._size += 1

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program: its results so far belong to the former one."""
        self._rankings = self._rename(lambda program: ~program if program == entrant else program)
        self._team_matches = self._rename_teams(lambda program: ~program if program == entrant else program)

    def ratings(self, mean: float = MEAN) -> tuple[Rating, ...]:
        """Rate all entrants of the field, in its order.

        Args:
            mean: mean of the ratings of each group.
        """
        named = [program for ranking in self._rankings for group in ranking.groups for program in group]
        named += [program for match in self._team_matches for program in match.programs()]
        programs = Programs(self._size, {~program for program in named if program < 0})
        rankings = dict(sorted(self._rename(programs.index).items()))
        for ranking, times in rankings.items():
            programs.meet([index for group in ranking.groups for index in group], times)
        matches = dict(sorted(self._rename_teams(programs.index).items()))
        for match, times in matches.items():
            programs.meet(match.programs(), times)
        prior = programs.prior()
        likelihood = TeamResults(matches, prior) if self._scoring.teams else Rankings(rankings, prior)
        strengths = most_likely(prior.size, likelihood)
        return programs.rate(strengths, likelihood.information(strengths), mean)

    def _team_match(self, leg: PlayedPairing, programs: Sequence[int]) -> TeamMatch:
        """Return the result of a match of teams. A team has the place of its best seat that did not foul."""
        place = {seat: at for at, group in enumerate(rank_groups(leg)) for seat in group if seat not in leg.fouls}
        last = len(programs)
        return TeamMatch(
            teams=tuple(tuple(programs[seat] for seat in team) for team in self._scoring.teams),
            places=tuple(min(place.get(seat, last) for seat in team) for team in self._scoring.teams),
            out=last,
        )

    def _rename_teams(self, name: Callable[[int], int]) -> Counter[TeamMatch]:
        """Return the matches of teams with other names for programs."""
        renamed: Counter[TeamMatch] = Counter()
        for match, times in self._team_matches.items():
            renamed[match._replace(teams=tuple(tuple(map(name, team)) for team in match.teams))] += times
        return renamed

    def _rename(self, name: Callable[[int], int]) -> Counter[Ranking]:
        """Return the rankings with other names for programs."""
        renamed: Counter[Ranking] = Counter()
        for ranking, times in self._rankings.items():
            groups = tuple(tuple(sorted(map(name, group))) for group in ranking.groups)
            renamed[ranking._replace(groups=groups)] += times
        return renamed
