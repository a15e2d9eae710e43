"""Gauntlet: the first entrants against all others, and nobody else against anybody."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from .base import BadFormat, EntrantField, Extent, Pairing, PlayedPairing, apply_withdrawals
from .timetable import FixedFormat, FixedState, with_result

_WINDOW = 256
"""Least number of pairings that are looked at together: more than there are ever tables, and few enough to be quick."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    challengers: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Number of the first entrants that play against all others. They do not play against each other."""
    cycles: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """Number of times that each of them meets each other entrant in either seat."""


class Schedule(Struct, frozen=True):
    """The pairings of a gauntlet, by number.

    In round r, from 0, challenger c meets opponent (r // 2 + c) modulo their number: two matches with seats exchanged,
    and no opponent is asked for by two challengers at once.
    """

    entrants: int
    challengers: int
    cycles: int

    @property
    def columns(self) -> int:
        """Number of opponents of a challenger in a cycle; if there are fewer than challengers, some are nobody."""
        return max(self.challengers, self.entrants - self.challengers)

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return 2 * self.cycles * self.columns

    def pairing(self, number: int) -> Pairing | None:
        """Return a pairing, counted from 1; None if its challenger rests, or after the last one."""
        index, challenger = divmod(number - 1, self.challengers)
        opponent = self.challengers + (index // 2 + challenger) % self.columns
        if opponent >= self.entrants or index >= self.rounds:
            return None
        seats = (challenger, opponent) if index % 2 == 0 else (opponent, challenger)
        return Pairing(number=number, round=index + 1, seats=seats)

    def numbers(self, entrant: int, start: int) -> Iterator[int]:
        """Yield the numbers of an entrant's pairings, from one on."""
        for index in range((start - 1) // self.challengers, self.rounds):
            challenger = entrant
            if entrant >= self.challengers:
                challenger = (entrant - self.challengers - index // 2) % self.columns
            number = index * self.challengers + challenger + 1
            if challenger < self.challengers and number >= start and self.pairing(number) is not None:
                yield number


class State(FixedState, frozen=True, kw_only=True):
    """A gauntlet after some results."""

    schedule: Schedule
    single: frozenset[int]
    """Entrants that play one match at a time."""
    held: tuple[int, ...] = ()
    """Numbers of pairings that wait for an entrant that plays one match at a time, and of walkovers that wait."""
    next: int = 1
    """Number of the first pairing that was not looked at."""


class Gauntlet(FixedFormat[State]):
    """One or few entrants against all others, in every seat equally often."""

    name = "gauntlet"
    title = "Gauntlet"
    seats = range(2, 3)
    options_type = Options
    asks_ratings = False

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field has no match of two, or nobody but challengers.
        """
        self.check_field(field)
        if options.challengers >= len(field.entrants):
            raise BadFormat(f"{options.challengers} challengers of {len(field.entrants)} entrants leave no opponents")
        single = frozenset(index for index, entrant in enumerate(field.entrants) if not entrant.has_copies)
        schedule = Schedule(len(field.entrants), options.challengers, options.cycles)
        return _fill(State(schedule=schedule, single=single, planned=_matches(schedule)))

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return how long it takes: each challenger meets all others in both seats."""
        schedule = Schedule(len(field.entrants), options.challengers, options.cycles)
        matches = _matches(schedule)
        return Extent(fewest=matches, most=matches, rounds=schedule.rounds)

    def record(self, state: State, played: PlayedPairing) -> State:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        return _fill(with_result(state, played))

    def first_open(self, state: State, besides: Pairing) -> int | None:
        """Return the smallest number of a pairing without a result, except for one; None if there is no other."""
        due = (pairing.number for pairing in state.due if pairing.number != besides.number)
        return min((*due, *state.held), default=None)

    def reopen(self, state: State, pairing: Pairing) -> State:
        """Return the state with a decided pairing to come again."""
        lost = state.given_up + (not state.withdrawn.isdisjoint(pairing.seats))
        held = tuple(sorted((*state.held, pairing.number)))
        return _fill(replace(state, held=held, through=state.through - (not pairing.is_bye), given_up=lost))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant; its future opponents have walkovers."""
        if entrant in state.withdrawn:
            return state
        due = tuple(pairing for pairing in state.due if entrant not in pairing.seats)
        held = {*state.held, *(pairing.number for pairing in state.due if entrant in pairing.seats)}
        lost = _still_to_come(replace(state, held=tuple(held)), entrant, state.withdrawn)
        left = replace(state, due=due, held=tuple(sorted(held)), given_up=state.given_up + lost)
        return _fill(replace(left, withdrawn=state.withdrawn | {entrant}))

    def reinstate(self, state: State, entrant: int) -> State:
        """Return the state with an entrant that plays on; walkovers that were given stay."""
        withdrawn = state.withdrawn - {entrant}
        back = _still_to_come(state, entrant, withdrawn)
        return _fill(replace(state, withdrawn=withdrawn, given_up=max(state.given_up - back, 0)))


def _matches(schedule: Schedule) -> int:
    """Return the number of matches: each challenger meets all others in both seats."""
    return 2 * schedule.cycles * schedule.challengers * (schedule.entrants - schedule.challengers)


def _still_to_come(state: State, entrant: int, withdrawn: frozenset[int]) -> int:
    """Return the number of future pairings of an entrant with opponents that have not withdrawn."""
    coming = map(state.schedule.pairing, (*state.held, *state.schedule.numbers(entrant, state.next)))
    return sum(
        pairing is not None and entrant in pairing.seats and withdrawn.isdisjoint(pairing.seats) for pairing in coming
    )


def _fill(state: State) -> State:
    """Return the state with as many pairings due as possible; those of an entrant without copies come in order.

    A walkover waits for all pairings before it, because one of them may suspend the entrant that is to get it.
    """
    # A window instead of all pairings: a gauntlet of two hundred entrants and a thousand cycles has four hundred
    # thousand, and each event looks at those that are due. A single challenger that plays one match at a time needs
    # only one.
    due, held, number = list(state.due), list[int](), state.next
    last = state.schedule.rounds * state.schedule.challengers
    busy = {seat for pairing in due for seat in pairing.seats} & state.single
    bound = state.single.intersection(range(state.schedule.challengers)) - state.withdrawn
    waiting = list(reversed(state.held))
    while waiting or (number <= last and len(due) + len(held) < max(_WINDOW, state.schedule.entrants)):
        if len(bound) == state.schedule.challengers and bound <= busy:
            break  # every pairing has a challenger, and each of them is playing
        if waiting:
            looked_at = waiting.pop()
        else:
            looked_at, number = number, number + 1
        planned = state.schedule.pairing(looked_at)
        pairing = None if planned is None else apply_withdrawals(planned, state.withdrawn)
        if pairing is None:
            continue
        is_early = pairing.is_bye and (held or any(not other.is_bye and other.number < looked_at for other in due))
        if busy.isdisjoint(pairing.seats) and not is_early:
            due.append(pairing)
        else:
            held.append(looked_at)
        busy.update(state.single.intersection(pairing.seats))
    due.sort(key=lambda pairing: pairing.number)
    return replace(state, due=tuple(due), held=(*held, *reversed(waiting)), next=number)
