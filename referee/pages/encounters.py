"""Who beat whom: wins, draws and losses of entrants and of seats, and how likely it is that one is the stronger.

In a match of more than two every two of a table are an encounter, as in the crosstable; partners do not meet.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt
from statistics import NormalDist

from ..tournament.crosstable import HeadToHead
from ..tournament.match_context import MatchEntry
from ..tournament.points import Scoring
from ..tournament.ratings.elo import NORMAL_95, Rating
from .notation import places_of

_NORMAL = NormalDist()


def total(met: Iterable[HeadToHead]) -> HeadToHead:
    """Return wins, draws and losses together."""
    every = [(pair.wins, pair.draws, pair.losses) for pair in met]
    wins, draws, losses = (sum(column) for column in zip(*every, strict=True)) if every else (0, 0, 0)
    return HeadToHead(wins=wins, draws=draws, losses=losses)


def superiority(met: HeadToHead) -> float | None:
    """Return how likely it is that one is stronger than the other, by wins and losses alone; None: nobody has won.

    A normal approximation: draws tell nothing of who is the stronger.
    """
    decided = met.wins + met.losses
    return _NORMAL.cdf((met.wins - met.losses) / sqrt(decided)) if decided else None


def rated_superiority(rating: Rating, opponent_rating: Rating) -> float | None:
    """Return how likely it is by their ratings that one is stronger than the other; None: they can't be compared.

    Their errors are taken for independent.
    """
    deviation = sqrt(rating.error**2 + opponent_rating.error**2) / NORMAL_95
    if rating.group != opponent_rating.group or not deviation:
        return None
    return _NORMAL.cdf((rating.rating - opponent_rating.rating) / deviation)


def share_error(met: HeadToHead) -> float:
    """Return half the width of the 95 % interval of the share of points.

    By a normal approximation with two wins and two losses more, so that a few wins without a loss prove nothing (A.
    Agresti and B. Coull, Approximate Is Better than "Exact", The American Statistician 52, 1998).
    """
    played = met.played + 4
    share = (float(met.points) + 2) / played
    return NORMAL_95 * sqrt(((met.wins + met.draws / 4 + 2) / played - share**2) / played)


def by_seat(entries: Iterable[MatchEntry], scoring: Scoring, entrants: int, seats: int) -> list[list[HeadToHead]]:
    """Return how each entrant fared on each seat, indexed [entrant][seat].

    Args:
        entries: the matches that count.
        scoring: it says who are partners.
        entrants: how many there are.
        seats: of a match.
    """
    counts = [[[0, 0, 0] for _ in range(seats)] for _ in range(entrants)]
    for entry in entries:
        for seat, other, level in _encounters(entry, scoring.sides(len(entry.names))):
            counts[entry.fixture.entrants[seat]][seat][level[0]] += 1
            counts[entry.fixture.entrants[other]][other][level[1]] += 1
    return [[HeadToHead(wins=won, draws=drawn, losses=lost) for won, drawn, lost in opponents] for opponents in counts]


def _encounters(entry: MatchEntry, sides: Sequence[int]) -> Iterable[tuple[int, int, tuple[int, int]]]:
    """Yield every two seats, and what came of it for each: 0 a win, 1 a draw, 2 a loss."""
    places, fouls = places_of(entry), {foul.seat for foul in entry.fouls}
    for seat, opponent in combinations(range(len(places)), 2):
        if sides[seat] == sides[opponent]:
            continue
        if places[seat] == places[opponent]:
            yield seat, opponent, (2, 2) if seat in fouls else (1, 1)
        else:
            yield seat, opponent, (0, 2) if places[seat] < places[opponent] else (2, 0)
