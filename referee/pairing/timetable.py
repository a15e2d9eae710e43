"""The fold of formats whose pairings do not depend on results: when is a pairing of a fixed timetable due?

Knows who has come how far. Refuses to know how a timetable was made. An entrant's next match is due as soon as all its
seats are through with what they have before it: nobody waits for the end of a round that is none of its business.
"""

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from .base import Pairing, Played, without


class Timetable(Protocol):
    """Who plays in which round. It is immutable."""

    @property
    def rounds(self) -> int:
        """How many rounds there are."""

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if it rests."""


class State(Struct, frozen=True):
    """How far everybody has come."""

    timetable: Timetable
    progress: tuple[int, ...]
    """By entrant: the round, from 0, that it waits for or plays in; the number of rounds if it is through."""
    withdrawn: frozenset[int]
    due: tuple[Pairing, ...]


def start(timetable: Timetable, entrants: int) -> State:
    """Return the state before the first match."""
    state = State(timetable, (-1,) * entrants, frozenset(), ())
    return _moved_on(state, range(entrants))


def record(state: State, played: Played) -> State:
    """Return the state after a result.

    Raises:
        NotDue: its pairing is not due.
    """
    rest = replace(state, due=without(state.due, played))
    return _moved_on(rest, played.pairing.seats)


def withdraw(state: State, entrant: int, timetable: Timetable | None = None) -> State:
    """Return the state without an entrant: those that it was to play against rest.

    Args:
        state: before.
        entrant: who withdraws.
        timetable: another one from now on; it must agree with the old one up to the last round that anybody has begun.
    """
    if entrant in state.withdrawn:
        return state
    timetable = timetable or state.timetable
    progress = list(state.progress)
    progress[entrant] = timetable.rounds
    left = State(
        timetable,
        tuple(progress),
        state.withdrawn | {entrant},
        tuple(pairing for pairing in state.due if entrant not in pairing.seats),
    )
    return _moved_on(left, [one for one in range(len(progress)) if _is_stuck(left, one)])


def begun(state: State) -> int:
    """Return how many rounds somebody who still plays has begun."""
    reached = (at + 1 for one, at in enumerate(state.progress) if one not in state.withdrawn)
    return min(max(reached, default=0), state.timetable.rounds)


def _is_stuck(state: State, entrant: int) -> bool:
    index = state.progress[entrant]
    return entrant not in state.withdrawn and index < state.timetable.rounds and not _is_playable(state, entrant, index)


def _is_playable(state: State, entrant: int, index: int) -> bool:
    pairing = state.timetable.pairing(entrant, index)
    return pairing is not None and state.withdrawn.isdisjoint(pairing.seats)


def _moved_on(state: State, entrants: Iterable[int]) -> State:
    """Return the state with some entrants at their next pairing, and with what becomes due by that."""
    progress, rounds, pairing = list(state.progress), state.timetable.rounds, state.timetable.pairing
    due = {pairing.number: pairing for pairing in state.due}
    for entrant in entrants:
        index = progress[entrant] + 1
        while index < rounds and not _is_playable(state, entrant, index):
            index += 1
        progress[entrant] = index
        found = pairing(entrant, index) if index < rounds else None
        if found is not None and all(progress[seat] == index for seat in found.seats):
            due[found.number] = found
    return replace(state, progress=tuple(progress), due=tuple(due[number] for number in sorted(due)))
