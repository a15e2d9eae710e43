"""Gauntlet: the first entrants against all others, and nobody else against anybody."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ..games.base import Shuffle
from . import timetable
from .base import BadFormat, EntrantField, Extent, Pairing
from .timetable import State, TimetableFormat


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an organiser may set."""

    challengers: Annotated[int, Meta(ge=1, le=1000)] = 1
    """How many of the first entrants play against all others. They do not play against each other."""
    cycles: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """How often each of them meets each other entrant in either seat."""


class Rota(Struct, frozen=True):
    """The timetable of a gauntlet.

    In step s the challenger c meets opponent (s // 2 + c) modulo their number: two matches with seats exchanged, and
    no opponent is asked for by two challengers at once.
    """

    entrants: int
    challengers: int
    cycles: int

    @property
    def columns(self) -> int:
        """Opponents that a challenger goes through in a cycle, those counted that are none since there are so few."""
        return max(self.challengers, self.entrants - self.challengers)

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return 2 * self.cycles * self.columns

    def pairing(self, entrant: int, index: int) -> Pairing | None:
        """Return an entrant's pairing of a round, counted from 0; None if it rests."""
        step = index // 2
        if entrant < self.challengers:
            challenger, opponent = entrant, self.challengers + (step + entrant) % self.columns
        else:
            challenger, opponent = (entrant - self.challengers - step) % self.columns, entrant
        if challenger >= self.challengers or opponent >= self.entrants:
            return None
        seats = (challenger, opponent) if index % 2 == 0 else (opponent, challenger)
        return Pairing(number=index * self.challengers + challenger + 1, round=index + 1, seats=seats)


class Gauntlet(TimetableFormat):
    """One or few entrants against all others, in every seat equally often."""

    name = "gauntlet"
    title = "Gauntlet"
    seats = range(2, 3)
    options_type = Options

    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> State:
        """Return the state before the first match.

        Raises:
            BadFormat: the field has no match of two, or nobody but challengers.
        """
        self.check_field(field)
        if options.challengers >= len(field.entrants):
            raise BadFormat(f"{options.challengers} challengers of {len(field.entrants)} entrants leave no opponents")
        return timetable.start(Rota(len(field.entrants), options.challengers, options.cycles), len(field.entrants))

    def extent(self, options: Any, field: EntrantField) -> Extent:
        """Return how long it takes: each challenger meets all others in both seats."""
        rota = Rota(len(field.entrants), options.challengers, options.cycles)
        matches = 2 * rota.cycles * rota.challengers * (rota.entrants - rota.challengers)
        return Extent(fewest=matches, most=matches, rounds=rota.rounds)
