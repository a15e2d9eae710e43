"""Computes the bars of a report: a rating and its interval on one line."""

from typing import NamedTuple

from ...tournament.ratings.elo import Rating
from ..encounters import rated_superiority
from ..summary import Summary


class RatingBar(NamedTuple):
    """A rating, and where it, its interval and the mean of all lie on a line from 0 to 100."""

    rating: Rating
    superiority: float | None
    """How likely it is stronger than the next one; None: there is none that it can be compared with."""
    start: float
    middle: float
    end: float
    mean: float


def rating_bars(summary: Summary) -> list[RatingBar]:
    """Return everybody's rating with its 95 % interval, the strongest first; groups that never met stand apart."""
    ratings = sorted(summary.ratings, key=lambda rating: (rating.group, -rating.rating))
    low = min(rating.rating - rating.error for rating in ratings)
    high = max(rating.rating + rating.error for rating in ratings)
    return [
        RatingBar(
            found,
            None if after is None else rated_superiority(found, after),
            *(
                round(100 * (value - low) / max(high - low, 1.0), 2)
                for value in (found.rating - found.error, found.rating, found.rating + found.error, 1500)
            ),
        )
        for found, after in zip(ratings, (*ratings[1:], None), strict=True)
    ]
