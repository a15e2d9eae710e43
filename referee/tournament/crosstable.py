"""The crosstable of a tournament: all sums that standings and Elo need, updated with each result.

Its size depends on the number of entrants and of pairs that met, not on the number of matches. It has sums for each
entrant, and wins, draws and losses for each pair. In a match of more than two, each pair of seats counts as one
encounter: the better place wins it, and a shared place is a draw. If both fouled, both have lost. Partners do not meet.
A match that a ruling voided counts only as a round that nobody played.
"""

# Two more tables are needed next to the sums. `_met` counts encounters of entrants, for tie-breaks, with any number of
# seats. `_head_to_heads` counts matches of two programs, for Elo. They differ in two ways. If both players of a match
# fouled, the first table has two losses, and the second has nothing, because this says nothing about strength. If an
# entrant changes its program, it stays one opponent in the first table, but the second one has two programs. There
# `~entrant` stands for the former program: this number is negative, so it is never the index of an entrant.
#
# Points are fractions, not floats: three times a third of a point must be exactly one point, and standings must not
# depend on the order of additions. To compare many fractions is slow, so `scale` converts them into integers of a
# common unit for tie-breaks.

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import NamedTuple

from msgspec import Struct

from .pairing.base import LATE, EntrantField, PlayedPairing
from .points import HALF, ZERO, Scoring, bye_points, first_place, match_points, rank_groups


class HeadToHead(Struct, frozen=True, kw_only=True):
    """Results of one entrant against another."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def played(self) -> int:
        """Number of times that they met."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> Fraction:
        """One for a win and half for a draw, independent of the tournament's scoring."""
        return self.wins + HALF * self.draws

    def plus(self, other: "HeadToHead") -> "HeadToHead":
        """Return the sum of these results and others."""
        return HeadToHead(
            wins=self.wins + other.wins, draws=self.draws + other.draws, losses=self.losses + other.losses
        )


@dataclass(slots=True)
class Sums:
    """The sums of an entrant so far.

    Fractions are summed separately for each denominator, because adding integers is ten times as fast.
    """

    points_by: Counter[int] = dataclass_field(default_factory=Counter)
    """Denominator -> numerator of the points."""
    weighted_by: Counter[int] = dataclass_field(default_factory=Counter)
    """Denominator -> numerator of the sum of points times their round, from which the progressive score follows."""
    differences_by: Counter[int] = dataclass_field(default_factory=Counter)
    """Number of opponents -> sum of the differences to all of them, in the game's points."""
    played: int = 0
    """Number of matches with an opponent."""
    byes: int = 0
    """Number of byes, including late ones."""
    late_byes: int = 0
    """Number of byes for the rounds before the entrant joined."""
    voids: int = 0
    """Number of matches that a ruling voided."""
    back: int = 0
    """Last round that the entrant missed before it came back from a withdrawal; 0 if it never came back."""
    before_back: int = 0
    """Number of its results in rounds up to `back`."""
    wins: int = 0
    """Number of matches in which the entrant was first, alone or with its partners."""
    last_round: int = 0
    has_withdrawn: bool = False

    @property
    def results(self) -> int:
        """Number of its rounds so far: matches, byes and void matches."""
        return self.played + self.byes + self.voids

    @property
    def missed_earlier(self) -> int:
        """Number of rounds that the entrant missed before it came back."""
        return max(self.back - self.before_back, 0)

    @property
    def points(self) -> Fraction:
        """Match points, including those of byes."""
        return _total(self.points_by)

    @property
    def weighted(self) -> Fraction:
        """The sum of each match's points times its round."""
        return _total(self.weighted_by)

    @property
    def score_difference(self) -> Fraction:
        """The game's points minus the mean of the opponents' points, of all matches."""
        return _total(self.differences_by)


class Scale(NamedTuple):
    """The points of all entrants as integers of a common unit."""

    unit: int
    """Number of units in a point."""
    own: Sequence[int]
    adjusted: Sequence[int]
    """Points that count for the opponents' tie-breaks.

    They include a draw for each round since a withdrawal, but nothing for rounds that an entrant missed before it came
    back (FIDE Handbook C.07, March 2026, 16.3).
    """
    draw: int
    """Half the points of a first place, in units."""


class Crosstable:
    """All results of a tournament, added one by one in any order.

    Args:
        field: the entrants, and the seats of a match.
        scoring: points for places.
    """

    def __init__(self, field: EntrantField, scoring: Scoring | None = None) -> None:
        self.field = field
        self.scoring = scoring or Scoring()
        self.rounds = 0
        """Number of the latest round that has a result."""
        self._sums = [Sums() for _ in field.entrants]
        self._most = 0
        """Largest number of results, byes included, that any entrant has."""
        self._scale: Scale | None = None
        self._met: list[defaultdict[int, HeadToHead]] = [defaultdict(HeadToHead) for _ in field.entrants]
        self._walkovers: list[Counter[int]] = [Counter() for _ in field.entrants]
        self._head_to_heads: defaultdict[tuple[int, int], HeadToHead] = defaultdict(HeadToHead)

    def add(self, played: PlayedPairing, former: AbstractSet[int] = frozenset()) -> None:
        """Count a result.

        Args:
            played: the result; its ranking has every seat, or none if the match is void.
            former: entrants that have changed their program after this result.
        """
        self._scale = None
        round_ = played.pairing.round
        self.rounds = max(self.rounds, round_)
        worth = match_points(played, self.scoring, self.field.seats)
        for entrant, points in zip(played.pairing.seats, worth, strict=True):
            sums = self._sums[entrant]
            sums.points_by[points.denominator] += points.numerator
            sums.weighted_by[points.denominator] += points.numerator * round_
            sums.last_round = max(sums.last_round, round_)
            # A match that is replayed by a ruling may bring a late result for a round before the entrant came back.
            sums.before_back += round_ <= sums.back
            sums.voids += not played.ranking
        if not played.ranking:
            pass
        elif played.pairing.is_bye:
            (entrant,) = played.pairing.seats
            self._sums[entrant].byes += 1
            self._sums[entrant].late_byes += played.pairing.table == LATE
            if played.pairing.against is not None:
                self._walkovers[entrant][played.pairing.against] += 1
        else:
            self._add_match(played)
            self._add_head_to_head(played, former)
        self._most = max(self._most, *(self._sums[entrant].results for entrant in played.pairing.seats))

    def withdraw(self, entrant: int) -> None:
        """Note that an entrant plays no more matches. The rounds after its last result count as unplayed."""
        self._scale = None
        self._sums[entrant].has_withdrawn = True

    def reinstate(self, entrant: int, through: int) -> None:
        """Note that an entrant comes back after it had withdrawn.

        Args:
            entrant: the entrant.
            through: number of the last round that it misses; 0 in a format in which not everybody plays every round.
        """
        self._scale = None
        sums = self._sums[entrant]
        sums.has_withdrawn = False
        if through:
            sums.back, sums.before_back = through, sums.results

    def renew(self, entrant: int) -> None:
        """Note that an entrant has another program: its results so far belong to the former one."""
        before, self._head_to_heads = self._head_to_heads, defaultdict(HeadToHead)
        for (program, opponent), pair in before.items():
            key = (~program if program == entrant else program, ~opponent if opponent == entrant else opponent)
            self._head_to_heads[key] = self._head_to_heads[key].plus(pair)

    def join(self, field: EntrantField) -> None:
        """Note that an entrant has joined, as the last one of the field."""
        self._scale, self.field = None, field
        self._sums.append(Sums())
        self._met.append(defaultdict(HeadToHead))
        self._walkovers.append(Counter())

    def sums(self, entrant: int) -> Sums:
        """Return the sums of an entrant; the caller must not change them."""
        return self._sums[entrant]

    def opponents(self, entrant: int) -> Mapping[int, HeadToHead]:
        """Return the results of an entrant against each opponent that it met."""
        return self._met[entrant]

    @property
    def head_to_heads(self) -> Mapping[tuple[int, int], HeadToHead]:
        """Results between any two programs in matches of two, except those in which both fouled.

        `entrant` stands for an entrant's present program, and `~entrant` for all its former programs together.
        """
        return self._head_to_heads

    @property
    def opponents_each(self) -> int:
        """Number of opponents of an entrant in a match."""
        seats = self.field.seats
        return seats - seats // (len(self.scoring.teams) or seats)

    def walkovers(self, entrant: int) -> Counter[int]:
        """Return how many walkovers an entrant got, by the opponent that had withdrawn.

        Byes for other reasons are not counted.
        """
        return self._walkovers[entrant]

    def head_to_head(self, entrant: int, opponent: int) -> HeadToHead:
        """Return the results of an entrant against another; zeros if they never met."""
        return self._met[entrant].get(opponent, HeadToHead())

    def count_missed_rounds(self, entrant: int) -> int:
        """Return the number of rounds that an entrant missed after a withdrawal, whether or not it came back."""
        return self._sums[entrant].missed_earlier + self._missed_at_last(entrant)

    def scale(self) -> Scale:
        """Return the points of all entrants as integers. They are computed once for each state of the table."""
        if self._scale is None:
            points, draw = [sums.points for sums in self._sums], self._first_place * HALF
            unit = lcm(draw.denominator, *(worth.denominator for worth in points))
            scaled, draw_worth = [int(worth * unit) for worth in points], int(draw * unit)
            adjusted = [worth + self._missed_at_last(entrant) * draw_worth for entrant, worth in enumerate(scaled)]
            self._scale = Scale(unit, scaled, adjusted, draw_worth)
        return self._scale

    def bye_share(self, *, is_late: bool = False) -> Fraction:
        """Return the points of a bye, or of a late bye, as a share of the points of a win."""
        return bye_points(self.scoring, self.field.seats, is_late=is_late) / self._first_place

    @property
    def _first_place(self) -> Fraction:
        return first_place(self.scoring, self.field.seats)

    def _missed_at_last(self, entrant: int) -> int:
        """Return how many rounds an entrant has missed since it withdrew; 0 if it takes part.

        An entrant can't have missed more rounds than it has fewer results than the entrant with the most results. This
        bound matters for formats without rounds, which count matches instead.
        """
        sums = self._sums[entrant]
        if not sums.has_withdrawn:
            return 0
        since = self.rounds - max(sums.last_round, sums.back)
        return max(min(since, self._most - sums.results - sums.missed_earlier), 0)

    def _add_match(self, played: PlayedPairing) -> None:
        """Count the parts of a result that need opponents: encounters, wins, and the game's own points."""
        seats, groups = played.pairing.seats, rank_groups(played)
        fouls, sides = set(played.fouls), self.scoring.sides(len(seats))
        if len({sides[seat] for seat in groups[0]}) == 1 and fouls.isdisjoint(groups[0]):
            for seat in groups[0]:
                self._sums[seats[seat]].wins += 1
        place = {seat: index for index, group in enumerate(groups) for seat in group}
        for seat, opponent in combinations(range(len(seats)), 2):
            if sides[seat] == sides[opponent]:
                continue
            level = place[seat] - place[opponent]
            lost = level == 0 and seat in fouls
            self._meet(seats[seat], seats[opponent], level, is_lost=lost)
            self._meet(seats[opponent], seats[seat], -level, is_lost=lost)
        self._add_scores(seats, played.scores, sides)

    def _add_head_to_head(self, played: PlayedPairing, former: AbstractSet[int]) -> None:
        """Count a match of two for the programs that played it."""
        if self.field.seats != 2 or len(played.fouls) == 2:
            return
        (program, first), (opponent, second) = sorted(zip(played.pairing.seats, (0, 1), strict=True))
        place = {seat: index for index, group in enumerate(rank_groups(played)) for seat in group}
        lead = place[second] - place[first]
        key = (~program if program in former else program, ~opponent if opponent in former else opponent)
        result = HeadToHead(wins=int(lead > 0), draws=int(lead == 0), losses=int(lead < 0))
        self._head_to_heads[key] = self._head_to_heads[key].plus(result)

    def _meet(self, entrant: int, opponent: int, level: int, *, is_lost: bool) -> None:
        """Count an encounter for one of its two entrants. A negative level means that it has the better place."""
        met = self._met[entrant][opponent]
        is_drawn = level == 0 and not is_lost
        self._met[entrant][opponent] = HeadToHead(
            wins=met.wins + (level < 0),
            draws=met.draws + is_drawn,
            losses=met.losses + (level > 0 or is_lost),
        )

    def _add_scores(self, seats: Sequence[int], scores: Sequence[int], sides: Sequence[int]) -> None:
        """Add the game's points of each seat less those of each opponent."""
        for entrant, score, side in zip(seats, scores, sides, strict=True):
            others = [other for other, against in zip(scores, sides, strict=True) if against != side]
            sums = self._sums[entrant]
            sums.played += 1
            sums.differences_by[len(others)] += len(others) * score - sum(others)


def _total(numerators: Mapping[int, int]) -> Fraction:
    """Add up fractions given as denominator -> numerator."""
    return sum((Fraction(numerator, denominator) for denominator, numerator in numerators.items()), ZERO)
