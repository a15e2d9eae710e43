"""Formats with a fixed timetable: when a pairing is due, and how a timetable of more than two seats is made.

In such formats pairings do not depend on results. The state knows how far each entrant has come. A match is due as soon
as all its players have finished their earlier matches. Nobody waits for the end of a round.

In matches of two, if an entrant withdraws, its future opponents get walkovers. Otherwise earlier opponents, who may
have beaten a program that did not even start, would have an advantage only by their place in the timetable.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from .balanced_groups import Met, balance, count_meetings, excess, gather, seat_all
from .base import Group, Pairing, PairingFormat, PlayedPairing, apply_withdrawals, without


class Timetable(Protocol):
    """The pairings of each round; immutable."""

    @property
    def rounds(self) -> int:
        """Number of rounds."""

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if the entrant rests."""


class FixedState(Struct, frozen=True, kw_only=True):
    """The common state of the formats whose pairings do not depend on results."""

    withdrawn: frozenset[int] = frozenset()
    due: tuple[Pairing, ...] = ()
    planned: int | None = None
    """Number of pairings that were planned at the beginning, without byes; None if they were not counted."""
    through: int = 0
    """Number of these pairings that have a result."""
    given_up: int = 0
    """Number of pairings that are not played because entrants withdrew."""


class State(FixedState, frozen=True, kw_only=True):
    """The progress of each entrant."""

    timetable: Timetable
    progress: tuple[int, ...]
    """For each entrant, the round, from 0, that it waits for or plays in; the number of rounds if it has finished."""


def start(timetable: Timetable, entrants: int, planned: int | None = None) -> State:
    """Return the state before the first match.

    Args:
        timetable: the pairings of each round.
        entrants: number of entrants.
        planned: number of pairings of the timetable, without byes; None if it is not counted.
    """
    state = State(timetable=timetable, progress=(-1,) * entrants, planned=planned)
    return _advance(state, range(entrants))


def record(state: State, played: PlayedPairing) -> State:
    """Return the state after a result.

    Raises:
        NotDue: its pairing is not due.
    """
    return _advance(with_result(state, played), played.pairing.seats)


F = TypeVar("F", bound=FixedState)


def with_result(state: F, played: PlayedPairing) -> F:
    """Return the state with the result of a pairing, before anything else becomes due.

    Raises:
        NotDue: it is not due.
    """
    due = without(state.due, played)
    return replace(state, due=due, through=state.through + (not played.pairing.is_bye))


def withdraw(state: State, entrant: int, timetable: Timetable | None = None) -> State:
    """Return the state without an entrant: its future opponents in matches of two get walkovers.

    Args:
        state: the state before.
        entrant: the entrant that withdraws.
        timetable: a new timetable without the future matches of the entrant; None to keep the old one.
    """
    if entrant in state.withdrawn:
        return state
    timetable = timetable or state.timetable
    progress = list(state.progress)
    lost = sum(
        len(pairing.seats) == 2 and state.withdrawn.isdisjoint(pairing.seats)
        for index in range(progress[entrant], timetable.rounds)
        if (pairing := timetable.pairing(entrant, index)) is not None
    )
    progress[entrant] = timetable.rounds
    due = tuple(pairing for pairing in state.due if entrant not in pairing.seats)
    withdrawn = state.withdrawn | {entrant}
    left = replace(
        state,
        timetable=timetable,
        progress=tuple(progress),
        withdrawn=withdrawn,
        due=due,
        given_up=state.given_up + lost,
    )
    bound = withdrawn.union(*(pairing.seats for pairing in due))
    return arrive(left, {other: at for other, at in enumerate(progress) if other not in bound})


def reinstate(state: State, entrant: int) -> State:
    """Return the state with an entrant that comes back in the first round that nobody has begun."""
    first, withdrawn = _count_begun_rounds(state), state.withdrawn - {entrant}
    later = (state.timetable.pairing(entrant, index) for index in range(first, state.timetable.rounds))
    won_back = sum(
        pairing is not None and not pairing.is_bye and withdrawn.isdisjoint(pairing.seats) for pairing in later
    )
    back = replace(state, withdrawn=withdrawn, given_up=max(state.given_up - won_back, 0))
    bound = withdrawn.union(*(pairing.seats for pairing in state.due))
    waiting = {other: at for other, at in enumerate(state.progress) if other not in bound}
    return arrive(back, {**waiting, entrant: first})


def _count_begun_rounds(state: State) -> int:
    """Return the largest number of rounds that an entrant in play has begun."""
    reached = (at + 1 for entrant, at in enumerate(state.progress) if entrant not in state.withdrawn)
    return min(max(reached, default=0), state.timetable.rounds)


def _pairing(state: State, entrant: int, index: int) -> Pairing | None:
    """Return what is left of an entrant's pairing of a round after withdrawals; None if the entrant rests."""
    pairing = state.timetable.pairing(entrant, index)
    return None if pairing is None else apply_withdrawals(pairing, state.withdrawn)


def _advance(state: State, entrants: Iterable[int]) -> State:
    """Move some entrants on from their last pairing, and make pairings due."""
    return arrive(state, {entrant: state.progress[entrant] + 1 for entrant in entrants})


def with_progress(state: State, rounds: Mapping[int, int]) -> State:
    """Return the state with some entrants at other rounds, without making anything due."""
    return replace(state, progress=tuple(rounds.get(entrant, at) for entrant, at in enumerate(state.progress)))


def arrive(state: State, rounds: Mapping[int, int]) -> State:
    """Move some entrants to their first pairing from a round on, and make pairings due.

    Args:
        state: the state before.
        rounds: entrant -> round, from 0.
    """
    progress, end = list(state.progress), state.timetable.rounds
    due = {pairing.number: pairing for pairing in state.due}
    for entrant, first in rounds.items():
        index, pairing = first, None
        while index < end and (pairing := _pairing(state, entrant, index)) is None:
            index += 1
        progress[entrant] = index
        if pairing is not None and all(progress[seat] == index for seat in pairing.seats):
            due[pairing.number] = pairing
    return replace(state, progress=tuple(progress), due=tuple(due[number] for number in sorted(due)))


S = TypeVar("S", bound=FixedState)


class FixedFormat(PairingFormat[S]):
    """Base of the formats whose pairings do not depend on results. Points decide the places."""

    def count_cancelled_pairings(self, state: S) -> int:
        """Return how many pairings are walkovers, or have lost all their entrants."""
        return state.given_up

    def later(self, state: S) -> int | None:
        """Return the number of pairings that will still become due; None if they were not counted."""
        if state.planned is None:
            return None
        due = sum(not pairing.is_bye for pairing in state.due)
        return max(state.planned - state.through - state.given_up - due, 0)

    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now."""
        return state.due

    def revise(self, state: S, old: PlayedPairing | None, new: PlayedPairing | None) -> S:
        """Return the same state, because no pairing depends on a result."""
        return state


# --- The timetable of more than two seats
#
# The plan of a round robin of more than two seats: everybody plays equally often, and all pairs meet equally often, as
# far as possible.
#
# First, the number of matches of each entrant is fixed. It decides who plays in which round. Then a search decides who
# sits together in a round. If meetings are still uneven, a second search plans rounds of a single group, which leave
# more choice. Its plan is used only if all meetings are even, because it has fewer groups at the same time.


# The search has a limit of exchanges and not of time, so that the same field has the same plan on every machine: an
# audit has to make the plan again. Half a million exchanges take a few tenths of a second today.


_CHUNK = 64
"""Number of groups that are balanced together. A longer plan is balanced in several chunks."""
_WORK = 500_000
"""Number of exchanges that the search tries for a plan."""
_WORK_AGAIN = 50_000
"""Number of exchanges that it tries for the extra groups after withdrawals."""
_LEAST_WORK = 15_000
"""Least number of exchanges that it tries for each chunk of a long plan."""


class SeatedTimetable(Struct, frozen=True, kw_only=True):
    """The timetable of more than two seats, as a list of all pairings."""

    seats: int
    """Number of seats of a match."""
    each: int
    """Number of results, including byes, that each remaining entrant must get."""
    limit: int | None = None
    """Maximum number of rounds with matches; None if there is no limit."""
    last: int = 0
    """Greatest number of any pairing so far."""
    pairings: tuple[tuple[Pairing, ...], ...] = ()
    """Pairings of each round, from 0. The last rounds hold only byes for entrants that play less often than others."""
    places: tuple[dict[int, int], ...] = ()
    """For each round: entrant -> index of its pairing in the round."""

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return len(self.pairings)

    @property
    def matches(self) -> int:
        """Number of matches."""
        return sum(not pairing.is_bye for done in self.pairings for pairing in done)

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if it has none."""
        place = self.places[index].get(entrant)
        return None if place is None else self.pairings[index][place]


def make_plan(plan: SeatedTimetable, entrants: Sequence[int]) -> SeatedTimetable:
    """Fill an empty plan.

    Args:
        plan: the empty plan.
        entrants: the entrants, in the order of choice.
    """
    need = tuple(_need(plan, entrants))
    return _fill(plan, entrants, _begin_rounds(need, plan.seats, plan.limit), "")


def without_groups(plan: SeatedTimetable, entrant: int, first: int) -> SeatedTimetable:
    """Return a plan without the groups of an entrant from round `first` on, counted from 0."""
    remaining = (
        tuple(pairing for pairing in done if index < first or entrant not in pairing.seats)
        for index, done in enumerate(plan.pairings)
    )
    return _with(plan, tuple(remaining), plan.last)


def add_extra_groups(plan: SeatedTimetable, staying: Sequence[int]) -> SeatedTimetable:
    """Return a plan with extra rounds at the end, in which entrants play the matches that withdrawals have cost them.

    Entrants for which this is impossible get a bye. If nobody lacks a match, the plan stays as it is.
    """
    index = {entrant: place for place, entrant in enumerate(staying)}
    met = _no_meetings(len(staying))
    for pairing in (pairing for done in plan.pairings for pairing in done):
        count_meetings(met, [index[entrant] for entrant in pairing.seats if entrant in index])
    rounds = _even_rounds(_need(plan, staying), plan.seats, None, met, _WORK_AGAIN)
    return _fill(plan, staying, rounds, "walkover")


def count_extra_groups(plan: SeatedTimetable, staying: Sequence[int]) -> int:
    """Return the approximate number of groups that add_extra_groups would add."""
    return sum(len(playing) // plan.seats for playing in _attendance(_need(plan, staying), plan.seats, None))


@lru_cache(maxsize=32)  # the same tournament is folded several times: for a resume, a report or an audit
def _begin_rounds(need: tuple[int, ...], seats: int, limit: int | None) -> list[list[list[int]]]:
    """Return the groups of each round for a field in which nobody has met. Callers must not change them."""
    return _even_rounds(need, seats, limit, _no_meetings(len(need)), _WORK)


def _no_meetings(entrants: int) -> Met:
    return [[0] * entrants for _ in range(entrants)]


def _fill(
    plan: SeatedTimetable, entrants: Sequence[int], rounds: Sequence[Sequence[Sequence[int]]], bye: str
) -> SeatedTimetable:
    """Add matches, and byes for entrants that have fewer than others because the numbers do not divide.

    Args:
        plan: the plan to extend.
        entrants: the entrants that have not withdrawn.
        rounds: groups of the rounds to add, as indices into `entrants`.
        bye: label of the byes.
    """
    groups = [[entrants[place] for place in group] for together in rounds for group in together]
    seated = iter(seat_all(groups, plan.seats))
    plan = _extend(plan, [list(islice(seated, len(together))) for together in rounds], bye)
    results = _results(plan)
    most = max((results[entrant] for entrant in entrants), default=0)
    byes = ([(entrant,) for entrant in entrants if results[entrant] < count] for count in range(1, most + 1))
    return _extend(plan, [short for short in byes if short], bye)


def _need(plan: SeatedTimetable, entrants: Sequence[int]) -> list[int]:
    """Return the number of future matches of each of the entrants."""
    results = _results(plan)
    return [max(plan.each - results[entrant], 0) for entrant in entrants]


def _results(plan: SeatedTimetable) -> Counter[int]:
    return Counter(entrant for done in plan.pairings for pairing in done for entrant in pairing.seats)


def _even_rounds(need: Sequence[int], seats: int, limit: int | None, met: Met, work: int) -> list[list[list[int]]]:
    """Return the groups of each round.

    Args:
        need: number of future matches of each entrant.
        seats: number of seats of a match.
        limit: maximum number of rounds.
        met: meetings so far.
        work: number of exchanges to try.
    """
    evened = [list(row) for row in met]
    rounds = _together(_attendance(need, seats, limit), seats, evened, work)
    if limit is None and sum(map(len, rounds)) <= _CHUNK and max(map(len, rounds), default=1) > 1 and excess(evened):
        single = _together(_attendance(need, seats, None, at_once=1), seats, met, work)
        if not excess(met):
            return _pack([group for groups in single for group in groups])
    return rounds


def _attendance(need: Sequence[int], seats: int, limit: int | None, at_once: int | None = None) -> list[list[int]]:
    """Return the entrants that play in each round: those with most future matches and, among these, by turns.

    Args:
        need: number of future matches of each entrant.
        seats: number of seats of a match.
        limit: maximum number of rounds; None if there is no limit.
        at_once: maximum number of groups in a round; None for as many as can be filled.
    """
    order, left, rounds = list(range(len(need))), list(need), list[list[int]]()
    while limit is None or len(rounds) < limit:
        ready = sorted((place for place in order if left[place] > 0), key=lambda place: -left[place])
        playing = ready[: (at_once or len(ready)) * seats]
        playing = playing[: len(playing) // seats * seats]
        if not playing:
            break
        for place in playing:
            left[place] -= 1
        rounds.append(playing)
        order = [*order[1:], order[0]]
    return rounds


def _together(attendance: Sequence[list[int]], seats: int, met: Met, work: int) -> list[list[list[int]]]:
    """Divide the entrants of each round into groups, and add their meetings to the earlier ones."""
    rounds: list[list[list[int]]] = []
    per_chunk = max(1, _CHUNK * seats // max(map(len, attendance), default=1))
    for start in range(0, len(attendance), per_chunk):
        chunk, counted = [], [list(row) for row in met]
        for playing in attendance[start : start + per_chunk]:
            chunk.append(gather(playing, seats, counted))
            for group in chunk[-1]:
                count_meetings(counted, group)
        balance(chunk, met, max(work * len(chunk) // len(attendance), _LEAST_WORK))
        rounds += chunk
    return rounds


def _pack(groups: Sequence[list[int]]) -> list[list[list[int]]]:
    """Put groups into rounds so that no entrant is in two groups of a round.

    Groups whose members have played least come first.
    """
    left, played, rounds = list(range(len(groups))), Counter[int](), []
    while left:
        busy, chosen = set[int](), []
        for index in sorted(left, key=lambda index: sum(played[place] for place in groups[index])):
            if busy.isdisjoint(groups[index]):
                chosen.append(index)
                busy.update(groups[index])
        played.update(busy)
        left = [index for index in left if index not in chosen]
        rounds.append([groups[index] for index in chosen])
    return rounds


def _extend(plan: SeatedTimetable, rounds: Sequence[Sequence[Group]], bye: str) -> SeatedTimetable:
    """Add rounds to a plan. Byes have the number of the round before them."""
    pairings, last = list(plan.pairings), plan.last
    for groups in rounds:
        at = sum(any(len(pairing.seats) > 1 for pairing in done) for done in pairings)
        pairings.append(
            tuple(
                Pairing(number=number, round=at + 1, seats=seats)
                if len(seats) > 1
                else Pairing(number=number, round=max(at, 1), seats=seats, table=bye)
                for number, seats in enumerate(groups, start=last + 1)
            )
        )
        last += len(groups)
    return _with(plan, tuple(pairings), last)


def _with(plan: SeatedTimetable, pairings: tuple[tuple[Pairing, ...], ...], last: int) -> SeatedTimetable:
    places = ({entrant: place for place, pairing in enumerate(done) for entrant in pairing.seats} for done in pairings)
    return replace(plan, pairings=pairings, places=tuple(places), last=last)
