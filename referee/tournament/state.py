"""How a tournament stands: what its fold has taken in so far, and what follows from that. Nothing here changes it."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from ..chance import Dealer
from . import commands as c
from . import events as e
from .crosstable import Crosstable
from .decisions import Books, Decisions
from .due_pairings import DuePairings, is_free
from .failures import Failures
from .match_context import Fixture, MatchEntry
from .pairing.base import BadRuling, BracketPlace, Pairing, PairingFormat, PlayedPairing, RoundToPair
from .ratings.multi_seat import SkillBook
from .spec import Participant, TournamentSpec


class TournamentState:
    """A tournament as it stands.

    Args:
        spec: what was settled.
        format_: of the spec's name.
        shuffle: the only source of chance, for the format.

    Raises:
        BadFormat: the format can't be played with these options and entrants.
    """

    def __init__(self, spec: TournamentSpec, format_: PairingFormat[Any], shuffle: Dealer) -> None:
        self.spec = spec
        """Its entrants are those that take part now, late ones included."""
        self._format = format_
        field = spec.field()
        self._state = format_.new(format_.parse_options(dict(spec.format_options)), field, shuffle)
        self.suspended: dict[int, c.SuspendEntrant] = {}
        """By entrant: who plays no more."""
        self.disqualified: set[int] = set()
        self.failures = Failures(spec.suspend_after)
        self.played = 0
        """Matches that count."""
        self.voided = 0
        """Matches that do not, for a fault of the referee's."""
        self.awards: dict[tuple[int, int], MatchEntry] = {}
        """Number of a pairing and leg -> the result that a ruling has given it, as long as it stands."""
        self.rulings: list[e.Ruling] = []
        self.stopped: e.Ruling | None = None
        """The ruling by which nothing begins any more; what has begun is played to its end."""
        self.playing: dict[str, Fixture] = {}
        """Match -> what it was opened for, of all that were opened and are not closed."""
        self._due = DuePairings(spec.name, spec.legs)
        self._order: tuple[int, ...] = ()
        """Numbers of the pairings that are due, as the format has them."""
        self.taken_back: set[int] = set()
        """Numbers of the pairings that a ruling has made due again: the format believes that they are through."""
        self.concluded: list[PlayedPairing] = []
        """The pairings that were through with the last event, byes among them."""
        skills = SkillBook(field, spec.scoring) if spec.seats > 2 else None
        self._decided = Decisions(Books(Crosstable(field, spec.scoring), skills))
        self._settled: Any = None
        """The format's state from which it was told last what is due."""
        self._asked_round = 0
        """The last round that somebody was asked to pair."""
        self._commands: list[c.TournamentCommand] = []

    @property
    def table(self) -> Crosstable:
        """All that standings follow from."""
        return self._decided.books.table

    @property
    def skills(self) -> SkillBook | None:
        """All that ratings of more than two seats follow from."""
        return self._decided.books.skills

    @property
    def state(self) -> Any:
        """The format's, for who knows which one it is."""
        return self._state

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be opened any more."""
        is_through = self._format.is_over(self._state) or (self.stopped is not None and not self._due)
        return is_through and not self.taken_back

    @property
    def given_up(self) -> int:
        """How many matches are not played because somebody has withdrawn, as far as the format can tell."""
        return max(self._format.given_up(self._state) * self.spec.legs - self._due.given_up_legs, 0)

    @property
    def total(self) -> int | None:
        """How many matches there will be at least, those that count already among them; None: nobody can tell.

        It follows from how the tournament stands now, so that it grows with each draw that is played again and with
        each entrant that joins, and shrinks with whatever is given up or ruled without a match.
        """
        later = self._format.later(self._state) if self.stopped is None else 0
        if later is None:
            return self.played if self.is_over else None
        due = {pairing.number for pairing in self._wanted() if not pairing.is_bye}.union(self._due)
        legs = (len(self._due.fixtures(number)) if number in self._due else self.spec.legs for number in due)
        return self.played + sum(legs) + later * self.spec.legs

    @property
    def to_pair(self) -> RoundToPair | None:
        """The round that somebody else is to pair before more is due."""
        return self._format.to_pair(self._state) if self.stopped is None else None

    @property
    def due(self) -> list[Pairing]:
        """The pairings that are to be played, or are being played."""
        return [self._due[number] for number in self._due]

    def fixtures(self) -> Iterator[Fixture]:
        """Yield every match that may be opened now and has no result yet, in the order of the pairings.

        Those that are being played are among them.
        """
        order = () if self._format.is_over(self._state) else self._order  # what is due may be undecided then
        fixtures = chain.from_iterable(map(self._due.fixtures, (*order, *sorted(self.taken_back))))
        return (fixture for fixture in fixtures if is_free(fixture, self.playing.values(), self.taken_back))

    def is_last_leg(self, fixture: Fixture) -> bool:
        """Tell whether no other match of a fixture's pairing may be opened, or is being played."""
        return sum(other.number == fixture.number for other in self.fixtures()) <= 1

    def places(self) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst as the format itself decides; None if points decide."""
        return self._format.places(self._state)

    def explain_order(self) -> str:
        """Return in a sentence what decides the places of the standings."""
        return self._format.explain_order()

    def placing_ratings(self) -> tuple[float, ...] | None:
        """Return by entrant the rating that decides its place, on Elo's scale; None if no rating does."""
        return self._format.placing_ratings(self._state)

    def bracket(self) -> tuple[BracketPlace, ...] | None:
        """Return the places of its bracket; empty: results decide who goes where; None: nobody is out."""
        return self._format.bracket(self._state)

    def joined(self, participant: Participant) -> Any:
        """Return the format's state with somebody who joins; the tournament stays as it is.

        Raises:
            BadRuling: nobody can join now, or nobody of that name.
        """
        if any(other.name == participant.name for other in self.spec.entrants):
            raise BadRuling(f"{participant.name} takes part already")
        self._check_goes_on()
        spec = replace(self.spec, entrants=(*self.spec.entrants, participant))
        return self._format.join(self._state, spec.field())

    def _wanted(self) -> Sequence[Pairing]:
        """Return the pairings that are due; of a tournament that was stopped, those alone that were before."""
        due = self._format.due(self._state)
        return due if self.stopped is None else [pairing for pairing in due if pairing.number in self._due]

    def _check_goes_on(self) -> None:
        if self.stopped is not None:
            raise BadRuling(f"{self.spec.name} was stopped for good: {self.stopped.reason}")
