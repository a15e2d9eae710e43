"""Who meets whom in a round of a Swiss tournament, and what every such round must keep to.

Two seats: a library does it as FIDE's Dutch system has it (see dutch.py). Here is what its rules say of a single pair,
by which every round is checked, and a plain pairing for rounds of which the Dutch system has none. Source: FIDE
Handbook, C.04.3, FIDE (Dutch) system: A.6 of colours, C.1 to C.3, C.6, E.

More seats: tables of neighbours in the ranking, exchanged with near tables where that saves repeated meetings.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from . import balanced_tables
from .balanced_tables import Table
from .matching import Costs, Edge, cheapest_matching
from .trf import PlayedRounds, RoundLine

_FAR = 31
"""Half points between two entrants beyond which more makes no difference."""
_OFTEN = 255
"""Meetings of two entrants beyond which more make no difference."""


class Card(Struct, frozen=True, kw_only=True):
    """What one entrant has had so far, of two seats."""

    number: int
    """Its starting number."""
    points: int
    """In halves."""
    byes: int
    walkovers: int
    colours: tuple[int, ...]
    """The seat in each match."""
    met: Mapping[int, int]
    """Entrant -> matches together."""

    @property
    def lean(self) -> int:
        """More matches in the first seat than in the second."""
        return self.colours.count(0) - self.colours.count(1)

    @property
    def wish(self) -> int | None:
        """The seat that evens the two out, or else the one not had in the last match; None before the first."""
        if self.lean:
            return int(self.lean > 0)
        return 1 - self.colours[-1] if self.colours else None

    @property
    def strength(self) -> int:
        """How strong the wish is: 3 absolute, 2 strong, 1 mild, 0 none."""
        if abs(self.lean) > 1 or (len(self.colours) > 1 and self.colours[-1] == self.colours[-2]):
            return 3
        return 1 + abs(self.lean) if self.colours else 0

    @property
    def rank(self) -> tuple[int, int]:
        """What puts entrants in order, the best first."""
        return -self.points, self.number


def cards_of(course: PlayedRounds) -> dict[int, Card]:
    """Return the cards of those who play in the next round, the best ranked first."""
    cards = {
        entrant: _card(entrant, number, course)
        for number, entrant in enumerate(course.order, start=1)
        if entrant not in course.away
    }
    return dict(sorted(cards.items(), key=lambda entry: entry[1].rank))


def _card(entrant: int, number: int, course: PlayedRounds) -> Card:
    lines = course.lines[entrant]
    matches = [line for line in lines if not line.unplayed]
    return Card(
        number=number,
        points=course.points(entrant),
        byes=sum(line.unplayed == "U" for line in lines),
        walkovers=sum(line.unplayed == "+" for line in lines),
        colours=tuple(line.table.index(entrant) for line in matches),
        met=Counter(other for line in matches for other in line.table if other != entrant),
    )


def pair(course: PlayedRounds) -> list[Table]:
    """Pair the next round plainly, where the Dutch system has no pairing.

    The layers: more byes than others; earlier meetings; more walkovers than others; two that must not have the same
    seat; the difference in score, squared; two that would like the same seat.

    Returns:
        Seats, from the first board; a bye last.
    """
    cards = cards_of(course)
    entrants = [*cards]
    costs = {edge: (*_worst(edge, entrants, cards), *_unlike(edge, entrants, cards)) for edge in _edges(len(entrants))}
    found = [tuple(entrants[place] for place in edge if place < len(entrants)) for edge in _cheapest(entrants, costs)]
    return sorted((_seated(table, cards, course) for table in found), key=len, reverse=True)


def _edges(count: int) -> list[Edge]:
    """Return every two places of a ranking; of an odd number, the place behind the last stands for the bye."""
    return [*combinations(range(count + count % 2), 2)]


def _cheapest(entrants: Sequence[int], costs: Mapping[Edge, Costs]) -> list[Edge]:
    return cheapest_matching(len(entrants) + len(entrants) % 2, costs)


def _worst(edge: Edge, entrants: Sequence[int], cards: Mapping[int, Card]) -> Costs:
    """Return what no round does if it can help it: to give a bye to who has had more than others, and to repeat."""
    high, low = edge
    if low == len(entrants):
        fewest = min(card.byes for card in cards.values())
        return min(cards[entrants[high]].byes - fewest, _OFTEN), 0
    return 0, min(cards[entrants[high]].met.get(entrants[low], 0), _OFTEN)


def _unlike(edge: Edge, entrants: Sequence[int], cards: Mapping[int, Card]) -> Costs:
    high, low = edge
    own = cards[entrants[high]]
    if low == len(entrants):
        fewest = min(card.walkovers for card in cards.values())
        lowest = min(card.points for card in cards.values())
        return min(own.walkovers - fewest, _OFTEN), 0, min(own.points - lowest, _FAR) ** 2, 0
    other = cards[entrants[low]]
    clash = own.wish is not None and own.wish == other.wish
    gap = min(own.points - other.points, _FAR)
    return 0, int(clash and own.strength == other.strength == 3), gap * gap, int(clash)


def _seated(table: Table, cards: Mapping[int, Card], course: PlayedRounds) -> Table:
    """Seat a table: the better ranked entrant's seat decides."""
    if len(table) == 1:
        return table
    high, low = sorted(table, key=lambda entrant: cards[entrant].rank)
    return (low, high) if _seat(cards[high], cards[low], is_white_first=course.is_white_first) else (high, low)


def _seat(high: Card, low: Card, *, is_white_first: bool) -> int:
    """Return the seat of the better ranked of two, by E.1 to E.5."""
    if high.wish is not None and low.wish in (None, 1 - high.wish):
        return high.wish
    if high.wish is None and low.wish is not None:
        return 1 - low.wish
    if high.wish is None:
        return int((high.number % 2 == 1) != is_white_first)
    strong, other = (high.strength, abs(high.lean)), (low.strength, abs(low.lean))
    if high.strength != low.strength or (high.strength == 3 and strong != other):
        return high.wish if strong > other else 1 - high.wish
    for mine, yours in zip(reversed(high.colours), reversed(low.colours), strict=False):
        if mine != yours:
            return yours
    return high.wish


def complaint(tables: Sequence[Table], course: PlayedRounds) -> str | None:
    """Return what is wrong with the pairing of the next round; None if it keeps to the rules that are checked.

    These hold whoever paired it: everybody plays once, nobody has a second bye or meets the same opponent again but
    where there is no other way, seats are as E has them, and of those with equal points no two play below them who
    could have met (C.6).
    """
    cards = cards_of(course)
    if sorted(entrant for table in tables for entrant in table) != sorted(cards):
        return "not everybody who is to play has one table"
    if sorted(map(len, tables), reverse=True) != [2] * (len(cards) // 2) + [1] * (len(cards) % 2):
        return "a table has not two entrants"
    for table in tables:
        if table != _seated(table, cards, course):
            return f"the seats of {table} are the wrong way round"
    if _is_worse_than_need_be(tables, cards):
        return "somebody has a bye or an opponent again, and there is another way"
    return _needless_float(tables, cards)


def _is_worse_than_need_be(tables: Sequence[Table], cards: Mapping[int, Card]) -> bool:
    """Tell whether another pairing repeats fewer byes, or as many and fewer meetings."""
    entrants = [*cards]
    place = {entrant: at for at, entrant in enumerate(entrants)}
    edges = [tuple(sorted(place[entrant] for entrant in table)) for table in tables]
    own = [_worst((edge[0], edge[-1] if len(edge) > 1 else len(entrants)), entrants, cards) for edge in edges]
    if not any(map(any, own)):
        return False
    costs = {edge: _worst(edge, entrants, cards) for edge in _edges(len(entrants))}
    best = [costs[edge] for edge in _cheapest(entrants, costs)]
    return _sums(own) > _sums(best)


def _sums(costs: Sequence[Costs]) -> Costs:
    return tuple(map(sum, zip(*costs, strict=True)))


def _needless_float(tables: Sequence[Table], cards: Mapping[int, Card]) -> str | None:
    """Return who could have met with equal points, the opponents that both have below them meeting each other."""
    floats: dict[int, list[tuple[int, int | None]]] = {}
    for table in tables:
        high, *others = sorted(table, key=lambda entrant: cards[entrant].rank)
        low = others[0] if others else None
        if low is None or cards[low].points < cards[high].points:
            floats.setdefault(cards[high].points, []).append((high, low))
    for same in floats.values():
        for (entrant, below), (opponent, below_opponent) in combinations(same, 2):
            if _may_meet(entrant, opponent, cards) and _may_meet(below, below_opponent, cards):
                return f"entrants {entrant} and {opponent} could have met with equal points"
    return None


def _may_meet(entrant: int | None, opponent: int | None, cards: Mapping[int, Card]) -> bool:
    """Tell whether two may meet whatever the round, or one may have the bye."""
    if entrant is None or opponent is None:
        card = cards[opponent if entrant is None else entrant]  # type: ignore[index]
        return not card.byes and not card.walkovers
    mine, yours = cards[entrant], cards[opponent]
    must_differ = mine.strength == yours.strength == 3
    return opponent not in mine.met and not (must_differ and mine.wish == yours.wish)


def gather(ranked: Sequence[int], seats: int, lines: Sequence[Sequence[RoundLine]], *, is_first: bool) -> list[Table]:
    """Make the tables of a round of more seats.

    Args:
        ranked: those who play, best first.
        seats: of one table.
        lines: by entrant, what it had so far.
        is_first: nobody has played: each table gets its share of strong and of weak ones.

    Returns:
        Seats, from the first board; byes last.
    """
    byes = [sum(line.unplayed == "U" for line in own) for own in lines]
    resting = balanced_tables.fewest(ranked, byes, len(ranked) % seats)
    order = [entrant for entrant in ranked if entrant not in resting]
    count = len(order) // seats
    together = [
        order[place::count] if is_first else order[place * seats : (place + 1) * seats] for place in range(count)
    ]
    met, used = _counts(seats, lines)
    balanced_tables.better(together, met, 2)
    return [*(balanced_tables.seat_one(table, used) for table in together), *((entrant,) for entrant in resting)]


def _counts(seats: int, lines: Sequence[Sequence[RoundLine]]) -> tuple[balanced_tables.Counts, balanced_tables.Counts]:
    """Return entrant -> entrant -> meetings, and entrant -> seat -> matches in it."""
    met, used = [[0] * len(lines) for _ in lines], [[0] * seats for _ in lines]
    for entrant, own in enumerate(lines):
        for line in own:
            if not line.unplayed:
                used[entrant][line.table.index(entrant)] += 1
                for other in line.table:
                    met[entrant][other] += other != entrant
    return met, used
