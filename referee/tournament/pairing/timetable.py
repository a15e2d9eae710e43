"""The fold of formats whose pairings do not depend on results: when is a pairing of a fixed timetable due?

Knows who has come how far. Refuses to know how a timetable was made. An entrant's next match is due as soon as all its
seats are through with what they have before it: nobody waits for the end of a round that is none of its business.

In matches of two, whoever was still to meet somebody who withdrew has a walkover instead: else those that had met it
before, and beaten a program that did not even start, would be better off for nothing but their place in the timetable.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from .base import Pairing, PairingFormat, PlayedPairing, what_is_left, without


class Timetable(Protocol):
    """Who plays in which round. It is immutable."""

    @property
    def rounds(self) -> int:
        """How many rounds there are."""

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if it rests."""


class FixedState(Struct, frozen=True, kw_only=True):
    """What any format knows whose pairings do not depend on results."""

    withdrawn: frozenset[int] = frozenset()
    due: tuple[Pairing, ...] = ()
    planned: int | None = None
    """Pairings that there were to be at the beginning, byes not counted; None: they were not counted."""
    through: int = 0
    """Pairings of those that have a result."""
    given_up: int = 0
    """Pairings that are not played because somebody withdrew."""


class State(FixedState, frozen=True, kw_only=True):
    """How far everybody has come."""

    timetable: Timetable
    progress: tuple[int, ...]
    """By entrant: the round, from 0, that it waits for or plays in; the number of rounds if it is through."""


def start(timetable: Timetable, entrants: int, planned: int | None = None) -> State:
    """Return the state before the first match.

    Args:
        timetable: who plays when.
        entrants: how many there are.
        planned: how many pairings the timetable has, byes not counted; None: nobody is told how many are to come.
    """
    state = State(timetable=timetable, progress=(-1,) * entrants, planned=planned)
    return _moved_on(state, range(entrants))


def record(state: State, played: PlayedPairing) -> State:
    """Return the state after a result.

    Raises:
        NotDue: its pairing is not due.
    """
    return _moved_on(with_result(state, played), played.pairing.seats)


F = TypeVar("F", bound=FixedState)


def with_result(state: F, played: PlayedPairing) -> F:
    """Return the state in which a pairing is through, before anything else is due by that.

    Raises:
        NotDue: it is not due.
    """
    due = without(state.due, played)
    return replace(state, due=due, through=state.through + (not played.pairing.is_bye))


def withdraw(state: State, entrant: int, timetable: Timetable | None = None) -> State:
    """Return the state without an entrant: its opponents in matches of two have walkovers.

    Args:
        state: before.
        entrant: who withdraws.
        timetable: another one from now on, which lacks the matches that the entrant has not played.
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
    return arrived(left, {other: at for other, at in enumerate(progress) if other not in bound})


def reinstate(state: State, entrant: int) -> State:
    """Return the state with somebody who had withdrawn, from the first round on that nobody has begun."""
    first, withdrawn = _begun(state), state.withdrawn - {entrant}
    found = (state.timetable.pairing(entrant, index) for index in range(first, state.timetable.rounds))
    won_back = sum(
        pairing is not None and not pairing.is_bye and withdrawn.isdisjoint(pairing.seats) for pairing in found
    )
    back = replace(state, withdrawn=withdrawn, given_up=max(state.given_up - won_back, 0))
    bound = withdrawn.union(*(pairing.seats for pairing in state.due))
    waiting = {other: at for other, at in enumerate(state.progress) if other not in bound}
    return arrived(back, {**waiting, entrant: first})


def _begun(state: State) -> int:
    """Return how many rounds somebody who still plays has begun."""
    reached = (at + 1 for entrant, at in enumerate(state.progress) if entrant not in state.withdrawn)
    return min(max(reached, default=0), state.timetable.rounds)


def _pairing(state: State, entrant: int, index: int) -> Pairing | None:
    """Return what withdrawals have left of an entrant's pairing of a round; None if it rests."""
    pairing = state.timetable.pairing(entrant, index)
    return None if pairing is None else what_is_left(pairing, state.withdrawn)


def _moved_on(state: State, entrants: Iterable[int]) -> State:
    """Return the state with some entrants behind their last pairing, and with what becomes due by that."""
    return arrived(state, {entrant: state.progress[entrant] + 1 for entrant in entrants})


def with_progress(state: State, rounds: Mapping[int, int]) -> State:
    """Return the state with some entrants at other rounds, whatever they have there."""
    return replace(state, progress=tuple(rounds.get(entrant, at) for entrant, at in enumerate(state.progress)))


def arrived(state: State, rounds: Mapping[int, int]) -> State:
    """Return the state with some entrants at their first pairing from a round on, and with what becomes due by that.

    Args:
        state: before.
        rounds: entrant -> round, from 0.
    """
    progress, end = list(state.progress), state.timetable.rounds
    due = {pairing.number: pairing for pairing in state.due}
    for entrant, first in rounds.items():
        index, found = first, None
        while index < end and (found := _pairing(state, entrant, index)) is None:
            index += 1
        progress[entrant] = index
        if found is not None and all(progress[seat] == index for seat in found.seats):
            due[found.number] = found
    return replace(state, progress=tuple(progress), due=tuple(due[number] for number in sorted(due)))


S = TypeVar("S", bound=FixedState)


class FixedFormat(PairingFormat[S]):
    """Base of the formats whose pairings do not depend on results; points decide."""

    def given_up(self, state: S) -> int:
        """Return how many pairings are walkovers, or of nobody any more."""
        return state.given_up

    def later(self, state: S) -> int | None:
        """Return how many pairings are neither through nor due nor given up; None if they were not counted."""
        if state.planned is None:
            return None
        due = sum(not pairing.is_bye for pairing in state.due)
        return max(state.planned - state.through - state.given_up - due, 0)

    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now."""
        return state.due

    def revise(self, state: S, old: PlayedPairing | None, new: PlayedPairing | None) -> S:
        """Return the state as it is: no pairing follows from a result."""
        return state
