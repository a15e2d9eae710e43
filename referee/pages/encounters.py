"""Encounters: wins, draws and losses of entrants and seats, likelihood of superiority, and histories of ratings.

In a match of more than two, every two opponents have an encounter, as in the crosstable; partners have none.

The history of a rating shows the rating that follows from an entrant's first results, given the present ratings of its
opponents. For matches of two, the last value is the rating itself. For more seats the model differs, and the last value
is near the rating. The last interval is the interval of the rating. Earlier intervals are wider, because fewer results
give less information. The computation assumes that the opponents' uncertainty and draws widen all intervals alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import exp, sqrt
from statistics import NormalDist

from msgspec import Struct

from ..tournament.crosstable import HeadToHead
from ..tournament.match_context import MatchEntry
from ..tournament.pairing.base import PlayedPairing
from ..tournament.points import Scoring, rank_groups
from ..tournament.ratings.elo import ELO, MEAN, NORMAL_95, PRECISION, PRIOR_ELO, Rating, weigh_result
from .match_summary import match_places

_NORMAL = NormalDist()
MOST_POINTS = 30
"""Most points of a history; a line on a page can't show more."""
_MOST_STEPS = 50
_CLOSE = 1e-4
"""The search ends when a step on the logistic scale is smaller than this, which is far less than a point of Elo."""


def total(met: Iterable[HeadToHead]) -> HeadToHead:
    """Return the sum of wins, draws and losses."""
    every = [(pair.wins, pair.draws, pair.losses) for pair in met]
    wins, draws, losses = (sum(column) for column in zip(*every, strict=True)) if every else (0, 0, 0)
    return HeadToHead(wins=wins, draws=draws, losses=losses)


def superiority(met: HeadToHead) -> float | None:
    """Return the probability that an entrant is stronger than its opponent, or None if neither has won.

    It is computed from wins and losses by a normal approximation. Draws do not show who is stronger.
    """
    decided = met.wins + met.losses
    return _NORMAL.cdf((met.wins - met.losses) / sqrt(decided)) if decided else None


def rated_superiority(rating: Rating, opponent_rating: Rating) -> float | None:
    """Return the probability that a rated entrant is stronger than another; None if the ratings can't be compared.

    The errors are assumed to be independent. This is only nearly true, because both depend on common opponents.
    """
    deviation = sqrt(rating.error**2 + opponent_rating.error**2) / NORMAL_95
    if rating.group != opponent_rating.group or not deviation:
        return None
    return _NORMAL.cdf((rating.rating - opponent_rating.rating) / deviation)


def share_error(met: HeadToHead) -> float:
    """Return half the width of the 95 % interval of the share of points.

    This is a normal approximation with two wins and two losses added, so that a few wins without a loss prove nothing.

    Source: A. Agresti and B. Coull, Approximate Is Better than "Exact", The American Statistician 52, 1998.
    """
    played = met.played + 4
    share = (float(met.points) + 2) / played
    return NORMAL_95 * sqrt(((met.wins + met.draws / 4 + 2) / played - share**2) / played)


def by_seat(entries: Iterable[MatchEntry], scoring: Scoring, entrants: int, seats: int) -> list[list[HeadToHead]]:
    """Return the results of each entrant in each seat, indexed [entrant][seat].

    Args:
        entries: the matches that count.
        scoring: scoring of the tournament, which says which seats are partners.
        entrants: number of entrants.
        seats: number of seats of a match.
    """
    counts = [[[0, 0, 0] for _ in range(seats)] for _ in range(entrants)]
    for entry in entries:
        for seat, other, level in _encounters(entry, scoring.sides(len(entry.names))):
            counts[entry.fixture.entrants[seat]][seat][level[0]] += 1
            counts[entry.fixture.entrants[other]][other][level[1]] += 1
    return [[HeadToHead(wins=won, draws=drawn, losses=lost) for won, drawn, lost in opponents] for opponents in counts]


def _encounters(entry: MatchEntry, sides: Sequence[int]) -> Iterable[tuple[int, int, tuple[int, int]]]:
    """Yield every two opponents of a match, with the result of each: 0 for a win, 1 for a draw, 2 for a loss."""
    places, fouls = match_places(entry), {foul.seat for foul in entry.fouls}
    for seat, opponent in combinations(range(len(places)), 2):
        if sides[seat] == sides[opponent]:
            continue
        if places[seat] == places[opponent]:
            yield seat, opponent, (2, 2) if seat in fouls else (1, 1)
        else:
            yield seat, opponent, (0, 2) if places[seat] < places[opponent] else (2, 0)


class RatedAfter(Struct, frozen=True):
    """The rating of an entrant after some of its results."""

    encounters: int
    rating: float
    error: float
    """Half the width of the 95 % interval."""


class RatedEncounters:
    """The encounters that ratings are computed from, for each entrant in the order of the tournament.

    Args:
        played: the decided pairings.
        scoring: scoring of the tournament, which says which seats are partners.
        dispersion: variance of a score between equals, divided by the variance if there were no draws.
    """

    def __init__(self, played: Sequence[PlayedPairing], scoring: Scoring, dispersion: float = 1.0) -> None:
        self._dispersion = dispersion
        self._of: dict[int, list[tuple[int, float]]] = {}
        for pairing in played:
            for entrant, opponent, score in _scores(pairing, scoring):
                self._of.setdefault(entrant, []).append((opponent, score))

    def history(self, entrant: int, ratings: Sequence[Rating]) -> list[RatedAfter]:
        """Return the ratings of an entrant after none, some and all of its results.

        Args:
            entrant: the entrant, as its index.
            ratings: present ratings of all entrants.
        """
        met = self._of.get(entrant, [])
        shown = {round(step * len(met) / MOST_POINTS) for step in range(MOST_POINTS + 1)}
        history = [(0, 0.0, PRECISION)]
        mine = ratings[entrant].rating
        weights = {
            opponent: weigh_result((mine - ratings[opponent].rating) / ELO, self._dispersion) for opponent, _ in met
        }
        sums: dict[int, tuple[float, int]] = {}
        for count, (opponent, score) in enumerate(met, 1):
            points, times = sums.get(opponent, (0.0, 0))
            sums[opponent] = points + score, times + 1
            if count in shown:
                history.append((count, *_most_likely(history[-1][1], sums, ratings, weights)))
        error = ratings[entrant].error if met else NORMAL_95 * PRIOR_ELO
        most = history[-1][2]
        return [
            RatedAfter(count, MEAN + ELO * strength, error * sqrt(most / information))
            for count, strength, information in history
        ]


def _scores(played: PlayedPairing, scoring: Scoring) -> Iterator[tuple[int, int, float]]:
    """Yield entrant, opponent and score of every encounter, from both sides. Two that both fouled have none."""
    seats, sides = played.pairing.seats, scoring.sides(len(played.pairing.seats))
    place = {seat: index for index, group in enumerate(rank_groups(played)) for seat in group}
    for seat, opponent in combinations(sorted(place), 2):
        is_equal = place[seat] == place[opponent]
        if sides[seat] == sides[opponent] or (is_equal and seat in played.fouls):
            continue
        score = 0.5 if is_equal else float(place[seat] < place[opponent])
        yield seats[seat], seats[opponent], score
        yield seats[opponent], seats[seat], 1 - score


# This is Newton's method in one dimension: the entrant's own strength changes, the opponents' strengths are fixed. It
# would be exact to fit the whole field again after every match, but that takes minutes for a season. Steps are bounded,
# because an entrant that has won all its first matches would otherwise get a far too large step.


def _most_likely(
    start: float, sums: Mapping[int, tuple[float, int]], ratings: Sequence[Rating], weights: Mapping[int, float]
) -> tuple[float, float]:
    """Return the strength that makes these results most likely, and its Fisher information.

    The information says how much the results and the prior tell about the strength.
    """
    against = [
        ((ratings[opponent].rating - MEAN) / ELO, weights[opponent], points, times)
        for opponent, (points, times) in sums.items()
    ]
    strength, information = start, PRECISION
    for _ in range(_MOST_STEPS):
        slope, information = -PRECISION * strength, PRECISION
        for other, weight, points, times in against:
            expected = 1 / (1 + exp(other - strength))
            slope += weight * (points - times * expected)
            information += weight * times * expected * (1 - expected)
        step = max(-1.0, min(1.0, slope / information))
        strength += step
        if abs(step) < _CLOSE:
            break
    return strength, information
