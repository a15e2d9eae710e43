"""How an entrant's rating came about: what its results said of it after each of them, the others being as they are now.

The last value is the rating itself, in matches of two; of more seats the model is another one, and it is near it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import exp

from ..pairing.base import PlayedPairing
from ..tournament.points import Scoring, groups_of
from ..tournament.ratings.elo import ELO, PRECISION

MEAN = 1500.0
MOST_POINTS = 30
"""Of a course: a line on a page shows no more."""
_MOST_STEPS = 50
_CLOSE = 1e-4
"""On the logistic scale; far less than a point of Elo."""


class RatedEncounters:
    """Every encounter that ratings rest on, by entrant in the order of the tournament.

    Args:
        played: the pairings that are through.
        scoring: it says who are partners.
    """

    def __init__(self, played: Sequence[PlayedPairing], scoring: Scoring) -> None:
        self._of: dict[int, list[tuple[int, float]]] = {}
        for pairing in played:
            for entrant, opponent, score in _scores(pairing, scoring):
                self._of.setdefault(entrant, []).append((opponent, score))

    def course(self, entrant: int, ratings: Sequence[float]) -> list[tuple[int, float]]:
        """Return encounters so far -> rating, from none on.

        Args:
            entrant: whose course it is.
            ratings: of everybody, as they are now.
        """
        met = self._of.get(entrant, [])
        kept = {round(step * len(met) / MOST_POINTS) for step in range(MOST_POINTS + 1)}
        course = [(0, MEAN)]
        sums: dict[int, tuple[float, int]] = {}
        strength = 0.0
        for count, (opponent, score) in enumerate(met, 1):
            points, times = sums.get(opponent, (0.0, 0))
            sums[opponent] = points + score, times + 1
            if count in kept:
                strength = _most_likely(strength, sums, ratings)
                course.append((count, MEAN + ELO * strength))
        return course


def _scores(played: PlayedPairing, scoring: Scoring) -> Iterator[tuple[int, int, float]]:
    """Yield entrant, opponent and score of every encounter, from both sides; nothing of two that both fouled."""
    seats, sides = played.pairing.seats, scoring.sides(len(played.pairing.seats))
    place = {seat: index for index, group in enumerate(groups_of(played)) for seat in group}
    for one, other in combinations(sorted(place), 2):
        is_equal = place[one] == place[other]
        if sides[one] == sides[other] or (is_equal and one in played.fouls):
            continue
        score = 0.5 if is_equal else float(place[one] < place[other])
        yield seats[one], seats[other], score
        yield seats[other], seats[one], 1 - score


def _most_likely(start: float, sums: Mapping[int, tuple[float, int]], ratings: Sequence[float]) -> float:
    """Return the strength that makes these results most likely, by Newton's method with bounded steps."""
    against = [((ratings[opponent] - MEAN) / ELO, points, times) for opponent, (points, times) in sums.items()]
    strength = start
    for _ in range(_MOST_STEPS):
        slope, bend = -PRECISION * strength, PRECISION
        for other, points, times in against:
            expected = 1 / (1 + exp(other - strength))
            slope += points - times * expected
            bend += times * expected * (1 - expected)
        step = max(-1.0, min(1.0, slope / bend))
        strength += step
        if abs(step) < _CLOSE:
            break
    return strength
