"""A tournament folded again from its entries, with all that its format was told on the way."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import chance
from ..pairing.base import EntrantField, Pairing, PairingFormat, PlayedPairing
from .machine import GivenUp, Tournament
from .match_context import MatchEntry
from .points import match_points
from .spec import TournamentSpec


@dataclass(frozen=True, slots=True)
class History:
    """A tournament after some results, and how it came there."""

    tournament: Tournament
    entries: tuple[MatchEntry, ...]
    """In the order in which they were taken."""
    given_up: tuple[MatchEntry, ...]
    """Those of them that count for nothing: one of their pairing withdrew before they were over."""
    played: tuple[PlayedPairing, ...]
    """What the format was told, in its order: matches of all their legs, and byes; no void matches."""

    @property
    def byes(self) -> list[Pairing]:
        """Every bye that was given."""
        return [played.pairing for played in self.played if played.pairing.is_bye]

    def points_by_round(self) -> Mapping[int, Mapping[int, Fraction]]:
        """Return round -> entrant -> what its results of this round are worth; rounds in their order."""
        found: dict[int, dict[int, Fraction]] = {}
        for played in self.played:
            worth = found.setdefault(played.pairing.round, {})
            points = match_points(played, self.tournament.spec.scoring, self.tournament.spec.seats)
            for entrant, each in zip(played.pairing.seats, points, strict=True):
                worth[entrant] = worth.get(entrant, Fraction(0)) + each
        return dict(sorted(found.items()))


def refolded(spec: TournamentSpec, format_: PairingFormat[Any], salt: str, entries: Iterable[MatchEntry]) -> History:
    """Fold a tournament's entries again.

    Args:
        spec: what was settled.
        format_: of the spec's name.
        salt: from which the format's lots are drawn, in hex.
        entries: in the order in which they were taken.

    Raises:
        BadFormat: the format can't be played with these options and entrants.
        NotOpen: the entries are not those of this tournament in their order.
    """
    overheard = _Overheard(format_)
    tournament = Tournament(spec, overheard, chance.Dealer(chance.derive(bytes.fromhex(salt), "format")))
    taken, given_up = [], []
    for entry in entries:
        taken.append(entry)
        try:
            tournament.take(entry)
        except GivenUp:
            given_up.append(entry)
    return History(tournament, tuple(taken), tuple(given_up), tuple(overheard.played))


class _Overheard(PairingFormat[Any]):
    """A format, and all results that it was told.

    Args:
        format_: that decides.
    """

    def __init__(self, format_: PairingFormat[Any]) -> None:
        self._format = format_
        self.played: list[PlayedPairing] = []

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Check options, as the format does."""
        return self._format.parse_options(raw)

    def new(self, options: Any, field: EntrantField, shuffle: Any) -> Any:
        """Return the format's state before the first match."""
        return self._format.new(options, field, shuffle)

    def due(self, state: Any) -> tuple[Pairing, ...]:
        """Return what the format says that may be played now."""
        return self._format.due(state)

    def record(self, state: Any, played: PlayedPairing) -> Any:
        """Return the format's state after a result, and keep that."""
        after = self._format.record(state, played)
        self.played.append(played)
        return after

    def withdraw(self, state: Any, entrant: int) -> Any:
        """Return the format's state without an entrant."""
        return self._format.withdraw(state, entrant)

    def is_over(self, state: Any) -> bool:
        """Tell whether the format has come to its end."""
        return self._format.is_over(state)

    def places(self, state: Any) -> tuple[tuple[int, ...], ...] | None:
        """Return the places as the format decides them."""
        return self._format.places(state)

    def given_up(self, state: Any) -> int:
        """Return how many pairings the format has given up."""
        return self._format.given_up(state)
