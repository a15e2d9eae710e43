"""Swiss: everybody plays in every round, against others that did as well.

The rules of a round's pairings, and where they come from, are in swiss_rules.
"""

from math import ceil, log2
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ..games.base import Shuffle
from . import swiss_rules as rules
from .base import BadFormat, EntrantField, Extent, Pairing, PairingFormat, PlayedPairing, half_points, without
from .seeding import seeded
from .swiss_rules import Card

_MOST = 1000
"""Entrants of two seats: the matching of so many takes half a minute, and grows with the third power."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    rounds: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    """How many; if it is not said, as many as a knockout of two seats would have."""


class State(Struct, frozen=True, kw_only=True):
    """A tournament after some results."""

    rounds: int
    order: tuple[int, ...]
    """Entrants by seed, best first."""
    cards: tuple[Card, ...]
    """By entrant."""
    met: tuple[tuple[int, ...], ...]
    """Entrant -> entrant -> matches together."""
    withdrawn: frozenset[int] = frozenset()
    round: int = 0
    """The one that is being played, from 1."""
    number: int = 0
    """Of the last pairing."""
    due: tuple[Pairing, ...] = ()
    given_up: int = 0
    """Tables that are not played because somebody withdrew, those of later rounds included."""


class Swiss(PairingFormat[State]):
    """Rounds in which equals meet and nobody is out."""

    name = "swiss"
    title = "Swiss"
    seats = range(2, 13)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field does not fill a match, or is too large.
        """
        self.check_field(field)
        count = len(field.entrants)
        if field.seats == 2 and count > _MOST:
            raise BadFormat(f"{count} entrants are too many for {self.name}: it pairs {_MOST} at most")
        state = State(
            rounds=_rounds(options, field),
            order=seeded(field, shuffle),
            cards=(Card(used=(0,) * field.seats),) * count,
            met=((0,) * count,) * count,
        )
        return _paired(state)

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return how long it takes: in every round, as many tables as the field fills."""
        rounds = _rounds(options, field)
        matches = rounds * (len(field.entrants) // field.seats)
        return Extent(fewest=matches, most=matches, rounds=rounds)

    def given_up(self, state: State) -> int:
        """Return how many tables are left out, now and later."""
        return state.given_up

    def due(self, state: State) -> tuple[Pairing, ...]:
        """Return every pairing of the round that has no result yet."""
        return state.due

    def record(self, state: State, played: PlayedPairing) -> State:
        """Return the state after a result; after the last one of a round, the next round is paired.

        Raises:
            NotDue: the pairing is not due.
        """
        due = without(state.due, played)
        cards, met = list(state.cards), list(state.met)
        table = played.pairing.seats
        for seat, entrant in enumerate(table):
            cards[entrant] = _marked(cards[entrant], played, seat)
            others = {other for other in table if other != entrant}
            met[entrant] = tuple(times + (other in others) for other, times in enumerate(met[entrant]))
        return _paired(replace(state, due=due, cards=tuple(cards), met=tuple(met)))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant; those at its table have a walkover in place of the match."""
        if entrant in state.withdrawn:
            return state
        gone = [pairing for pairing in state.due if entrant in pairing.seats]
        left = [other for pairing in gone for other in pairing.seats if other != entrant]
        byes = tuple(
            Pairing(number=number, round=state.round, seats=(other,), table="walkover")
            for number, other in enumerate(left, start=state.number + 1)
        )
        due = (*(pairing for pairing in state.due if pairing not in gone), *byes)
        number, withdrawn, seats = state.number + len(byes), state.withdrawn | {entrant}, len(state.cards[0].used)
        staying = len(state.cards) - len(withdrawn)
        later = (state.rounds - state.round) * ((staying + 1) // seats - staying // seats)
        lost = state.given_up + later + sum(not pairing.is_bye for pairing in gone)
        return _paired(replace(state, due=due, number=number, withdrawn=withdrawn, given_up=lost))


def _rounds(options: Options, field: EntrantField) -> int:
    """Return how many rounds are played."""
    return options.rounds or ceil(log2(len(field.entrants)))


def _marked(card: Card, played: PlayedPairing, seat: int) -> Card:
    """Return an entrant's card after a result."""
    if played.pairing.is_bye:
        points = card.points + 2 * (len(card.used) - 1)
        if played.pairing.table:
            return replace(card, points=points, walkovers=card.walkovers + 1)
        return replace(card, points=points, byes=card.byes + 1)
    used = tuple(times + (place == seat) for place, times in enumerate(card.used))
    return replace(card, points=card.points + half_points(played)[seat], used=used, last=(seat, *card.last[:1]))


def _paired(state: State) -> State:
    """Return the state with the next round paired, if the last one is through and there is another."""
    seats = len(state.cards[0].used)
    active = [entrant for entrant in state.order if entrant not in state.withdrawn]
    if state.due or state.round == state.rounds or len(active) < seats:
        return state
    ranked = sorted(active, key=lambda entrant: -state.cards[entrant].points)
    cards = state.cards
    if seats == 2:
        found = rules.pair(ranked, cards, state.met)
        cards = rules.noted(found, cards)
    else:
        found = rules.gather(ranked, cards, state.met, is_first=state.round == 0)
    due = tuple(
        Pairing(number=number, round=state.round + 1, seats=table)
        for number, table in enumerate(found, start=state.number + 1)
    )
    return replace(state, due=due, cards=cards, round=state.round + 1, number=state.number + len(due))
