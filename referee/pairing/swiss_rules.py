"""Who meets whom in a round of a Swiss tournament.

Two seats: the best of all pairings, weighed in the order of `_costs`. Source: FIDE Handbook C.04.1, basic rules for
Swiss systems, and C.04.3, FIDE (Dutch) system, in spirit: nobody meets twice, nobody has two byes, the lowest has the
bye, equal scores meet, upper half against lower half, seats alternate, nobody floats time and again. What differs:

- The whole round is weighed at once, where the Dutch system goes down bracket by bracket, which was made for arbiters
  with paper. The last bracket's needs can so change the first one's floaters; the rules that count are kept either way.
- Where FIDE forbids, we avoid at any cost: a round is always paired, with a second meeting if there is no other way.
- A bye goes to the lowest of those that had fewest, who can have it without a second meeting.
- Leaders in the last round keep their absolute seats.

More seats: tables of neighbours in the ranking, exchanged with near tables where that saves repeated meetings.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from . import balanced_tables
from .matching import Costs, Edge, cheapest_matching

_FAR = 31
"""Half points between two entrants beyond which more makes no difference."""
_FAR_PLACES = 255
"""Places from the ideal opponent beyond which more makes no difference."""
_BOARDS = 63
"""How much more it weighs if the first board of a score group is off its ideal, at most, than if the last one is."""


class Card(Struct, frozen=True, kw_only=True):
    """What one entrant has had so far."""

    used: tuple[int, ...]
    """Matches by seat."""
    points: int = 0
    """In halves: 2 for each beaten opponent, 1 for each equal one; a bye counts as beating all."""
    byes: int = 0
    walkovers: int = 0
    last: tuple[int, ...] = ()
    """Seats of the last two matches at most, the latest first."""
    floats: tuple[int, ...] = ()
    """Of the last two rounds at most, the latest first: 1 against a lower score or with a bye, -1 against a higher."""

    @property
    def lean(self) -> int:
        """More matches in the first seat than in the second, of two."""
        return self.used[0] - self.used[1]

    @property
    def wish(self) -> int | None:
        """The seat that evens the two out, or else the one not had in the last match; None before the first."""
        if self.lean:
            return int(self.lean > 0)
        return 1 - self.last[0] if self.last else None

    @property
    def is_urgent(self) -> bool:
        """Whether the other seat would be the third running, or two more than of the wished one already."""
        return abs(self.lean) > 1 or (len(self.last) == 2 and self.last[0] == self.last[1] != self.wish)

    def floated(self, direction: int) -> int:
        """Return how much it weighs to float again: 2 if the last round was so, 1 if the one before was.

        Args:
            direction: 1 down, -1 up.
        """
        return sum(weight for weight, float_ in zip((2, 1), self.floats, strict=False) if float_ == direction)

    @property
    def strength(self) -> tuple[int, bool, bool]:
        """What makes one wish stronger than another."""
        return abs(self.lean), self.is_urgent, bool(self.last) and self.last[0] != self.wish


def pair(ranked: Sequence[int], cards: Sequence[Card], met: balanced_tables.Counts) -> list[balanced_tables.Table]:
    """Pair a round of two seats.

    Args:
        ranked: those who play, best first.
        cards: by entrant.
        met: meetings so far.

    Returns:
        Seats, from the first board; a bye last.
    """
    found = cheapest_matching(len(ranked) + len(ranked) % 2, _costs(ranked, cards, met))
    pairs = [(ranked[high], ranked[low]) for high, low in found if low < len(ranked)]
    byes = [(ranked[high],) for high, low in found if low == len(ranked)]
    return [*(_seated(board, one, two, cards) for board, (one, two) in enumerate(pairs)), *byes]


def _costs(ranked: Sequence[int], cards: Sequence[Card], met: balanced_tables.Counts) -> dict[Edge, Costs]:
    """Return by two places of the ranking what their meeting costs; a place behind the last stands for the bye.

    The layers: more byes, or else walkovers, than others; earlier meetings; places between the bye and the last; an
    urgent wish for a seat that is not met; the difference in score, squared; a wish not met; then those of `_places`.
    """
    own = [cards[entrant] for entrant in ranked]
    wishes = [(card.wish, card.is_urgent) for card in own]
    groups = _groups([card.points for card in own])
    costs: dict[Edge, Costs] = {}
    for high, entrant in enumerate(ranked):
        row, points, (wish, is_urgent) = met[entrant], own[high].points, wishes[high]
        for low in range(high + 1, len(ranked)):
            gap = min(points - own[low].points, _FAR)
            clash = wish is not None and wish == wishes[low][0]
            hard = clash and is_urgent and wishes[low][1]
            again = own[high].floated(1) + own[low].floated(-1) if gap else 0
            places = _places(high, low, groups, is_float=gap > 0)
            costs[high, low] = (0, row[ranked[low]], 0, int(hard), gap * gap, int(clash), again, *places)
    if len(ranked) % 2:
        byes, walkovers = min(card.byes for card in own), min(card.walkovers for card in own)
        for high, card in enumerate(own):
            more = 3 * min(card.byes - byes, 3) + min(card.walkovers - walkovers, 2)
            costs[high, len(ranked)] = (more, 0, len(ranked) - 1 - high, *(0,) * 7)
    return costs


def _groups(points: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return for each place of the ranking the first and the last place with its score."""
    first = [points.index(score) for score in points]
    ends = {score: place for place, score in enumerate(points)}
    return first, [ends[score] for score in points]


def _places(high: int, low: int, groups: tuple[list[int], list[int]], *, is_float: bool) -> tuple[int, int, int]:
    """Return what a meeting costs by the places of the two.

    Returns:
        For two scores, the places from the last of the higher and the first of the lower group. For one, how far it is
        from upper half against lower half, place by place; and what that weighs at this board, more at a higher one.
    """
    first, last = groups
    if is_float:
        return min(last[high] - high + low - first[low], 2 * _FAR_PLACES), 0, 0
    size, upper, lower = last[high] - first[high] + 1, high - first[high], low - first[low]
    off = min(abs(lower - upper - size // 2), _FAR_PLACES)
    if not upper < (size + 1) // 2 <= lower:
        off += _FAR_PLACES
    return 0, off, _BOARDS - _BOARDS * upper // size if off else 0


def noted(found: Sequence[balanced_tables.Table], cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return the cards of all entrants with how each floats in a round of two seats.

    Args:
        found: the pairings of the round.
        cards: by entrant, before it.
    """
    floats = dict.fromkeys(range(len(cards)), 0)
    for one, *others in found:
        for other in others:
            gap = cards[one].points - cards[other].points
            floats[one], floats[other] = (gap > 0) - (gap < 0), (gap < 0) - (gap > 0)
        if not others:
            floats[one] = 1
    return tuple(replace(card, floats=(floats[entrant], *card.floats[:1])) for entrant, card in enumerate(cards))


def _seated(board: int, high: int, low: int, cards: Sequence[Card]) -> balanced_tables.Table:
    """Seat two entrants: the stronger wish counts, of two equal ones the higher ranked entrant's."""
    mine, other = cards[high], cards[low]
    seat = board % 2
    if mine.wish is not None and (mine.wish != other.wish or mine.strength >= other.strength):
        seat = mine.wish
    elif other.wish is not None:
        seat = 1 - other.wish
    return (low, high) if seat else (high, low)


def gather(
    ranked: Sequence[int], cards: Sequence[Card], met: balanced_tables.Counts, *, is_first: bool
) -> list[balanced_tables.Table]:
    """Make the tables of a round of more seats.

    Args:
        ranked: those who play, best first.
        cards: by entrant.
        met: meetings so far.
        is_first: nobody has played: each table gets its share of strong and of weak ones.

    Returns:
        Seats, from the first table; byes last.
    """
    seats = len(cards[0].used)
    resting = balanced_tables.fewest(ranked, [card.byes for card in cards], len(ranked) % seats)
    order = [entrant for entrant in ranked if entrant not in resting]
    count = len(order) // seats
    together = [
        order[place::count] if is_first else order[place * seats : (place + 1) * seats] for place in range(count)
    ]
    balanced_tables.better(together, met, 2)
    used = [card.used for card in cards]
    return [*(balanced_tables.seat_one(table, used) for table in together), *((entrant,) for entrant in resting)]
