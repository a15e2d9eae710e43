"""The contract of a pairing format.

A format is a deterministic fold like a match: results go in, pairings come out. A state is immutable. Where another
program pairs a round, its pairing goes in like a result.
"""

# What a format has to promise. `referee/testing/pairing.py` holds a format to most of these points.
#
# 1. The same results in the same order give the same pairings. Chance comes from `shuffle` alone, and only in `new`. A
#    tournament is resumed and audited by folding its record again, so a format that asked the clock or the system's
#    random numbers would pair another tournament.
# 2. The pairings that are due at one time can be played at one time: no entrant is in two of them, unless it has
#    copies. A format does not know how many tables there are.
# 3. Results may come in any order among the pairings that are due. If the order changes what is paired next, the format
#    keeps early results back until the earlier ones are there, as the ladder does; or it waits for the whole round.
#    Otherwise an organiser with faster machines, or a player that thinks for longer, could choose opponents.
# 4. A pairing has one number for ever, and a later pairing of an entrant has a greater one. Names of matches, and so
#    the seeds of their deals, follow from the number.
# 5. It ends. A format in which the winner goes on must decide the winner after a bounded number of draws.
# 6. An entrant may leave at any time, in the middle of a match too, and nobody else loses by it: opponents get
#    walkovers, or other matches in the place of those they lost. Two that leave one after the other leave the same
#    state behind in either order.
# 7. A state never changes. The fold keeps old ones to compare, and refuses an event by keeping the state it had.
#
# Why a fold, and not a generator that asks for results? A generator can't be compared, copied or taken back to an
# earlier point, and all of that happens here: `revise`, `reopen`, and each refused event.
#
# Optional methods answer questions that only some formats can answer (`extent`, `later`, `bracket`), or allow what a
# format otherwise refuses (`join`, `reinstate`, `revise`). Their defaults answer "unknown", or raise a BadRuling.

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...errors import BadRequest
from ...games.base import Shuffle, seats_text
from ...text import counted
from ...type_words import explain_mismatch, wrong_options

S = TypeVar("S")
Group = tuple[int, ...]
"""Entrants by seat."""
MOST_PRINTED_CHARS = 1 << 16
"""Most characters of a pairing that an organiser's program prints; a thousand entrants take six thousand."""
LATE = "late"
"""Label of the byes of an entrant that joined late, for the rounds that it has missed."""


class BadFormat(BadRequest):
    """Options or a field that the format can't use; the text tells the organiser what to fix."""


class NotDue(Exception):
    """A result came for a pairing that is not due: a mistake of the caller, not of an entrant."""


class BadPairing(Exception):
    """Groups that can't be a round; the text says why. Either the pairing program or the record is wrong."""


class BadRuling(BadRequest):
    """A ruling that can't be carried out; the text tells the organiser why."""


class Entrant(Struct, frozen=True, kw_only=True):
    """A program that takes part."""

    name: str
    """Unique among the entrants."""
    rating: float | None = None
    """Strength before the tournament, on any scale; None if it is unknown."""
    has_copies: bool = False
    """True if it may play several matches at a time, because each match gets its own start of the program."""


class Pairing(Struct, frozen=True, kw_only=True):
    """One match that is to be played, or a bye."""

    number: int
    """Number from 1, unique in a tournament. A later pairing of an entrant without copies has a greater number; some
    numbers may be left out."""
    round: int
    """Round from 1; a format without rounds gives this number a meaning of its own."""
    seats: tuple[int, ...]
    """Entrants by seat, as indices among the entrants; a single one has a bye."""
    table: str = ""
    """Label of its place in the format: `final`, `losers' round 2`; `walkover` for a bye if an opponent withdrew.
    Mostly empty."""
    against: int | None = None
    """The entrant that withdrew, if this is a walkover in a format whose opponents are fixed from the start."""

    @property
    def is_bye(self) -> bool:
        """Whether the entrant goes on without an opponent."""
        return len(self.seats) == 1


class PlayedPairing(Struct, frozen=True, kw_only=True):
    """The result of a pairing."""

    pairing: Pairing
    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; empty if no seat gets points.

    A format in which the winner goes on treats an empty ranking as a draw.
    """
    scores: tuple[int, ...]
    """The game's points by seat; zeros for a bye."""
    fouls: tuple[int, ...] = ()
    """Seats that fouled; they are in the last group of the ranking."""
    legs: tuple["PlayedPairing", ...] = ()
    """Result of each match, if all matches of one deal count as this one."""


class BracketPlace(Struct, frozen=True, kw_only=True):
    """The place of a match in a bracket, before its entrants are known."""

    part: str
    """Which bracket it belongs to, where there are several: `winners`."""
    round: int
    table: str
    slots: tuple[tuple[int, ...] | None, ...]
    """Entrants by slot: the one that fills it, or two of which one will; empty: nobody does; None: it is open."""
    winner: int | None = None
    """The entrant that goes on; None if that is open."""
    is_optional: bool = False
    """True if the match may not be needed."""
    numbers: tuple[int, int]
    """The first and the last that its pairings can have."""


class EntrantField(Struct, frozen=True, kw_only=True):
    """The entrants of a tournament, and the seats of its matches."""

    entrants: tuple[Entrant, ...]
    seats: int
    """Number of seats of a match."""


class Extent(Struct, frozen=True, kw_only=True):
    """The length of a tournament in which nobody withdraws."""

    fewest: int
    """Number of pairings, without byes."""
    most: int
    """Number of pairings if every draw is played again and nothing ends early."""
    rounds: int | None = None
    """Number of rounds; None if there are none, or results decide how many."""


class RoundLine(Struct, frozen=True):
    """The round of one entrant."""

    round: int
    group: Group
    """Entrants that sat there; a single one was alone."""
    points: int
    """Half points: 2 for each beaten opponent, 1 for each equal one; a bye counts as beating all."""
    unplayed: str = ""
    """Letter of the file for a round without a match: `U` a bye, `H` a round missed for half a point, `+` and `-` the
    two sides of a walkover. Empty: it was a match."""


class PlayedRounds(Struct, frozen=True, kw_only=True):
    """A tournament of two seats up to some round."""

    rounds: int
    """Number of planned rounds."""
    through: int
    """Number of rounds that are over."""
    order: tuple[int, ...]
    """Entrants by starting number."""
    lines: tuple[tuple[RoundLine, ...], ...]
    """Lines of each entrant, by round; a round without a line was missed for no points."""
    away: frozenset[int] = frozenset()
    """Entrants that the next round leaves out."""
    is_white_first: bool = True
    """True if the first of the order has the first seat in round 1."""

    def points(self, entrant: int) -> int:
        """Return an entrant's points, in halves."""
        return sum(line.points for line in self.lines[entrant])

    def results(self, entrant: int) -> "list[LineResult]":
        """Return the rounds of an entrant, and the next one if the entrant is to miss it."""
        results = [_MISSED] * (self.through + (entrant in self.away and self.through < self.rounds))
        for line in self.lines[entrant]:
            results[line.round - 1] = self._result(line, entrant)
        return results

    def _result(self, line: RoundLine, entrant: int) -> "LineResult":
        if len(line.group) == 1:
            return LineResult(0, "-", line.unplayed)
        seat = line.group.index(entrant)
        opponent = self.order.index(line.group[1 - seat]) + 1
        return LineResult(opponent, "wb"[seat], line.unplayed or "0=1"[line.points])


class LineResult(Struct, frozen=True):
    """One round of one entrant, in the form of the file."""

    opponent: int
    """Starting number; 0: none."""
    colour: str
    """`w` for the first seat, `b` for the second, `-` for none."""
    letter: str


_MISSED = LineResult(0, "-", "Z")


class RoundToPair(Struct, frozen=True, kw_only=True):
    """A round that is paired outside of the fold, because that takes long or another program does it."""

    round: int
    played: PlayedRounds
    """The earlier rounds, and the entrants that are absent from this one."""


class PairingFormat(ABC, Generic[S]):
    """A pairing format: it decides who meets whom. S is the type of its state."""

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    """Numbers of entrants that a match may have."""
    options_type: ClassVar[type[Struct]]
    gives_late_byes: ClassVar[bool] = False
    """True if an entrant that joins late gets byes, labelled LATE, for the rounds that it has missed."""
    gives_byes: ClassVar[bool] = True
    """True if an entrant can go on without an opponent, by a bye or a walkover."""
    asks_ratings: ClassVar[bool] = True
    """True if the entrants' ratings change who meets whom."""

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
            wrong = "; ".join(wrong_options(raw, self.options_type)) or explain_mismatch(error)
            options = ", ".join(field.name for field in msgspec.structs.fields(self.options_type)) or "none"
            raise BadFormat(f"options of {self.name}: {wrong} (it knows: {options})") from None

    def idle_options(self, raw: dict[str, Any], field: EntrantField) -> Iterator[tuple[str, str]]:
        """Yield each option that is set and changes nothing, with the reason.

        Args:
            raw: the options that the tournament file sets.
            field: one that the format can be played with.
        """
        yield from ()

    def meets_everybody(self, options: Any, field: EntrantField) -> bool:
        """Return whether each entrant plays equally often against each other one, if nobody withdraws.

        Args:
            options: from parse_options.
            field: one that the format can be played with.
        """
        return False

    def extent(self, options: Any, field: EntrantField) -> Extent | None:
        """Return how long a tournament takes; None if results decide.

        Args:
            options: from parse_options.
            field: from which `new` makes a state.
        """
        return None

    def count_cancelled_pairings(self, state: S) -> int:
        """Return the number of pairings of `extent` that are surely not played because somebody withdrew.

        A format that can't know it returns 0.
        """
        return 0

    def later(self, state: S) -> int | None:
        """Return the least number of pairings after those that are due, without byes; None if it can't be known."""
        return None

    @abstractmethod
    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> S:
        """Return the state before the first match.

        Args:
            options: from parse_options.
            field: the entrants, and the seats of a match.
            shuffle: the only source of chance.

        Raises:
            BadFormat: the format can't be played with this field.
        """

    @abstractmethod
    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return every pairing that may be played now and has no result yet, byes included, by their numbers.

        All can be played at the same time: no entrant is in two of them, unless it has copies.
        """

    @abstractmethod
    def record(self, state: S, played: PlayedPairing) -> S:
        """Return the state after a result.

        Args:
            state: a state in which the pairing is due.
            played: the result; of a bye, the one that its entrant is ranked alone.

        Raises:
            NotDue: the pairing is not due in this state.
        """

    def first_open(self, state: S, besides: Pairing) -> int | None:
        """Return the smallest number of a pairing without a result that may be played or due later.

        None if the format does not need this. It is needed where entrants play several matches at a time: there,
        suspensions follow from results in the order of the pairings' numbers.

        Args:
            state: the state of a tournament.
            besides: a pairing to leave out.
        """
        return None

    def reopen(self, state: S, pairing: Pairing) -> S:
        """Return the state in which a decided pairing is due again, because one of its entrants is about to withdraw.

        Called only for formats whose `first_open` matters.
        """
        return state

    @abstractmethod
    def withdraw(self, state: S, entrant: int) -> S:
        """Return the state without an entrant that plays no more; its pairings are no longer due.

        A match that is being played is cancelled with it. A second withdrawal changes nothing.
        """

    def conclude(self, state: S, played: PlayedPairing, leaving: Iterable[int]) -> S:
        """Return the state after a result with which some of its entrants have played their last match.

        They leave before anything is paired, so it does not matter which match of a round ends last. A format whose
        `record` pairs no new round has nothing to add.

        Args:
            state: a state in which the pairing is due.
            played: the result; see `record`.
            leaving: entrants of this pairing that play no more.

        Raises:
            NotDue: the pairing is not due in this state.
        """
        state = self.record(state, played)
        for entrant in leaving:
            state = self.withdraw(state, entrant)
        return state

    def to_pair(self, state: S) -> RoundToPair | None:
        """Return the round that must be paired before anything more is due; None: there is no such round.

        The caller pairs it with `dutch.pair_round`, and submits the groups with `take_round`.
        """
        return None

    def take_round(self, state: S, groups: tuple[Group, ...]) -> S:
        """Return the state after a round was paired.

        Args:
            state: a state in which a round is to be paired.
            groups: entrants by seat of each match; a single one has the bye.

        Raises:
            BadPairing: no round is to be paired, or not like this.
        """
        raise BadPairing(f"{self.name} pairs its rounds itself")

    def take_printed_round(self, state: S, groups: tuple[Group, ...], output: str) -> S:
        """Return the state after a round that a program of the organiser's paired, with what the program printed.

        Raises:
            BadPairing: no round is to be paired, or not by a program, or not like this.
        """
        raise BadPairing(f"{self.name} has no program of the organiser's pair its rounds")

    def join(self, state: S, field: EntrantField) -> S:
        """Return the state with another entrant.

        Args:
            state: before.
            field: from now on; who joins is its last one.

        Raises:
            BadRuling: this format lets nobody join, or it is too late.
        """
        raise BadRuling(f"nobody can join a tournament of the format {self.name} that has begun")

    def reinstate(self, state: S, entrant: int) -> S:
        """Return the state in which a withdrawn entrant plays on.

        Raises:
            BadRuling: this format allows no return, or it is too late.
        """
        raise BadRuling(f"who is out of a tournament of the format {self.name} can't come back")

    def count_rounds(self, state: S) -> int:
        """Return the number of rounds paired; 0 where not everybody has a match or a bye in every round."""
        return 0

    def renew(self, state: S, entrant: int) -> S:
        """Return the state with an entrant that has another program from now on."""
        return state

    def revise(self, state: S, old: PlayedPairing | None, new: PlayedPairing | None) -> S:
        """Return the state in which a result is taken back, or a pairing without one gets a new result.

        Args:
            state: one that has the result, or is to get another one; what was paired stays so.
            old: the result to take back; None: it was taken back before.
            new: the result to count; None: it follows later.

        Raises:
            BadRuling: later pairings follow from it.
        """
        raise BadRuling(f"a result of the format {self.name} can't be changed: later pairings follow from it")

    def is_over(self, state: S) -> bool:
        """Return whether nothing is due, and nothing will become due."""
        return not self.due(state) and self.to_pair(state) is None

    def places(self, state: S) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst as the format itself decides; None if points decide.

        Where points decide, byes are spread evenly: of those that stay to the end, none has two more than another,
        walkovers aside.
        """
        return None

    def explain_order(self) -> str:
        """Return in a sentence what decides the places of the standings."""
        return "Points decide the places, then the tie-breaks."

    def placing_ratings(self, state: S) -> tuple[float, ...] | None:
        """Return by entrant the rating that decides its place, on Elo's scale; None if no rating does."""
        return None

    def bracket(self, state: S) -> tuple[BracketPlace, ...] | None:
        """Return the places of a bracket in which winners go on, by rounds, those of one round from top to bottom.

        Two neighbours of a round lead to one place of the next one, or each to its own. None: the format eliminates
        nobody. Empty: the places are not known beforehand, and pages show the matches round by round.
        """
        return None

    def check_field(self, field: EntrantField) -> None:
        """Check that a match can be filled from a field.

        Raises:
            BadFormat: the format is for other numbers of seats, or there are too few entrants for one match.
        """
        if field.seats not in self.seats:
            raise BadFormat(f"{self.name} is for matches of {seats_text(self.seats)}, not of {field.seats}")
        if len(field.entrants) < field.seats:
            few = counted(len(field.entrants), "entrant is", "entrants are")
            raise BadFormat(f"{few} too few for matches of {field.seats}")


def order_by_seed(field: EntrantField, shuffle: Shuffle) -> tuple[int, ...]:
    """Return the entrants, the best rated first and unrated ones last; lots order equal and unrated ones."""
    ratings = [entrant.rating for entrant in field.entrants]
    lot = shuffle(range(len(ratings)))
    rated = sorted(
        (entrant for entrant in lot if ratings[entrant] is not None), key=lambda entrant: -(ratings[entrant] or 0)
    )
    return (*rated, *(entrant for entrant in lot if ratings[entrant] is None))


def bye(pairing: Pairing) -> PlayedPairing:
    """Return the result of a bye."""
    return PlayedPairing(pairing=pairing, ranking=((0,),), scores=(0,))


def apply_withdrawals(pairing: Pairing, withdrawn: AbstractSet[int]) -> Pairing | None:
    """Return the rest of a pairing of two after withdrawals: a walkover for the one that stays; None if none does."""
    staying = tuple(entrant for entrant in pairing.seats if entrant not in withdrawn)
    if len(staying) == len(pairing.seats):
        return pairing
    gone = next(entrant for entrant in pairing.seats if entrant in withdrawn)
    return replace(pairing, seats=staying, table="walkover", against=gone) if staying else None


def without(due: tuple[Pairing, ...], played: PlayedPairing) -> tuple[Pairing, ...]:
    """Return the pairings that stay due after a result.

    Raises:
        NotDue: its pairing is not among them.
    """
    rest = tuple(pairing for pairing in due if pairing.number != played.pairing.number)
    if len(rest) == len(due):
        raise NotDue(f"pairing {played.pairing.number} is not due")
    return rest


def half_points(played: PlayedPairing) -> tuple[int, ...]:
    """Return the half points of each seat for formats that pair by points: 2 for each beaten seat, 1 for each equal.

    A seat that fouled gets nothing. A bye is worth `bye_half_points`.
    """
    worth = [0] * len(played.pairing.seats)
    below = sum(len(group) for group in played.ranking)
    for group in played.ranking:
        below -= len(group)
        for seat in group:
            worth[seat] = 0 if seat in played.fouls else 2 * below + len(group) - 1
    return tuple(worth)


def bye_half_points(seats: int) -> int:
    """Return what a bye is worth to such formats: a win for two seats, for more the average of a match.

    The organiser chooses its worth in the standings: see `points.bye_points`.
    """
    return 2 if seats == 2 else seats - 1
