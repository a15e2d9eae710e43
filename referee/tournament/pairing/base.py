"""The contract of a pairing format.

A format is a deterministic fold, like a match: results go in, and pairings come out. A state is immutable. If another
program pairs a round, its pairing goes in like a result.
"""

# These are the promises of a format. `referee/testing/pairing.py` tests most of them.
#
# 1. The same results in the same order give the same pairings. Random numbers come only from `shuffle`, and only in
#    `new`. A tournament is resumed and audited by folding its record again, so a format that read the clock or drew
#    other random numbers would make other pairings then.
# 2. All pairings that are due can be played at the same time: no entrant is in two of them, unless it has copies. A
#    format does not know the number of tables.
# 3. Results of due pairings may come in any order. If the order changes the next pairings, the format keeps results
#    back until the earlier ones have come, as the ladder does, or it waits for the whole round. Otherwise an organiser
#    with faster machines, or a player that thinks for longer, could choose opponents.
# 4. A pairing never changes its number, and a later pairing of an entrant has a greater number. Names of matches, and
#    so the seeds of their deals, follow from this number.
# 5. The tournament ends. A format in which the winner goes on must decide the winner after a limited number of draws.
# 6. An entrant may withdraw at any time, even during a match, and no other entrant has a disadvantage: its opponents
#    get walkovers, or other matches instead. If two entrants withdraw, the result is the same in either order.
# 7. A state never changes. The fold compares old and new states, and refuses an event by keeping the old state.
#
# Why a fold, and not a generator that asks for results? A generator can't be compared, copied or set back to an earlier
# point, and the fold of a tournament needs all of this: for `revise`, for `reopen`, and for each refused event.
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
    """The format can't use these options or entrants; the text says what the organiser must fix."""


class NotDue(Exception):
    """A result came for a pairing that is not due: a mistake of the caller, not of an entrant."""


class BadPairing(Exception):
    """These groups can't be a round; the text says why. Either the pairing program or the record is wrong."""


class BadRuling(BadRequest):
    """A ruling can't be carried out; the text says why."""


class Entrant(Struct, frozen=True, kw_only=True):
    """A program that takes part."""

    name: str
    """Unique among the entrants."""
    rating: float | None = None
    """Strength before the tournament, on any scale; None if it is unknown."""
    has_copies: bool = False
    """True if it can play several matches at a time, because the referee starts a copy of the program for each."""


class Pairing(Struct, frozen=True, kw_only=True):
    """One match that is to be played, or a bye."""

    number: int
    """Number from 1, unique in a tournament; there may be gaps.

    A later pairing of an entrant without copies has a greater number.
    """
    round: int
    """Round, from 1. A format without rounds may give this number another meaning."""
    seats: tuple[int, ...]
    """Index of the entrant at each seat; a single one has a bye."""
    table: str = ""
    """Label of the pairing's place in the format, such as `final` or `losers' round 2`; usually empty.

    It is `walkover` for a bye that an entrant gets because an opponent withdrew.
    """
    against: int | None = None
    """The entrant that withdrew, if this is a walkover in a format whose opponents are fixed from the start."""

    @property
    def is_bye(self) -> bool:
        """True if the pairing has a single entrant."""
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
    """Result of each leg, if the pairing has several."""


class BracketPlace(Struct, frozen=True, kw_only=True):
    """The place of a match in a bracket, before its entrants are known."""

    part: str
    """Name of the bracket it belongs to, such as `winners`; empty if there is only one bracket."""
    round: int
    table: str
    slots: tuple[tuple[int, ...] | None, ...]
    """The possible entrants of each slot: one if it is known, or two if one of them will fill it.

    An empty tuple means that nobody fills the slot, and None that the entrant is still open.
    """
    winner: int | None = None
    """The entrant that goes on; None if this is still open."""
    is_optional: bool = False
    """True if the match may turn out to be unnecessary."""
    numbers: tuple[int, int]
    """The least and the greatest number that pairings of this match can have."""


class EntrantField(Struct, frozen=True, kw_only=True):
    """The entrants of a tournament, and the seats of its matches."""

    entrants: tuple[Entrant, ...]
    seats: int
    """Number of seats of a match."""


class Extent(Struct, frozen=True, kw_only=True):
    """The length of a tournament in which nobody withdraws."""

    fewest: int
    """Least number of pairings, without byes."""
    most: int
    """Number of pairings, without byes, if every draw is played again and nothing ends early."""
    rounds: int | None = None
    """Number of rounds; None if the format has none, or if it depends on results."""


class RoundLine(Struct, frozen=True):
    """One round of one entrant."""

    round: int
    group: Group
    """Entrants of the match; a single one had no opponent."""
    points: int
    """Half points: 2 for each beaten opponent, and 1 for each equal one. A bye counts like a win."""
    unplayed: str = ""
    """Letter for a round without a match in FIDE's report file; empty for a match.

    `U` is a bye, `H` a missed round with half a point, and `+` and `-` are the two sides of a walkover.
    """


class PlayedRounds(Struct, frozen=True, kw_only=True):
    """A tournament of two seats up to some round."""

    rounds: int
    """Number of planned rounds."""
    through: int
    """Number of rounds that are over."""
    order: tuple[int, ...]
    """Entrants by starting number."""
    lines: tuple[tuple[RoundLine, ...], ...]
    """Lines of each entrant, by round. A round without a line was missed, without points."""
    away: frozenset[int] = frozenset()
    """Entrants that do not play in the next round."""
    is_white_first: bool = True
    """True if the entrant with starting number 1 has the first seat in round 1."""

    def points(self, entrant: int) -> int:
        """Return the number of an entrant's half points."""
        return sum(line.points for line in self.lines[entrant])

    def results(self, entrant: int) -> "list[LineResult]":
        """Return an entrant's rounds so far, and also the next one if the entrant will miss it."""
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
    """One round of one entrant, as in FIDE's report file."""

    opponent: int
    """Starting number of the opponent; 0 if there was none."""
    colour: str
    """`w` for the first seat, `b` for the second, `-` for none."""
    letter: str


_MISSED = LineResult(0, "-", "Z")


class RoundToPair(Struct, frozen=True, kw_only=True):
    """A round that must be paired outside of the fold, because this takes long or another program does it."""

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
        """Parse and check the options.

        Args:
            raw: name of an option -> plain value. Missing options have their defaults.

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
        """Yield each option that is set but has no effect, with the reason.

        Args:
            raw: the options that the tournament file sets.
            field: a field that the format accepts.
        """
        yield from ()

    def meets_everybody(self, options: Any, field: EntrantField) -> bool:
        """Return whether every two entrants meet equally often if nobody withdraws.

        Args:
            options: the parsed options.
            field: a field that the format accepts.
        """
        return False

    def extent(self, options: Any, field: EntrantField) -> Extent | None:
        """Return the length of a tournament; None if it depends on results.

        Args:
            options: the parsed options.
            field: a field that the format accepts.
        """
        return None

    def count_cancelled_pairings(self, state: S) -> int:
        """Return how many pairings of `extent` will certainly not be played, because entrants withdrew.

        A format that can't know this returns 0.
        """
        return 0

    def later(self, state: S) -> int | None:
        """Return the least number of pairings that will follow after the due ones, without byes; None if unknown."""
        return None

    @abstractmethod
    def new(self, options: Any, field: EntrantField, shuffle: Shuffle) -> S:
        """Return the state before the first match.

        Args:
            options: the parsed options.
            field: the entrants, and the seats of a match.
            shuffle: the only source of random numbers.

        Raises:
            BadFormat: the format can't be played with this field.
        """

    @abstractmethod
    def due(self, state: S) -> tuple[Pairing, ...]:
        """Return the pairings without a result that may be played now, including byes, in the order of their numbers.

        All of them can be played at the same time: no entrant is in two of them, unless it has copies.
        """

    @abstractmethod
    def record(self, state: S, played: PlayedPairing) -> S:
        """Return the state after a result.

        Args:
            state: a state in which the pairing is due.
            played: the result; for a bye, see the function `bye`.

        Raises:
            NotDue: the pairing is not due in this state.
        """

    def first_open(self, state: S, besides: Pairing) -> int | None:
        """Return the smallest number of a pairing without a result that is due or will become due.

        Only formats in which entrants play several matches at a time need this, because failures to start count in the
        order of the pairings' numbers. Other formats return None.

        Args:
            state: the state of a tournament.
            besides: a pairing to leave out.
        """
        return None

    def reopen(self, state: S, pairing: Pairing) -> S:
        """Return the state in which a decided pairing is due again, because one of its entrants is about to withdraw.

        It is called only for formats that implement `first_open`.
        """
        return state

    @abstractmethod
    def withdraw(self, state: S, entrant: int) -> S:
        """Return the state after an entrant withdrew; its pairings are no longer due.

        This cancels its match, if it is playing one. A second withdrawal changes nothing.
        """

    def conclude(self, state: S, played: PlayedPairing, leaving: Iterable[int]) -> S:
        """Return the state after a result, after which some entrants of the pairing withdraw.

        They withdraw before anything else is paired, so it does not matter which match of a round ends last. A format
        whose `record` pairs no new round need not override this.

        Args:
            state: a state in which the pairing is due.
            played: the result; see `record`.
            leaving: entrants of this pairing that withdraw.

        Raises:
            NotDue: the pairing is not due in this state.
        """
        state = self.record(state, played)
        for entrant in leaving:
            state = self.withdraw(state, entrant)
        return state

    def to_pair(self, state: S) -> RoundToPair | None:
        """Return the round that the caller must pair before further pairings become due; None if there is none.

        The caller pairs it with `dutch.pair_round`, and passes the groups to `take_round`.
        """
        return None

    def take_round(self, state: S, groups: tuple[Group, ...]) -> S:
        """Return the state after a round was paired.

        Args:
            state: a state in which a round must be paired.
            groups: entrants by seat of each match; a single one has the bye.

        Raises:
            BadPairing: no round must be paired now, or the groups break a rule.
        """
        raise BadPairing(f"{self.name} pairs its rounds itself")

    def take_printed_round(self, state: S, groups: tuple[Group, ...], output: str) -> S:
        """Return the state after the organiser's pairing program paired a round.

        Args:
            state: a state in which a round must be paired.
            groups: entrants by seat of each match; a single one has the bye.
            output: the program's output.

        Raises:
            BadPairing: no round must be paired now, or not by a program, or the groups break a rule.
        """
        raise BadPairing(f"{self.name} has no program of the organiser's pair its rounds")

    def join(self, state: S, field: EntrantField) -> S:
        """Return the state with another entrant.

        Args:
            state: the state before.
            field: the new field, whose last entrant joins.

        Raises:
            BadRuling: in this format nobody can join, or it is too late.
        """
        raise BadRuling(f"nobody can join a tournament of the format {self.name} that has begun")

    def reinstate(self, state: S, entrant: int) -> S:
        """Return the state in which a withdrawn entrant plays on.

        Raises:
            BadRuling: this format allows no return, or it is too late.
        """
        raise BadRuling(f"who is out of a tournament of the format {self.name} can't come back")

    def count_rounds(self, state: S) -> int:
        """Return the number of paired rounds; 0 if the format gives entrants no match or bye in some rounds."""
        return 0

    def renew(self, state: S, entrant: int) -> S:
        """Return the state with an entrant that has another program from now on."""
        return state

    def revise(self, state: S, old: PlayedPairing | None, new: PlayedPairing | None) -> S:
        """Return the state after a ruling took back the result of a pairing, or gave the pairing a new result.

        Pairings that were made before stay as they are.

        Args:
            state: the state before.
            old: the result to take back; None if it was taken back before.
            new: the new result; None if it will follow later.

        Raises:
            BadRuling: later pairings depend on the result.
        """
        raise BadRuling(f"a result of the format {self.name} can't be changed: later pairings follow from it")

    def is_over(self, state: S) -> bool:
        """Return whether nothing is due, and nothing will become due."""
        return not self.due(state) and self.to_pair(state) is None

    def places(self, state: S) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst if the format itself decides the places; None if points do.

        If points decide, the format must spread byes evenly: among entrants that stay to the end, the numbers of byes,
        without walkovers, differ by at most one.
        """
        return None

    def explain_order(self) -> str:
        """Return a sentence that explains the order of the standings."""
        return "Points decide the places, then the tie-breaks."

    def placing_ratings(self, state: S) -> tuple[float, ...] | None:
        """Return the rating of each entrant that decides its place, on Elo's scale; None if ratings don't decide."""
        return None

    def bracket(self, state: S) -> tuple[BracketPlace, ...] | None:
        """Return the places of the bracket, round by round, and within a round from top to bottom.

        The winners of two neighbours meet in the next round, or each of them meets another entrant.

        Returns:
            The places. Empty if they are not known beforehand: then pages show the matches round by round. None if
            the format eliminates nobody.
        """
        return None

    def check_field(self, field: EntrantField) -> None:
        """Check that a field has enough entrants for a match, and that the format allows its number of seats.

        Raises:
            BadFormat: the format is for other numbers of seats, or there are too few entrants for one match.
        """
        if field.seats not in self.seats:
            raise BadFormat(f"{self.name} is for matches of {seats_text(self.seats)}, not of {field.seats}")
        if len(field.entrants) < field.seats:
            few = counted(len(field.entrants), "entrant is", "entrants are")
            raise BadFormat(f"{few} too few for matches of {field.seats}")


def order_by_seed(field: EntrantField, shuffle: Shuffle) -> tuple[int, ...]:
    """Return the entrants from the best rated to the worst, then the unrated ones; lots decide among equal ones."""
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
    """Return what is left of a pairing of two after withdrawals: a walkover for one entrant; None if both left."""
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
    """Return the half points of a bye: a win for two seats, and the average of a match for more seats.

    Only the pairing uses this. In the standings, the organiser's choice counts: see `points.bye_points`.
    """
    return 2 if seats == 2 else seats - 1
