"""Match points: the points that each seat gets for its place in a match.

Points are exact fractions, so that sums do not depend on the order of the matches, and equal sums compare as equal.
"""

# A bye and a void match are not results of a game, but they need points, too. Only this module decides them. In matches
# of two, a bye is worth a win by default, as in chess. The organiser can change this (`bye`), because a free win is a
# lot in a small field. In larger matches a win would be too much, since nobody wins all of them, so the default is the
# average points of a match.

import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from ..errors import BadRequest
from ..match.setup import Margin
from .pairing.base import LATE, PlayedPairing

ZERO = Fraction(0)
HALF = Fraction(1, 2)
_CACHED = 4096
"""Number of cached results, one for each shape of a ranking. 12 seats alone have 2048 shapes; the number is a guess."""


class BadScoring(BadRequest, ValueError):
    """A scoring makes no sense; the text says what the organiser must fix."""


class Scoring(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Points for the places of a match."""

    by_rank: tuple[tuple[float, ...], ...] = ()
    """Points from first place to last, one row for each number of seats: `[[10, 6, 3, 1], [10, 5, 1]]`.

    Seats that share a place share the points of the places that they take up. If no row fits the size of a match, a
    seat gets the share of opponents that it beat, times the largest number of points for a first place.
    """
    bye: float | None = None
    """Points of a bye as a share of a first place: 1 for all of it, 0.5 for half.

    If None, a bye is worth a win in matches of two, and the average points of a match in larger ones.
    """
    late_bye: float = 0.5
    """Points of each round that an entrant missed because it joined late, as a share of a first place."""
    default_margin: Margin = 0
    """The game's points of the last seat or team once all others are expelled, who get 0."""
    teams: tuple[tuple[int, ...], ...] = ()
    """The teams of the game: groups of seats that win and lose together; empty if each seat plays for itself.

    A team occupies one place, so a win of a team over another is worth as much as a win of one seat over another.
    """

    def __post_init__(self) -> None:
        """Refuse a scoring that makes no sense."""
        sizes = [len(row) for row in self.by_rank]
        if len(set(sizes)) < len(sizes):
            raise BadScoring("by_rank: two rows for the same number of seats")
        for row in self.by_rank:
            _check_row(row)
        for name, share in (("bye", self.bye), ("late_bye", self.late_bye)):
            if share is not None and not 0 <= share <= 1:
                raise BadScoring(f"{name}: {share} is not between 0 and 1")

    def sides(self, seats: int) -> tuple[int, ...]:
        """Return the side of each seat: a number that only partners share."""
        if not self.teams:
            return tuple(range(seats))
        return tuple(next(index for index, team in enumerate(self.teams) if seat in team) for seat in range(seats))


def first_place(scoring: Scoring, seats: int) -> Fraction:
    """Return the points of a first place in matches of a number of seats."""
    return _places(len(scoring.teams) or seats, scoring)[0]


def exact(number: float) -> Fraction:
    """Return the exact value of the decimal number that the organiser wrote, without the rounding of a float."""
    return Fraction(str(number))


def rank_groups(played: PlayedPairing) -> tuple[tuple[int, ...], ...]:
    """Return the ranking with all seats that fouled in the last group.

    Returns:
        Groups of seats from best to worst; an empty tuple for a void match.
    """
    fouls = set(played.fouls)
    clean = (tuple(seat for seat in group if seat not in fouls) for group in played.ranking)
    fouled = tuple(seat for group in played.ranking for seat in group if seat in fouls)
    return tuple(group for group in (*clean, fouled) if group)


def bye_points(scoring: Scoring, seats: int, *, is_late: bool) -> Fraction:
    """Return the points of a bye.

    Args:
        scoring: scoring of the tournament.
        seats: number of seats of a match.
        is_late: True if the bye is for a round before the entrant joined.
    """
    places = _places(len(scoring.teams) or seats, scoring)
    if is_late:
        return exact(scoring.late_bye) * places[0]
    if scoring.bye is None and seats > 2:
        return sum(places, ZERO) / len(places)
    return exact(1 if scoring.bye is None else scoring.bye) * places[0]


def match_points(played: PlayedPairing, scoring: Scoring, seats: int = 2) -> tuple[Fraction, ...]:
    """Return the match points of each seat.

    By default, they are the share of opponents that the seat has beaten. An equal opponent counts half. So for two
    seats or teams the points are 1, 1/2 or 0, and for four 1, 2/3, 1/3 or 0. All partners get the place of the best of
    them. A seat that fouled gets nothing, even if all fouled. In a void match, nobody gets points.

    Args:
        played: the result.
        scoring: points for places.
        seats: number of seats of a match; needed for a bye.

    Returns:
        Points by seat, exact.
    """
    if not played.ranking:
        return (ZERO,) * len(played.pairing.seats)
    if played.pairing.is_bye:
        return (bye_points(scoring, seats, is_late=played.pairing.table == LATE),)
    sides = scoring.sides(len(played.pairing.seats))
    best: dict[int, int] = {}
    for place, group in enumerate(rank_groups(played)):
        for seat in group:
            best.setdefault(sides[seat], place)
    sizes = Counter(best.values())
    worth = dict(zip(sizes, _worth(tuple(sizes.values()), scoring), strict=True))
    return tuple(ZERO if seat in played.fouls else worth[best[side]] for seat, side in enumerate(sides))


def _places(sides: int, scoring: Scoring) -> list[Fraction]:
    """Return the points from first place to last of a match of a number of seats or teams."""
    row = next((row for row in scoring.by_rank if len(row) == sides), None)
    if row:
        return [exact(number) for number in row]
    most = max((exact(row[0]) for row in scoring.by_rank), default=Fraction(1))
    return [most * Fraction(sides - 1 - place, sides - 1) for place in range(sides)]


@lru_cache(_CACHED)
def _worth(sizes: tuple[int, ...], scoring: Scoring) -> tuple[Fraction, ...]:
    """Return the points of a side in each group, given the sizes of the groups from best to worst."""
    places = _places(sum(sizes), scoring)
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(sum(places[start : start + size], ZERO) / size for start, size in zip(starts, sizes, strict=True))


def _check_row(row: tuple[float, ...]) -> None:
    """Raise BadScoring if the points do not decrease from first place to last."""
    if len(row) < 2:
        raise BadScoring(f"by_rank: {list(row)} is for fewer than two seats")
    if not all(math.isfinite(number) and number >= 0 for number in row):
        raise BadScoring(f"by_rank: {list(row)} has something else than numbers from 0 up")
    if row[0] <= 0 or any(better < worse for better, worse in pairwise(row)):
        raise BadScoring(f"by_rank: {list(row)} does not go down from first place to last")
