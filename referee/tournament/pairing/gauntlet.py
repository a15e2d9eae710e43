"""Gauntlet: the first entrants, called challengers, play against all others. There are no other matches."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...games.base import Shuffle
from .base import BadFormat, EntrantField, Extent, Pairing, PlayedPairing, apply_withdrawals
from .timetable import FixedFormat, FixedState, with_result

_WINDOW = 256
"""Least number of pairings that are considered together: more than there are tables, but few enough to be fast."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options that an organiser may set."""

    challengers: Annotated[int, Meta(ge=1, le=1000)] = 1
    """Number of challengers: so many of the first entrants play against all others, but not against each other."""
    cycles: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """How often each challenger meets each other entrant in each of the two seats."""


class Schedule(Struct, frozen=True):
    """The pairings of a gauntlet, by number.

    In round r, from 0, challenger c meets opponent (r // 2 + c) modulo the number of opponents. So two matches with
    exchanged seats follow each other, and no opponent has two challengers in the same round.
    """

    entrants: int
    challengers: int
    cycles: int

    @property
    def columns(self) -> int:
        """Number of opponents of a challenger in a cycle. If there are more challengers, it includes empty places."""
        return max(self.challengers, self.entrants - self.challengers)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return 2 * self.cycles * self.columns

    def pairing(self, number: int) -> Pairing | None:
        """Return the pairing of a number, from 1; None if its challenger rests, or if there is no such number."""
        index, challenger = divmod(number - 1, self.challengers)
        opponent = self.challengers + (index // 2 + challenger) % self.columns
        if opponent >= self.entrants or index >= self.rounds:
            return None
        seats = (challenger, opponent) if index % 2 == 0 else (opponent, challenger)
        return Pairing(number=number, round=index + 1, seats=seats)

    def numbers(self, entrant: int, start: int) -> Iterator[int]:
        """Yield the numbers of an entrant's pairings that are at least `start`."""
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
    """Numbers of waiting pairings: they wait for an entrant that plays one match at a time, or they are walkovers."""
    next: int = 1
    """Number of the first pairing that was not considered yet."""


class Gauntlet(FixedFormat[State]):
    """One or a few entrants play against all others, in each seat equally often."""

    name = "gauntlet"
    title = "Gauntlet"
    seats = range(2, 3)
    options_type = Options
    asks_ratings = False

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field is not for matches of two, or all entrants are challengers.
        """
        self.check_field(field)
        if options.challengers >= len(field.entrants):
            raise BadFormat(f"{options.challengers} challengers of {len(field.entrants)} entrants leave no opponents")
        single = frozenset(index for index, entrant in enumerate(field.entrants) if not entrant.has_copies)
        schedule = Schedule(len(field.entrants), options.challengers, options.cycles)
        return _fill(State(schedule=schedule, single=single, planned=_matches(schedule)))

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return the length: each challenger meets all others in both seats."""
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
        """Return the smallest number of a pairing without a result, besides a given one; None if there is no other."""
        due = (pairing.number for pairing in state.due if pairing.number != besides.number)
        return min((*due, *state.held), default=None)

    def reopen(self, state: State, pairing: Pairing) -> State:
        """Return the state in which a decided pairing will become due again."""
        lost = state.given_up + (not state.withdrawn.isdisjoint(pairing.seats))
        held = tuple(sorted((*state.held, pairing.number)))
        return _fill(replace(state, held=held, through=state.through - (not pairing.is_bye), given_up=lost))

    def withdraw(self, state: State, entrant: int) -> State:
        """Return the state without an entrant; its future opponents get walkovers."""
        if entrant in state.withdrawn:
            return state
        due = tuple(pairing for pairing in state.due if entrant not in pairing.seats)
        held = {*state.held, *(pairing.number for pairing in state.due if entrant in pairing.seats)}
        lost = _still_to_come(replace(state, held=tuple(held)), entrant, state.withdrawn)
        left = replace(state, due=due, held=tuple(sorted(held)), given_up=state.given_up + lost)
        return _fill(replace(left, withdrawn=state.withdrawn | {entrant}))

    def reinstate(self, state: State, entrant: int) -> State:
        """Return the state with an entrant that comes back; earlier walkovers stay."""
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
    """Return the state with as many pairings due as possible. Those of an entrant without copies come in order.

    A walkover waits for all pairings before it, because one of them may suspend the entrant that would get it.
    """
    # Only a window of pairings is considered, not all: a gauntlet of two hundred entrants and a thousand cycles has
    # four hundred thousand pairings, and each event looks at all that are due.
    due, held, number = list(state.due), list[int](), state.next
    last = state.schedule.rounds * state.schedule.challengers
    busy = {seat for pairing in due for seat in pairing.seats} & state.single
    bound = state.single.intersection(range(state.schedule.challengers)) - state.withdrawn
    waiting = list(reversed(state.held))
    while waiting or (number <= last and len(due) + len(held) < max(_WINDOW, state.schedule.entrants)):
        if len(bound) == state.schedule.challengers and bound <= busy:
            break  # all challengers are playing, and every pairing needs one
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
