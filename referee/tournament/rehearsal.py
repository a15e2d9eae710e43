"""How many matches a tournament will have, told by rehearsing it. Knows formats; refuses to know results."""

from typing import Any

from ..pairing.base import Pairing, PairingFormat, Played, bye

MOST = 20_000
"""Matches rehearsed at most: a second or two."""


def matches_left(format_: PairingFormat[Any], state: Any, most: int = MOST) -> int | None:
    """Return how many pairings there still are to be played if the first seat wins each of them.

    Args:
        format_: of the tournament.
        state: to begin with.
        most: give up when there are more.

    Returns:
        Byes are not counted; None if there are more than `most`.
    """
    count = 0
    while due := format_.due(state):
        for pairing in due:
            count += not pairing.is_bye
            if count > most:
                return None
            state = format_.record(state, bye(pairing) if pairing.is_bye else _won_by_the_first(pairing))
    return count


def _won_by_the_first(pairing: Pairing) -> Played:
    seats = range(len(pairing.seats))
    return Played(pairing=pairing, ranking=tuple((seat,) for seat in seats), scores=tuple(-seat for seat in seats))
