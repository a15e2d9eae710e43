"""The contract of a pairing format. Knows what every format must answer; refuses to know games, clocks and programs.

A format is a deterministic fold like a match: results go in, pairings come out. A state is immutable; the same
results in the same order give the same pairings, so a tournament can be taken up again from its results alone.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct

from ..games.base import Shuffle

S = TypeVar("S")


class BadFormat(Exception):
    """Options or a field that the format cannot work with; the text tells the organiser what to mend."""


class Entrant(Struct, frozen=True, kw_only=True):
    """A program that takes part."""

    name: str
    """Unique among the entrants."""
    rating: float | None = None
    """What is known of its strength beforehand, on any scale; None: nothing."""


class Pairing(Struct, frozen=True, kw_only=True):
    """One match that is to be played, or a bye."""

    number: int
    """Counts all pairings of a tournament, from 1."""
    round: int
    """From 1; a format without rounds counts what it thinks fit."""
    seats: tuple[int, ...]
    """Entrants by seat, each as its index among the entrants; a single one has a bye."""
    table: str = ""
    """Where in the format it belongs, if that is worth a word: `final`, `losers' round 2`."""

    @property
    def is_bye(self) -> bool:
        """Whether the entrant goes on without an opponent."""
        return len(self.seats) == 1


class Played(Struct, frozen=True, kw_only=True):
    """What came of a pairing."""

    pairing: Pairing
    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; empty if nobody is to be credited with anything."""
    scores: tuple[int, ...]
    """The game's points by seat; zeros for a bye."""
    fouls: tuple[int, ...] = ()
    """Seats that fouled; they are in the last group of the ranking."""


class Field(Struct, frozen=True, kw_only=True):
    """What a tournament is played with."""

    entrants: tuple[Entrant, ...]
    seats: int
    """Of one match."""


class PairingFormat(ABC, Generic[S]):
    """A way to decide who meets whom. S: its state."""

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    """How many entrants one match may have."""
    options_type: ClassVar[type[Struct]]

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Check options.

        Args:
            raw: option name -> plain value; missing ones take their default.

        Raises:
            BadFormat: an unknown option, or a value of the wrong type or range.
        """
        try:
            return msgspec.convert(raw, self.options_type, strict=True)
        except msgspec.ValidationError as error:
            known = ", ".join(field.name for field in msgspec.structs.fields(self.options_type)) or "none"
            raise BadFormat(f"options of {self.name}: {error} (it knows: {known})") from None

    @abstractmethod
    def new(self, options: Any, field: Field, shuffle: Shuffle) -> S:
        """Return the state before the first match.

        Args:
            options: from parse_options.
            field: who takes part, and how many to a match.
            shuffle: the only source of chance.

        Raises:
            BadFormat: the format can't be played with this field.
        """

    @abstractmethod
    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now and has no result yet, byes included, by their numbers.

        No entrant is in two of them, so all can be played at the same time.
        """

    @abstractmethod
    def record(self, state: S, played: Played) -> S:
        """Return the state after a result.

        Args:
            state: in which its pairing is due.
            played: the result; of a bye, the one that its entrant is ranked alone.
        """

    @abstractmethod
    def withdraw(self, state: S, entrant: int) -> S:
        """Return the state without an entrant that plays no more; its pairings are not due any longer."""

    @abstractmethod
    def is_over(self, state: S) -> bool:
        """Tell whether nothing is due and nothing will be."""

    @abstractmethod
    def places(self, state: S) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst as the format itself decides; None if points decide."""


def bye(pairing: Pairing) -> Played:
    """Return the result of a bye."""
    return Played(pairing=pairing, ranking=((0,),), scores=(0,))
