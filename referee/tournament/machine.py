"""A tournament as a fold: results in, matches out. Knows pairings, legs, replays and suspensions; refuses to play.

Nothing else decides what is played next. The same entries in the same order give the same fixtures, so a tournament is
taken up again from its records alone. Whoever runs it opens what `fixtures` returns, and hands in what came of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ..chance import Dealer
from ..pairing.base import Pairing, PairingFormat, Played, bye
from .charter import Charter
from .entries import Entry, Occasion
from .legs import combined, played_of, rotated
from .skill import SkillBook
from .table import Table

START_FOULS = frozenset({"refused-to-start", "crashed", "disconnected"})
"""Causes which, before the first turn, say that a program failed to start."""


class NotOpen(Exception):
    """An entry of a match that is not to be played now: a mistake of whoever runs the tournament."""


class Fixture(Struct, frozen=True, kw_only=True):
    """One match that may be opened now."""

    pairing: Pairing
    leg: int
    attempt: int
    seats: tuple[int, ...]
    """Entrants by seat, each as its index; another order than the pairing's in later legs."""

    def name_in(self, tournament: str) -> str:
        """Return the match's name: the tournament's, the pairing's number, the leg if there are more, the replay."""
        leg = "" if not self.leg else f".{self.leg + 1}"
        replay = "" if not self.attempt else f"r{self.attempt}"
        return f"{tournament}-{self.pairing.number:05}{leg}{replay}"

    def occasion(self, tournament: str, opening: int, taken: Sequence[str]) -> Occasion:
        """Return what the match's record says that it was opened for.

        Args:
            tournament: its name.
            opening: how many matches were opened before.
            taken: the matches whose results were taken since the opening before this one.
        """
        return Occasion(
            tournament=tournament,
            opening=opening,
            number=self.pairing.number,
            round=self.pairing.round,
            table=self.pairing.table,
            leg=self.leg,
            attempt=self.attempt,
            entrants=self.seats,
            taken=tuple(taken),
        )


class Suspension(Struct, frozen=True, kw_only=True):
    """An entrant that plays no more."""

    entrant: int
    why: str


class Tournament:
    """The course of one tournament.

    Args:
        charter: what was settled.
        format_: of the charter's name.
        shuffle: the only source of chance, for the format.

    Raises:
        BadFormat: the format can't be played with these options and entrants.
    """

    def __init__(self, charter: Charter, format_: PairingFormat[Any], shuffle: Dealer) -> None:
        self.charter = charter
        self.field = charter.field()
        self._format = format_
        self._state = format_.new(format_.parse_options(dict(charter.format_options)), self.field, shuffle)
        self.table = Table(self.field, charter.scoring)
        self.skills = SkillBook(self.field) if charter.seats > 2 else None
        self.suspended: dict[int, Suspension] = {}
        """By entrant."""
        self.failures: Counter[int] = Counter()
        """Entrant -> in how many matches its program failed to start."""
        self.played = 0
        """Matches that count."""
        self.voided = 0
        """Matches that do not, for a fault of the referee's."""
        self._legs: dict[int, dict[int, Entry]] = {}
        """Number of a pairing -> leg -> what came of it."""
        self._attempts: Counter[tuple[int, int]] = Counter()
        """Number and leg -> void matches so far."""
        self._due: tuple[Pairing, ...] = ()
        self._settle()

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be played any more."""
        return self._format.is_over(self._state)

    def fixtures(self) -> Iterator[Fixture]:
        """Yield every match that may be played now and has no result yet, in the order of the pairings."""
        for pairing in self._due:
            done = self._legs.get(pairing.number, {})
            for leg in range(self.charter.legs):
                if leg not in done:
                    attempt = self._attempts[pairing.number, leg]
                    yield Fixture(pairing=pairing, leg=leg, attempt=attempt, seats=rotated(pairing.seats, leg))

    def take(self, entry: Entry) -> tuple[Suspension, ...]:
        """Take what came of a match.

        Args:
            entry: of a fixture that was open.

        Returns:
            The entrants that are suspended because of it.

        Raises:
            NotOpen: its pairing is not due, or this leg of it has a result.
        """
        occasion = entry.occasion
        key = (occasion.number, occasion.leg)
        pairing = next((one for one in self._due if one.number == occasion.number), None)
        done = self._legs.get(occasion.number, {})
        if pairing is None or occasion.leg in done or occasion.attempt != self._attempts[key]:
            raise NotOpen(f"{entry.match} is not to be played now")
        if entry.void is not None:
            self._attempts[key] += 1
            self.voided += 1
            return ()
        self.played += 1
        self._legs.setdefault(occasion.number, {})[occasion.leg] = entry
        if self.skills is not None:
            self.skills.add(played_of(entry, pairing))
        if len(self._legs[occasion.number]) == self.charter.legs:
            self._conclude(pairing)
        suspended = tuple(self._failed_too_often(entry))
        for one in suspended:
            self.withdraw(one.entrant, one.why)
        return suspended

    def withdraw(self, entrant: int, why: str) -> None:
        """Let an entrant play no more; whoever has withdrawn already stays so for the first reason."""
        if entrant not in self.suspended:
            self.suspended[entrant] = Suspension(entrant=entrant, why=why)
            self.table.withdraw(entrant)
            self._state = self._format.withdraw(self._state, entrant)
            self._settle()

    def places(self) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst as the format itself decides; None if points decide."""
        return self._format.places(self._state)

    def _conclude(self, pairing: Pairing) -> None:
        """Hand a pairing's result to the format and to the table."""
        legs = self._legs.pop(pairing.number)
        played = combined(pairing, [legs[leg] for leg in sorted(legs)], self.charter.scoring)
        self._count(played)
        self._settle()

    def _count(self, played: Played) -> None:
        self._state = self._format.record(self._state, played)
        self.table.add(played)
        for leg in range(self.charter.legs):
            self._attempts.pop((played.pairing.number, leg), None)

    def _settle(self) -> None:
        """Give every bye that is due, and note what is to be played."""
        self._due = self._format.due(self._state)
        while byes := [pairing for pairing in self._due if pairing.is_bye]:
            for pairing in byes:
                self._count(bye(pairing))
            self._due = self._format.due(self._state)

    def _failed_too_often(self, entry: Entry) -> Iterator[Suspension]:
        """Yield who has failed to start once too often with this match."""
        for foul in entry.fouls:
            if foul.cause in START_FOULS and foul.turn == 0:
                entrant = entry.occasion.entrants[foul.seat]
                self.failures[entrant] += 1
                times = self.failures[entrant]
                if times == self.charter.suspend_after and entrant not in self.suspended:
                    yield Suspension(entrant=entrant, why=f"failed to start in {times} matches: {foul.detail}")
