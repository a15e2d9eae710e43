"""Tournaments between players of known strength, and how often the 95 % intervals of their ratings hold the truth."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import log
from random import Random

from referee.tournament.pairing.base import PlayedPairing
from referee.tournament.ratings.elo import ELO, Rating, elo_ratings, expected_score
from referee.tournament.ratings.multi_seat import SkillBook

from .results import Groups, field, match, table_of

SIZE = 10
Rater = Callable[[Random, Sequence[float]], Sequence[Rating]]
"""Plays a tournament between players of known strengths, in Elo around 0, and rates them."""


def strengths(random: Random, size: int, spread_elo: float) -> list[float]:
    """Return normally distributed strengths in Elo with a mean of 0, because ratings show only differences."""
    drawn = [random.gauss(0, spread_elo) for _ in range(size)]
    return [item - sum(drawn) / size for item in drawn]


def duel_ranking(random: Random, lead: float, drawn: float) -> Groups:
    """Return the ranking of a match of two.

    Args:
        random: decides.
        lead: of the first one, in Elo.
        drawn: share of matches drawn between equals; between others it shrinks with the chance of an upset. If there
            were more draws than the points due to the weaker player, it would lose no match. The average score follows
            from the strengths alone, so it does not depend on draws.
    """
    expected = expected_score(lead)
    half = min(2 * drawn * expected * (1 - expected), expected, 1 - expected)
    chance = random.random()
    if chance < 2 * half:
        return ((0, 1),)
    return ((0,), (1,)) if chance < expected + half else ((1,), (0,))


def table_ranking(random: Random, at_table: Sequence[float]) -> Groups:
    """Return the ranking of a match by Plackett and Luce: the largest of shifted Gumbel variables is first."""
    keys = [strength / ELO - log(-log(1 - random.random())) for strength in at_table]
    return tuple((seat,) for seat in sorted(range(len(keys)), key=lambda seat: -keys[seat]))


def elo_by(matches: int, drawn: float) -> Rater:
    """Return a round-robin of so many matches for each pair, rated by Elo."""

    def rated(random: Random, truth: Sequence[float]) -> Sequence[Rating]:
        pairs = combinations(range(len(truth)), 2)
        duels = ((one, other) for one, other in pairs for _ in range(matches))
        results = (match(1, pair, duel_ranking(random, truth[pair[0]] - truth[pair[1]], drawn)) for pair in duels)
        return elo_ratings(table_of(len(truth), results), mean=0.0)

    return rated


def skill_by(seats: int, matches: int) -> Rater:
    """Return a tournament of random groups, with about so many matches for each player, rated by SkillBook."""

    def rated(random: Random, truth: Sequence[float]) -> Sequence[Rating]:
        book = SkillBook(field(len(truth), seats))
        for played in tables(random, truth, seats, matches * len(truth) // seats):
            book.add(played)
        return book.ratings(mean=0.0)

    return rated


def tables(random: Random, truth: Sequence[float], seats: int, count: int) -> Iterable[PlayedPairing]:
    """Yield results of random tables."""
    for _ in range(count):
        at_table = random.sample(range(len(truth)), seats)
        yield match(1, at_table, table_ranking(random, [truth[entrant] for entrant in at_table]))


def coverage(rater: Rater, spread_elo: float, tournaments: int, size: int = SIZE) -> tuple[float, float]:
    """Play tournaments, each with its own players and seed.

    Returns:
        How many intervals hold the truth, as a share of all; and the mean half-width of an interval, in Elo.
    """
    held, width = 0, 0.0
    for seed in range(tournaments):
        random = Random(seed)
        truth = strengths(random, size, spread_elo)
        for rating, true in zip(rater(random, truth), truth, strict=True):
            held += abs(rating.rating - true) <= rating.error
            width += rating.error
    return held / (tournaments * size), width / (tournaments * size)
