"""A tournament as a fold: results in, matches out.

Nothing else decides what is played next. The same entries in the same order give the same fixtures, so a tournament is
taken up again from its records alone. Whoever runs it opens what `fixtures` returns, and hands in what came of it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from ..chance import Dealer
from ..errors import RefereeError
from ..pairing.base import Pairing, PairingFormat, PlayedPairing, bye
from ..pairing.dutch import pair_round
from ..text import counted
from .crosstable import Crosstable
from .legs import combined, played_of, rotated
from .match_context import MatchContext, MatchEntry
from .ratings.multi_seat import SkillBook
from .spec import TournamentSpec


class NotOpen(RefereeError):
    """An entry of a match that is not to be played now: a mistake of whoever runs the tournament."""


class GivenUp(NotOpen):
    """An entry of a match that was to be played until one of its pairing withdrew; it counts for nothing."""


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

    def context(self, tournament: str, opening: int, taken: Sequence[str]) -> MatchContext:
        """Return what the match's record says that it was opened for.

        Args:
            tournament: its name.
            opening: how many matches were opened before.
            taken: the matches whose results were taken since the opening before this one.
        """
        return MatchContext(
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
        spec: what was settled.
        format_: of the spec's name.
        shuffle: the only source of chance, for the format.

    Raises:
        BadFormat: the format can't be played with these options and entrants.
    """

    def __init__(self, spec: TournamentSpec, format_: PairingFormat[Any], shuffle: Dealer) -> None:
        self.spec = spec
        self.field = spec.field()
        self._format = format_
        self._state = format_.new(format_.parse_options(dict(spec.format_options)), self.field, shuffle)
        self.table = Crosstable(self.field, spec.scoring)
        self.skills = SkillBook(self.field) if spec.seats > 2 else None
        self.suspended: dict[int, Suspension] = {}
        """By entrant."""
        self.failures: Counter[int] = Counter()
        """Entrant -> in how many matches its program failed to start."""
        self.played = 0
        """Matches that count."""
        self.voided = 0
        """Matches that do not, for a fault of the referee's."""
        self._given_up_legs = 0
        """Matches that count, of pairings that were given up before their last one."""
        self._legs: dict[int, dict[int, MatchEntry]] = {}
        """Number of a pairing -> leg -> what came of it."""
        self._attempts: Counter[tuple[int, int]] = Counter()
        """Number and leg -> void matches so far."""
        self._due: dict[int, Pairing] = {}
        """By number, in the order of the format."""
        self._open: dict[int, tuple[Fixture, ...]] = {}
        """Number of a due pairing -> its legs without a result."""
        self._given_up: dict[int, tuple[Fixture, ...]] = {}
        """Number of a pairing of somebody who has withdrawn -> its legs that may have been going on."""
        self._settle()

    @property
    def state(self) -> Any:
        """The format's, for who knows which one it is."""
        return self._state

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be played any more."""
        return self._format.is_over(self._state)

    @property
    def given_up(self) -> int:
        """How many matches are not played because somebody has withdrawn, as far as the format can tell."""
        return max(self._format.given_up(self._state) * self.spec.legs - self._given_up_legs, 0)

    def fixtures(self) -> Iterator[Fixture]:
        """Yield every match that may be opened now and has no result yet, in the order of the pairings."""
        if self.is_over:
            return iter(())  # an SPRT match may be decided while some of its pairings are due
        return chain.from_iterable(self._open.get(number, ()) for number in self._due)

    def take(self, entry: MatchEntry) -> tuple[Suspension, ...]:
        """Take what came of a match.

        Args:
            entry: of a fixture that was open.

        Returns:
            The entrants that are suspended because of it.

        Raises:
            GivenUp: one of its pairing withdrew before it was over.
            NotOpen: it is of no match that is to be played now, or it says otherwise what that was opened for.
        """
        self.check(entry)
        number, leg = entry.context.number, entry.context.leg
        pairing = self._due[number]
        if entry.void is not None:
            self._attempts[number, leg] += 1
            self.voided += 1
            self._note_open(pairing)
            return ()
        self.played += 1
        self._legs.setdefault(number, {})[leg] = entry
        self._note_open(pairing)
        if self.skills is not None:
            self.skills.add(played_of(entry, pairing))
        if not self._open[number]:
            self._conclude(pairing)
        suspended = tuple(self._failed_too_often(entry))
        for suspension in suspended:
            self.withdraw(suspension.entrant, suspension.why)
        return suspended

    def check(self, entry: MatchEntry) -> None:
        """Check that an entry is of a match that is to be played now.

        Raises:
            GivenUp: one of its pairing withdrew before it was over.
            NotOpen: it is of no match that is to be played now, or it says otherwise what that was opened for.
        """
        context, name = entry.context, self.spec.name
        fixtures = self._open.get(context.number) or self._given_up.get(context.number, ())
        fixture = next(
            (fixture for fixture in fixtures if (fixture.leg, fixture.attempt) == (context.leg, context.attempt)), None
        )
        if fixture is None:
            raise NotOpen(f"{entry.match} is not to be played now")
        if entry.match != fixture.name_in(name):
            raise NotOpen(f"{entry.match} is not to be played now, but {fixture.name_in(name)}")
        if context != fixture.context(name, context.opening, context.taken):
            raise NotOpen(f"{entry.match} was opened for something else than what is to be played now")
        if context.number not in self._open:
            raise GivenUp(f"{entry.match} was given up: one of its pairing withdrew")

    def withdraw(self, entrant: int, why: str) -> None:
        """Let an entrant play no more; whoever has withdrawn already stays so for the first reason."""
        if entrant not in self.suspended:
            self.suspended[entrant] = Suspension(entrant=entrant, why=why)
            self.table.withdraw(entrant)
            self._state = self._format.withdraw(self._state, entrant)
            self._give_up()
            self._settle()

    def places(self) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst as the format itself decides; None if points decide."""
        return self._format.places(self._state)

    def _conclude(self, pairing: Pairing) -> None:
        """Hand a pairing's result to the format and to the table."""
        legs = self._legs[pairing.number]
        played = combined(pairing, [legs[leg] for leg in sorted(legs)], self.spec.scoring)
        self._count(played)
        self._settle()

    def _count(self, played: PlayedPairing) -> None:
        self._state = self._format.record(self._state, played)
        self.table.add(played)
        self._forget(played.pairing.number)

    def _forget(self, number: int) -> None:
        """Keep nothing more of a pairing that is through."""
        self._open.pop(number, None)
        self._legs.pop(number, None)
        for leg in range(self.spec.legs):
            self._attempts.pop((number, leg), None)

    def _give_up(self) -> None:
        """Give up the pairings that are not due any more, or have become byes."""
        due = {pairing.number: pairing for pairing in self._format.due(self._state)}
        for number, pairing in self._due.items():
            if due.get(number) != pairing:
                self._given_up[number] = self._open[number]
                self._given_up_legs += len(self._legs.get(number, ()))
                self._forget(number)

    def _settle(self) -> None:
        """Give every bye that is due, and note what is to be played."""
        due = self._paired()
        while byes := [pairing for pairing in due if pairing.is_bye]:
            for pairing in byes:
                self._count(bye(pairing))
            due = self._paired()
        self._due = {pairing.number: pairing for pairing in due}
        for number in self._due.keys() - self._open.keys():
            self._note_open(self._due[number])

    def _paired(self) -> tuple[Pairing, ...]:
        """Have a round paired that is to be paired, and return what is due."""
        while (request := self._format.to_pair(self._state)) is not None:
            tables, _ = pair_round(request)
            self._state = self._format.paired(self._state, tables)
        return self._format.due(self._state)

    def _note_open(self, pairing: Pairing) -> None:
        """Note which legs of a pairing are to be played."""
        number, seats = pairing.number, pairing.seats
        done, attempts = self._legs.get(number, {}), self._attempts
        self._open[number] = tuple(
            Fixture(pairing=pairing, leg=leg, attempt=attempts.get((number, leg), 0), seats=rotated(seats, leg))
            for leg in range(self.spec.legs)
            if leg not in done
        )

    def _failed_too_often(self, entry: MatchEntry) -> Iterator[Suspension]:
        """Yield who has failed to start once too often with this match."""
        for foul in entry.fouls:
            if foul.turn == 0:
                entrant = entry.context.entrants[foul.seat]
                self.failures[entrant] += 1
                times = self.failures[entrant]
                if times == self.spec.suspend_after and entrant not in self.suspended:
                    matches = counted(times, "match", "matches")
                    yield Suspension(entrant=entrant, why=f"failed to start in {matches}: {foul.detail}")
