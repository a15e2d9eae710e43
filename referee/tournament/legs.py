"""The legs of a pairing: one deal played from every seat, and what all of it amounts to.

Each leg is worth its match points to each entrant; the sums rank the pairing, which counts as one match. Who fouled in
every leg has fouled in the pairing.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from .match_context import MatchEntry
from .pairing.base import Pairing, PlayedPairing
from .points import Scoring, match_points


def rotated(seats: Sequence[int], leg: int) -> tuple[int, ...]:
    """Return the entrants by seat in a leg: each moves up by a seat from leg to leg."""
    return tuple(seats[(seat + leg) % len(seats)] for seat in range(len(seats)))


def combined(pairing: Pairing, legs: Sequence[MatchEntry], scoring: Scoring | None) -> PlayedPairing:
    """Return what came of a pairing.

    Args:
        pairing: its seats are the order of what is returned.
        legs: at least one; none of them void.
        scoring: what the places of a leg are worth; not asked for a single one.

    Returns:
        The ranking by the sum of match points, none if no leg counts; the scores added up.
    """
    parts = [_reordered(pairing, entry) for entry in legs]
    if len(parts) == 1 or scoring is None:
        return parts[0]
    seats = range(len(pairing.seats))
    points = [match_points(part, scoring) for part in parts]
    sums = [sum((shares[seat] for shares in points), Fraction(0)) for seat in seats]
    fouls = tuple(seat for seat in seats if all(seat in part.fouls for part in parts))
    order = sorted(seats, key=lambda seat: (seat in fouls, -sums[seat], seat))
    groups = groupby(order, key=lambda seat: (seat in fouls, sums[seat]))
    return PlayedPairing(
        pairing=pairing,
        ranking=tuple(tuple(group) for _, group in groups) if any(part.ranking for part in parts) else (),
        scores=tuple(sum(part.scores[seat] for part in parts) for seat in seats),
        fouls=fouls,
        legs=tuple(parts),
    )


def _reordered(pairing: Pairing, entry: MatchEntry) -> PlayedPairing:
    """Return a match's result by the pairing's seats."""
    place = [pairing.seats.index(entrant) for entrant in entry.fixture.entrants]
    scores = [0] * len(place)
    for seat, score in enumerate(entry.scores):
        scores[place[seat]] = score
    return PlayedPairing(
        pairing=pairing,
        ranking=tuple(tuple(sorted(place[seat] for seat in group)) for group in entry.ranking),
        scores=tuple(scores),
        fouls=tuple(sorted(place[foul.seat] for foul in entry.fouls)),
    )
