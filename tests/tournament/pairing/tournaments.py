"""Common parts of the tests of pairing formats: fields, results by strength, whole tournaments."""

from collections.abc import Callable, Sequence
from typing import Any

from referee.chance import Dealer
from referee.testing import with_rounds
from referee.tournament.pairing.base import Entrant, EntrantField, Pairing, PairingFormat, PlayedPairing, bye

SHUFFLE = Dealer(bytes(32))


def field(
    count: int, seats: int = 2, ratings: Sequence[float] = (), single: Sequence[int] | None = None
) -> EntrantField:
    """Return a field.

    Args:
        count: how many entrants there are.
        seats: of one match.
        ratings: of the first entrants.
        single: who plays one match at a time; by default everybody.
    """
    rated = [*ratings, *(None for _ in range(count))]
    single = range(count) if single is None else single
    return EntrantField(
        entrants=tuple(
            Entrant(name=f"e{number}", rating=rated[number], has_copies=number not in single) for number in range(count)
        ),
        seats=seats,
    )


def falling(count: int) -> list[float]:
    """Return ratings by which the entrants are seeded in their own order."""
    return [float(-number) for number in range(count)]


def first_wins(pairing: Pairing) -> PlayedPairing:
    """Rank the seats in the order of the entrants' numbers."""
    if pairing.is_bye:
        return bye(pairing)
    order = sorted(range(len(pairing.seats)), key=lambda seat: pairing.seats[seat])
    return PlayedPairing(pairing=pairing, ranking=tuple((seat,) for seat in order), scores=(0,) * len(order))


def won_by(pairing: Pairing, entrant: int) -> PlayedPairing:
    """Let an entrant win a match of two."""
    seat = pairing.seats.index(entrant)
    return PlayedPairing(pairing=pairing, ranking=((seat,), (1 - seat,)), scores=(0, 0))


def drawn(pairing: Pairing) -> PlayedPairing:
    """Let nobody win."""
    return PlayedPairing(pairing=pairing, ranking=(tuple(range(len(pairing.seats))),), scores=(0,) * len(pairing.seats))


def started(form: PairingFormat[Any], of: EntrantField, **options: Any) -> Any:
    """Return the state before the first match, with its round paired."""
    return with_rounds(form, form.new(form.parse_options(options), of, SHUFFLE))


def played_out(
    form: PairingFormat[Any], state: Any, result: Callable[[Pairing], PlayedPairing] = first_wins
) -> tuple[Any, list[Pairing]]:
    """Play to the end; all matches that are due at one time are played together.

    Returns:
        The last state, and all pairings in the order in which they were played.
    """
    pairings: list[Pairing] = []
    while due := form.due(state):
        for pairing in due:
            if pairing in form.due(state):
                pairings.append(pairing)
                state = with_rounds(form, form.record(state, result(pairing)))
    return state, pairings
