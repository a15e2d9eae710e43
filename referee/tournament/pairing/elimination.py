"""What all knockouts have in common: matches with fixed places, some of them played again.

Each place that a match can have is known before its entrants are, and so are the numbers of the match and of its
replays. So the same results give the same matches, in whatever order they come in.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Collection, Iterable
from functools import reduce
from typing import Self, TypeVar

from msgspec import Struct, StructMeta
from msgspec.structs import replace

from .base import BadRuling, BracketPlace, Pairing, PairingFormat, PlayedPairing, without


class _AbstractStruct(StructMeta, ABCMeta):
    """The type of structs that leave methods to those that derive from them."""


class EliminationState(Struct, frozen=True, kw_only=True, metaclass=_AbstractStruct):
    """A knockout after some results."""

    seeds: tuple[int, ...]
    """Entrants, best first."""
    replays: int
    """How often a match that does not say who goes on is played again before the better ones do."""
    due: tuple[Pairing, ...] = ()
    """By their numbers."""
    withdrawn: frozenset[int] = frozenset()

    def record(self, played: PlayedPairing) -> Self:
        """Return the state after a result.

        Raises:
            NotDue: its pairing is not due.
        """
        return replace(self, due=without(self.due, played)).after(played)

    @abstractmethod
    def withdraw(self, entrant: int) -> Self:
        """Return the state without an entrant; whoever was to meet it goes on."""

    def conclude(self, played: PlayedPairing, leaving: Collection[int]) -> Self:
        """Return the state after a result, without entrants that leave with it.

        Raises:
            NotDue: its pairing is not due.
        """
        return reduce(type(self).withdraw, leaving, self.record(played))

    def place(self, pairing: Pairing) -> int:
        """Return the place of a match, from 0."""
        return (pairing.number - 1) // (self.replays + 1)

    def draws(self, pairing: Pairing) -> int:
        """Return how often a match was played in vain before a pairing."""
        return (pairing.number - 1) % (self.replays + 1)

    def issued(self, place: int, draws: int, *, seats: tuple[int, ...], round: int, table: str) -> Self:  # noqa: A002  # a pairing's
        """Return the state with one more pairing due.

        Args:
            place: of the match, from 0.
            draws: how often it was played in vain.
            seats: who plays.
            round: as in the pairing.
            table: as in the pairing.
        """
        pairing = Pairing(number=place * (self.replays + 1) + draws + 1, seats=seats, round=round, table=table)
        return replace(self, due=tuple(sorted((*self.due, pairing), key=lambda other: other.number)))

    def taken_back(self, old: PlayedPairing) -> Self:
        """Return the state without a result.

        Raises:
            BadRuling: later matches follow from it.
        """
        raise BadRuling("a result can't be changed where several go on from a table: later tables follow from it")

    @abstractmethod
    def after(self, played: PlayedPairing) -> Self:
        """Return the state, in which a pairing is due no more, with what follows from its result."""

    def bracket(self) -> tuple[BracketPlace, ...]:
        """Return the places of its bracket; none: results decide who goes where."""
        return ()

    @abstractmethod
    def later(self) -> int:
        """Return how many matches are to be played at least besides those that are due, if nobody draws any more."""

    @abstractmethod
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst: those still in it, then as they went out, the last first."""


S = TypeVar("S", bound=EliminationState)


class EliminationFormat(PairingFormat[S]):
    """A format whose state knows the rest."""

    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now."""
        return state.due

    def record(self, state: S, played: PlayedPairing) -> S:
        """Return the state after a result.

        Raises:
            NotDue: the pairing is not due.
        """
        return state.record(played)

    def withdraw(self, state: S, entrant: int) -> S:
        """Return the state without an entrant; whoever was to meet it goes on."""
        return state.withdraw(entrant)

    def conclude(self, state: S, played: PlayedPairing, leaving: Iterable[int]) -> S:
        """Return the state after a result, without entrants that leave with it.

        Raises:
            NotDue: the pairing is not due.
        """
        return state.conclude(played, frozenset(leaving))

    def revise(self, state: S, old: PlayedPairing | None, new: PlayedPairing | None) -> S:
        """Return the state with a result taken back, or with what follows from another one.

        Raises:
            BadRuling: matches that follow from it have been played.
        """
        state = state if old is None else state.taken_back(old)
        return state if new is None else state.after(new)

    def later(self, state: S) -> int:
        """Return how many matches are to be played at least besides those that are due."""
        return state.later()

    def bracket(self, state: S) -> tuple[BracketPlace, ...]:
        """Return the places of its bracket; none: results decide who goes where."""
        return state.bracket()

    def explain_order(self) -> str:
        """Return in a sentence what decides the places of the standings."""
        return "The winner comes first, then who went out last; points and tie-breaks order those who are equal."

    def places(self, state: S) -> tuple[tuple[int, ...], ...]:
        """Return groups of entrants from best to worst; those that went out in one round share one."""
        return state.places()
