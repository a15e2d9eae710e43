"""Round robin: everybody against everybody, as evenly as can be.

Two seats: the tables of J. Berger, of which FIDE's Handbook prints those up to 16 players (C.05, annex 1): the same
opponents and seats in the same rounds, the players' numbers drawn by lot. In cycles of an even number seats are
exchanged. FIDE's advice to exchange the last two rounds of a first cycle, so that nobody has a colour three times
running, is not followed: it would make cycles unlike each other, and programs do not tire of a seat.

More seats: a plan of rounds in which everybody plays or rests evenly. A withdrawal makes a new plan of the rounds that
nobody has begun.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from ..games.base import Shuffle
from . import balanced_tables, timetable
from .base import EntrantField, Extent, Pairing
from .timetable import State, TimetableFormat


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    cycles: Annotated[int, Meta(ge=1, le=1000)] = 1
    """How often everybody meets everybody; with more than two seats, how often on average at least."""
    rounds: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """Stop after so many rounds, or with more than two seats go on for so many, whatever the cycles."""


class Berger(Struct, frozen=True):
    """The timetable of two seats.

    With an even number n of players, those in round r have numbers whose sum is r + 1 modulo n - 1, and who would meet
    itself meets number n. Of two numbers the smaller has the first seat if their sum is odd, the greater if it is
    even; number n has the second seat against the smaller half. An odd field has nobody with number n.
    """

    numbers: tuple[int, ...]
    """By entrant, from 1."""
    by_number: tuple[int, ...]
    """Number - 1 -> entrant."""
    rounds: int

    @property
    def even(self) -> int:
        """The number of players, a bye counted as one."""
        return len(self.numbers) + len(self.numbers) % 2

    def pairing(self, entrant: int, index: int) -> Pairing:
        """Return an entrant's pairing of a round, counted from 0; a bye if it rests."""
        size = self.even
        cycle, inner = divmod(index, size - 1)
        middle = ((inner + 2) * (size // 2) - 1) % (size - 1) + 1
        number = self.numbers[entrant]
        if number in (middle, size):
            board, first, second = 0, middle, size
            is_turned = middle > size // 2
        else:
            other = (inner + 1 - number) % (size - 1) + 1
            away = (number - middle) % (size - 1)
            board = min(away, size - 1 - away)
            first, second = sorted((number, other))
            is_turned = (first + second) % 2 == 0
        if is_turned != (cycle % 2 == 1):
            first, second = second, first
        seats = tuple(self.by_number[number - 1] for number in (first, second) if number <= len(self.numbers))
        return Pairing(number=index * (size // 2) + board + 1, round=index + 1, seats=seats)


class SeatedTimetable(Struct, frozen=True):
    """The timetable of more seats, written out."""

    pairings: tuple[tuple[Pairing, ...], ...]
    """By round, counted from 0."""
    places: tuple[dict[int, int], ...]
    """By round: entrant -> place among the round's pairings."""

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return len(self.pairings)

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if it is in none."""
        place = self.places[index].get(entrant)
        return None if place is None else self.pairings[index][place]


def planned(entrants: Sequence[int], seats: int, rounds: int, kept: SeatedTimetable | None = None) -> SeatedTimetable:
    """Make a plan of a round robin.

    Args:
        entrants: who plays, in the order in which they are served.
        seats: of one match.
        rounds: how many, those kept included.
        kept: rounds that stay as they are; what was played in them is evened out by those that are added.
    """
    old = () if kept is None else kept.pairings
    size = max((*entrants, *(entrant for done in old for pairing in done for entrant in pairing.seats))) + 1
    met, byes = [[0] * size for _ in range(size)], [0] * size
    for pairing in (pairing for done in old for pairing in done if set(pairing.seats) <= set(entrants)):
        _count(met, byes, pairing.seats)
    gathered: list[list[list[int]]] = []
    resting: list[tuple[int, ...]] = []
    for index in range(len(old), rounds if len(entrants) >= seats else len(old)):
        turn = index % len(entrants)
        order = [*entrants[turn:], *entrants[:turn]]
        rest = balanced_tables.fewest(order, byes, len(order) % seats)
        together = balanced_tables.gather([entrant for entrant in order if entrant not in rest], seats, met)
        for table in (*together, *((entrant,) for entrant in rest)):
            _count(met, byes, table)
        gathered.append(together)
        resting.append(rest)
    balanced_tables.sweep(gathered, met)
    return _written(old, _seated(gathered, resting, seats))


def _count(met: list[list[int]], byes: list[int], seats: Sequence[int]) -> None:
    if len(seats) == 1:
        byes[seats[0]] += 1
    else:
        balanced_tables.count_meetings(met, seats)


def _seated(
    gathered: list[list[list[int]]], resting: list[tuple[int, ...]], seats: int
) -> list[list[balanced_tables.Table]]:
    """Seat all tables of all rounds at once, and put each round's byes behind its tables."""
    whole = iter(balanced_tables.seat_all([table for together in gathered for table in together], seats))
    return [
        [*(next(whole) for _ in together), *((entrant,) for entrant in rest)]
        for together, rest in zip(gathered, resting, strict=True)
    ]


def _written(old: tuple[tuple[Pairing, ...], ...], added: list[list[balanced_tables.Table]]) -> SeatedTimetable:
    """Number the tables of new rounds behind the old ones."""
    pairings, number = list(old), max((pairing.number for done in old for pairing in done), default=0)
    for table in added:
        numbered = enumerate(table, start=number + 1)
        pairings.append(tuple(Pairing(number=at, round=len(pairings) + 1, seats=seats) for at, seats in numbered))
        number += len(table)
    places = tuple(
        {entrant: place for place, pairing in enumerate(done) for entrant in pairing.seats} for done in pairings
    )
    return SeatedTimetable(tuple(pairings), places)


class RoundRobin(TimetableFormat):
    """Everybody against everybody."""

    name = "roundrobin"
    title = "Round robin"
    seats = range(2, 13)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field does not fill a match.
        """
        self.check_field(field)
        order, count = tuple(shuffle(range(len(field.entrants)))), len(field.entrants)
        rounds = _rounds(options, field)
        if field.seats == 2:
            numbers = tuple(order.index(entrant) + 1 for entrant in range(count))
            return timetable.start(Berger(numbers, order, rounds), count)
        return timetable.start(planned(order, field.seats, rounds), count)

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return how long it takes: in every round, as many tables as the field fills."""
        rounds = _rounds(options, field)
        matches = rounds * (len(field.entrants) // field.seats)
        return Extent(fewest=matches, most=matches, rounds=rounds)

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant; those that it was to meet have walkovers, or get other tables."""
        if entrant in state.withdrawn or not isinstance(state.timetable, SeatedTimetable):
            return timetable.withdraw(state, entrant)
        return timetable.withdraw(state, entrant, _replanned(state, state.timetable, entrant))


def _rounds(options: Options, field: EntrantField) -> int:
    """Return how many rounds are played."""
    count = len(field.entrants)
    if field.seats == 2:
        rounds = options.cycles * (count - 1 + count % 2)
        return min(rounds, options.rounds or rounds)
    return options.rounds or options.cycles * -(-(count - 1) // (field.seats - 1))


def _replanned(state: State, plan: SeatedTimetable, entrant: int) -> SeatedTimetable:
    """Return a plan that is the same up to the last round begun, and has the rest without an entrant."""
    begun = timetable.begun(state)
    if begun >= plan.rounds:
        return plan
    gone = state.withdrawn | {entrant}
    staying = [entrant for entrant in range(len(state.progress)) if entrant not in gone]
    seats = max(len(pairing.seats) for pairing in plan.pairings[0])
    kept = SeatedTimetable(plan.pairings[:begun], plan.places[:begun])
    return planned(staying, seats, plan.rounds, kept)
