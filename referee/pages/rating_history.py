"""How an entrant's rating came about: what its results said of it after each of them, the others being as they are now.

The last value is the rating itself, in matches of two; of more seats the model is another one, and it is near it. The
last interval is the rating's. Those before it are as much wider as fewer results tell less: what is not known of the
opponents, and what draws tell more, has the same share in all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import exp, sqrt

from msgspec import Struct

from ..tournament.pairing.base import PlayedPairing
from ..tournament.points import Scoring, groups_of
from ..tournament.ratings.elo import ELO, NORMAL_95, PRECISION, PRIOR_ELO, Rating

MEAN = 1500.0
MOST_POINTS = 30
"""Of a history: a line on a page shows no more."""
_MOST_STEPS = 50
_CLOSE = 1e-4
"""On the logistic scale; far less than a point of Elo."""


class RatedAfter(Struct, frozen=True):
    """What so many results said of an entrant."""

    encounters: int
    rating: float
    error: float
    """Half the width of the 95 % interval."""


class RatedEncounters:
    """Every encounter that ratings rest on, by entrant in the order of the tournament.

    Args:
        played: the pairings that are through.
        scoring: it says who are partners.
        weight: of each result against the prior.
    """

    def __init__(self, played: Sequence[PlayedPairing], scoring: Scoring, weight: float = 1.0) -> None:
        self._weight = weight
        self._of: dict[int, list[tuple[int, float]]] = {}
        for pairing in played:
            for entrant, opponent, score in _scores(pairing, scoring):
                self._of.setdefault(entrant, []).append((opponent, score))

    def history(self, entrant: int, ratings: Sequence[Rating]) -> list[RatedAfter]:
        """Return what its results said of an entrant after some of them, from none on to all.

        Args:
            entrant: whose history it is.
            ratings: of everybody, as they are now.
        """
        met = self._of.get(entrant, [])
        kept = {round(step * len(met) / MOST_POINTS) for step in range(MOST_POINTS + 1)}
        found = [(0, 0.0, PRECISION)]
        sums: dict[int, tuple[float, int]] = {}
        for count, (opponent, score) in enumerate(met, 1):
            points, times = sums.get(opponent, (0.0, 0))
            sums[opponent] = points + score, times + 1
            if count in kept:
                found.append((count, *_most_likely(found[-1][1], sums, ratings, self._weight)))
        error = ratings[entrant].error if met else NORMAL_95 * PRIOR_ELO
        most = found[-1][2]
        return [
            RatedAfter(count, MEAN + ELO * strength, error * sqrt(most / known)) for count, strength, known in found
        ]


def _scores(played: PlayedPairing, scoring: Scoring) -> Iterator[tuple[int, int, float]]:
    """Yield entrant, opponent and score of every encounter, from both sides; nothing of two that both fouled."""
    seats, sides = played.pairing.seats, scoring.sides(len(played.pairing.seats))
    place = {seat: index for index, group in enumerate(groups_of(played)) for seat in group}
    for seat, opponent in combinations(sorted(place), 2):
        is_equal = place[seat] == place[opponent]
        if sides[seat] == sides[opponent] or (is_equal and seat in played.fouls):
            continue
        score = 0.5 if is_equal else float(place[seat] < place[opponent])
        yield seats[seat], seats[opponent], score
        yield seats[opponent], seats[seat], 1 - score


def _most_likely(
    start: float, sums: Mapping[int, tuple[float, int]], ratings: Sequence[Rating], weight: float
) -> tuple[float, float]:
    """Return the strength that makes these results most likely, by Newton's method with bounded steps.

    And how much the results and the prior tell of it: the information, as Fisher calls it.
    """
    against = [((ratings[opponent].rating - MEAN) / ELO, points, times) for opponent, (points, times) in sums.items()]
    strength, known = start, PRECISION
    for _ in range(_MOST_STEPS):
        slope, known = -PRECISION * strength, PRECISION
        for other, points, times in against:
            expected = 1 / (1 + exp(other - strength))
            slope += weight * (points - times * expected)
            known += weight * times * expected * (1 - expected)
        step = max(-1.0, min(1.0, slope / known))
        strength += step
        if abs(step) < _CLOSE:
            break
    return strength, known
