"""The order in which entrants go into a format: by rating, else by lot."""

from ...games.base import Shuffle
from .base import EntrantField


def seeded(field: EntrantField, shuffle: Shuffle) -> tuple[int, ...]:
    """Return the entrants, the best rated first; equal ones and, after all others, unrated ones by lot."""
    ratings = [entrant.rating for entrant in field.entrants]
    lot = shuffle(range(len(ratings)))
    rated = sorted(
        (entrant for entrant in lot if ratings[entrant] is not None), key=lambda entrant: -(ratings[entrant] or 0)
    )
    return (*rated, *(entrant for entrant in lot if ratings[entrant] is None))
