"""Pairs the rounds of a Swiss with two seats, by a library or by the organiser's program, and checks every round.

The library pairs by FIDE's Dutch system. It takes some hundredths of a second for 60 entrants, and several seconds for
500. It holds the interpreter's lock for most of this time, so the referee calls `pair_round` in a process of its own.
The organiser's program can pair rounds instead; this module writes the file that it reads, and parses its output. If
the Dutch system has no pairing, `pair_plainly` makes one.
"""

# The Dutch system in short: entrants are sorted by points, then by starting number. Those with equal points form a
# bracket. Brackets are paired from the top:
#
#   1. The bracket's upper half meets its lower half: of eight entrants, 1 plays 5, 2 plays 6, and so on.
#   2. Nobody meets an opponent twice (C.1), nobody has a second bye (C.2), and two entrants that must both have the
#      same colour do not meet (C.3). If the pairs break a rule, the lower half is put in another order. If no order
#      helps, entrants of the two halves change places. The rules fix the order of these attempts, and the first one
#      that breaks no rule is taken.
#   3. An entrant that can't be paired floats down into the next bracket, and is paired first there. There should be few
#      floats, and nobody should float twice in a row (C.6, C.9 to C.16).
#   4. Before a bracket is closed, the rest of the field must still have a pairing. This makes the system difficult: a
#      choice at the top can be wrong because of two entrants at the very bottom.
#   5. The lowest entrant that may have a bye gets it (C.5). It counts as a win.
#   6. Seats come last (E). The entrant that has had the first seat less often gets it. If both wish for the same seat,
#      the stronger wish wins, then the round in which their colours last differed decides, then the better rank.
#
# We leave this to a library that was compared with other programs, because point 4 is a matching with weights of very
# many digits. We check its rounds: `complaint` checks rules that are simple to state and to verify. `check_round`
# checks rounds of the organiser's program, but only for the absolute rules, because this program may use another system
# on purpose.
#
# Source: FIDE Handbook, C.04.3, FIDE (Dutch) System. The letters are those of its articles.

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import rustworkx
from msgspec import Struct

from ... import __version__
from ...text import printable
from .base import MOST_PRINTED_CHARS, BadPairing, Group, LineResult, PlayedRounds, RoundToPair

# --- Perfect matchings
#
# The result is exact (J. Edmonds' blossom algorithm). rustworkx is about seventy times as fast as networkx: a complete
# graph of 200 nodes takes 0.3 s.


Edge = tuple[int, int]
Costs = tuple[int, ...]
"""Costs by layer, each at least 0. A smaller cost in an earlier layer outweighs any costs in the later layers."""


def cheapest_matching(nodes: int, costs: Mapping[Edge, Costs]) -> list[Edge]:
    """Pair as many nodes as possible at the least cost. The costs of all pairs are summed layer by layer.

    Args:
        nodes: number of nodes; it must be even.
        costs: costs by edge, all with the same number of layers. The product of the greatest sums of
            all layers must be less than 2**126, because the solver's integers have a sign and are doubled.

    Returns:
        The sorted pairs, in the form of the keys of `costs`.
    """
    widths = [max(layer) * (nodes // 2) + 1 for layer in zip(*costs.values(), strict=True)]
    weighted = [(node, partner, _weight(layers, widths)) for (node, partner), layers in sorted(costs.items())]
    most = max((weight for _, _, weight in weighted), default=0)
    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from([(node, partner, most - weight) for node, partner, weight in weighted])
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((node, partner) if (node, partner) in costs else (partner, node) for node, partner in matching)


def _weight(layers: Costs, widths: list[int]) -> int:
    """Combine the layers into one number."""
    weight = 0
    for cost, width in zip(layers, widths, strict=True):
        weight = weight * width + cost
    return weight


# --- The tournament report file
#
# A tournament of two seats can be written as FIDE's Tournament Report File, which pairing programs and arbiters read.
#
# Sources: FIDE Handbook, C.04 Annex 2, TRF16; its extensions `XXR` and `XXC` as in the manual of JaVaFo.


_NAME_CHARS = 33
_MOST_RATING = 9999


class TrfPlayer(Struct, frozen=True):
    """Data of an entrant in the file, without its results."""

    name: str
    rating: float | None = None


def trf_text(played: PlayedRounds, people: Sequence[TrfPlayer], heads: Sequence[tuple[str, str]]) -> str:
    """Return a tournament as a file.

    Args:
        played: the rounds so far.
        people: name and rating of each entrant.
        heads: code and text of each line that describes the tournament.
    """
    return "".join(f"{line}\n" for line in _lines(played, people, heads))


def _lines(played: PlayedRounds, people: Sequence[TrfPlayer], heads: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (f"{code} {text}" for code, text in heads)
    yield f"XXR {played.rounds}"
    yield f"XXC {'white1' if played.is_white_first else 'black1'}"
    ranked = sorted(played.order, key=lambda entrant: -played.points(entrant))
    places = {entrant: place for place, entrant in enumerate(ranked, start=1)}
    for number, entrant in enumerate(played.order, start=1):
        person, points = people[entrant], played.points(entrant) / 2
        name, rating = person.name[:_NAME_CHARS], _rating(person.rating)
        about = f"001 {number:4}      {name:{_NAME_CHARS}} {rating:>4}{'':27} {points:4.1f} {places[entrant]:4}"
        yield about + "".join(map(_cell, played.results(entrant)))


def _rating(rating: float | None) -> str:
    """Return a rating with up to four digits; empty if it has more digits, or if there is none."""
    return str(round(rating)) if rating is not None and 0 < round(rating) <= _MOST_RATING else ""


def _cell(result: LineResult) -> str:
    opponent = str(result.opponent).rjust(4) if result.opponent else "0000"
    return f"  {opponent} {result.colour} {result.letter}"


# --- The rules
#
# These are the rules for a single pair, with which every round is checked.
#
# Source: FIDE Handbook, C.04.3, FIDE (Dutch) system: A.6 (colours), C.1 to C.3, C.6, E.


_FAR = 31
"""Differences of points, in half points, are capped at this number, so that costs stay small."""
_OFTEN = 255
"""Numbers of meetings, byes and walkovers are capped at this number, so that costs stay small."""


class Card(Struct, frozen=True, kw_only=True):
    """The points, byes, colours and opponents of an entrant so far."""

    number: int
    """Starting number of the entrant."""
    points: int
    """Number of half points."""
    byes: int
    walkovers: int
    colours: tuple[int, ...]
    """The entrant's seat in each match."""
    met: Mapping[int, int]
    """Opponent -> number of matches against it."""

    @property
    def lean(self) -> int:
        """Number of matches in the first seat, less the number in the second."""
        return self.colours.count(0) - self.colours.count(1)

    @property
    def wish(self) -> int | None:
        """The seat that the entrant has had less often or, if they are even, not in its last match; None at first."""
        if self.lean:
            return int(self.lean > 0)
        return 1 - self.colours[-1] if self.colours else None

    @property
    def strength(self) -> int:
        """Strength of the wish: 3 absolute, 2 strong, 1 mild, 0 none."""
        if abs(self.lean) > 1 or (len(self.colours) > 1 and self.colours[-1] == self.colours[-2]):
            return 3
        return 1 + abs(self.lean) if self.colours else 0

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key of entrants, the best first."""
        return -self.points, self.number


def make_cards(played: PlayedRounds) -> dict[int, Card]:
    """Return the cards of the entrants that play in the next round, the best ranked first."""
    cards = {
        entrant: _card(entrant, number, played)
        for number, entrant in enumerate(played.order, start=1)
        if entrant not in played.away
    }
    return dict(sorted(cards.items(), key=lambda entry: entry[1].rank))


def _card(entrant: int, number: int, played: PlayedRounds) -> Card:
    lines = played.lines[entrant]
    matches = [line for line in lines if not line.unplayed]
    return Card(
        number=number,
        points=played.points(entrant),
        byes=sum(line.unplayed == "U" for line in lines),
        walkovers=sum(line.unplayed == "+" for line in lines),
        colours=tuple(line.group.index(entrant) for line in matches),
        met=Counter(other for line in matches for other in line.group if other != entrant),
    )


# The Dutch system has no pairing if its absolute rules can't be kept: with few entrants and many rounds, everybody has
# already met everybody. A tournament of programs goes on nevertheless. So the rules become costs here, in the order of
# their importance.


def pair_plainly(played: PlayedRounds) -> list[Group]:
    """Pair the next round in a simple way, when the Dutch system has no pairing.

    The layers of the costs are: more byes than others; repeated meetings; more walkovers than others; two entrants that
    must both have the same seat; the squared difference of points; two entrants that wish for the same seat.

    Returns:
        Entrants by seat of each group, from the first board; a bye comes last.
    """
    cards = make_cards(played)
    entrants = [*cards]
    costs = {edge: (*_worst(edge, entrants, cards), *_unlike(edge, entrants, cards)) for edge in _edges(len(entrants))}
    pairs = [tuple(entrants[place] for place in edge if place < len(entrants)) for edge in _cheapest(entrants, costs)]
    return sorted((_seat_group(group, cards, played) for group in pairs), key=len, reverse=True)


def _edges(count: int) -> list[Edge]:
    """Return all pairs of places of a ranking. If their number is odd, one more place stands for the bye."""
    return [*combinations(range(count + count % 2), 2)]


def _cheapest(entrants: Sequence[int], costs: Mapping[Edge, Costs]) -> list[Edge]:
    return cheapest_matching(len(entrants) + len(entrants) % 2, costs)


def _worst(edge: Edge, entrants: Sequence[int], cards: Mapping[int, Card]) -> Costs:
    """Return the two costs that a round avoids first.

    They are a bye for an entrant with more byes than others, and a repeated meeting.
    """
    high, low = edge
    if low == len(entrants):
        fewest = min(card.byes for card in cards.values())
        return min(cards[entrants[high]].byes - fewest, _OFTEN), 0
    return 0, min(cards[entrants[high]].met.get(entrants[low], 0), _OFTEN)


def _unlike(edge: Edge, entrants: Sequence[int], cards: Mapping[int, Card]) -> Costs:
    high, low = edge
    card = cards[entrants[high]]
    if low == len(entrants):
        fewest = min(card.walkovers for card in cards.values())
        lowest = min(card.points for card in cards.values())
        return min(card.walkovers - fewest, _OFTEN), 0, min(card.points - lowest, _FAR) ** 2, 0
    other = cards[entrants[low]]
    clash = card.wish is not None and card.wish == other.wish
    gap = min(card.points - other.points, _FAR)
    return 0, int(clash and card.strength == other.strength == 3), gap * gap, int(clash)


def _seat_group(group: Group, cards: Mapping[int, Card], played: PlayedRounds) -> Group:
    """Seat a group by the rules for the better ranked entrant's seat."""
    if len(group) == 1:
        return group
    high, low = sorted(group, key=lambda entrant: cards[entrant].rank)
    return (low, high) if _seat(cards[high], cards[low], is_white_first=played.is_white_first) else (high, low)


def _seat(high: Card, low: Card, *, is_white_first: bool) -> int:
    """Return the seat of the better ranked of two entrants, by the rules E.1 to E.5."""
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


def complaint(groups: Sequence[Group], played: PlayedRounds) -> str | None:
    """Describe what is wrong with the pairing of the next round; return None if no checked rule is broken.

    The checked rules are: everybody plays once. Nobody has a second bye or meets an opponent again, unless this can't
    be avoided. Seats follow E. No two entrants with equal points both play opponents with fewer points if they could
    have met each other (C.6).
    """
    cards = make_cards(played)
    if sorted(entrant for group in groups for entrant in group) != sorted(cards):
        return "not everybody who must play has exactly one table"
    if sorted(map(len, groups), reverse=True) != [2] * (len(cards) // 2) + [1] * (len(cards) % 2):
        return "a table does not have two entrants"
    for group in groups:
        if group != _seat_group(group, cards, played):
            return f"the seats of {group} are the wrong way round"
    if _is_worse_than_need_be(groups, cards):
        return "somebody has a bye or an opponent again, which could be avoided"
    return _needless_float(groups, cards)


def _is_worse_than_need_be(groups: Sequence[Group], cards: Mapping[int, Card]) -> bool:
    """Return whether another pairing repeats fewer byes or, with as many byes, fewer meetings."""
    entrants = [*cards]
    place = {entrant: at for at, entrant in enumerate(entrants)}
    edges = [tuple(sorted(place[entrant] for entrant in group)) for group in groups]
    paid = [_worst((edge[0], edge[-1] if len(edge) > 1 else len(entrants)), entrants, cards) for edge in edges]
    if not any(map(any, paid)):
        return False
    costs = {edge: _worst(edge, entrants, cards) for edge in _edges(len(entrants))}
    best = [costs[edge] for edge in _cheapest(entrants, costs)]
    return _sums(paid) > _sums(best)


def _sums(costs: Sequence[Costs]) -> Costs:
    return tuple(map(sum, zip(*costs, strict=True)))


def _needless_float(groups: Sequence[Group], cards: Mapping[int, Card]) -> str | None:
    """Describe two entrants with equal points that could have met, if their weaker opponents met each other instead."""
    floats: dict[int, list[tuple[int, int | None]]] = {}
    for group in groups:
        high, *others = sorted(group, key=lambda entrant: cards[entrant].rank)
        low = others[0] if others else None
        if low is None or cards[low].points < cards[high].points:
            floats.setdefault(cards[high].points, []).append((high, low))
    for same in floats.values():
        for (entrant, below), (opponent, below_opponent) in combinations(same, 2):
            if _may_meet(entrant, opponent, cards) and _may_meet(below, below_opponent, cards):
                return f"entrants {entrant} and {opponent} could have met with equal points"
    return None


def _may_meet(entrant: int | None, opponent: int | None, cards: Mapping[int, Card]) -> bool:
    """Return whether two entrants may meet; if one of them is None, whether the other may have the bye."""
    if entrant is None or opponent is None:
        card = cards[opponent if entrant is None else entrant]  # type: ignore[index]
        return not card.byes and not card.walkovers
    mine, yours = cards[entrant], cards[opponent]
    must_differ = mine.strength == yours.strength == 3
    return opponent not in mine.met and not (must_differ and mine.wish == yours.wish)


# --- The output of a pairing program
#
# This is the form of the output of the organiser's program, and the rules that its pairing must not break.
#
# bbpPairings and JaVaFo print the number of pairs, then a line for each pair with the starting numbers of White and
# Black, 0 for a bye. The rules are the absolute rules C.1 to C.3 of FIDE's Handbook, C.04.3, in all its versions.


MAY_CHANGE = ("pairing_program", "pairing_limit", "pairing_lines")
"""Options of a format that may change during a tournament: they affect only how its pairing program is called."""
TRF = "{trf}"
"""Placeholder in a command line for the path of the file that the program reads."""
_SHOWN = 60


def read_release(output: str) -> str:
    """Return the line before the pairing in which a program names itself; empty if there is none."""
    first, *rest = output.strip().splitlines() or [""]
    return first.strip() if rest and not first.strip().isdecimal() else ""


def read_output(output: str, played: PlayedRounds) -> tuple[Group, ...]:
    """Return the groups that a program printed.

    Args:
        output: the printed text. A line before the number of pairs may name the program.
        played: the rounds so far.

    Returns:
        Entrants by seat of each group, in the printed order, but a bye comes last.

    Raises:
        BadPairing: the text is no pairing; the error says why.
    """
    if len(output) > MOST_PRINTED_CHARS:
        raise BadPairing(f"its output has more than {MOST_PRINTED_CHARS} characters")
    lines = [line.split() for line in output.strip().splitlines()]
    if read_release(output):
        del lines[0]
    if not lines:
        raise BadPairing("it printed nothing")
    (count, *more), *pairs = lines
    if more or not _is_number(count):
        raise BadPairing(f"it printed no number of tables first, but {_quote(lines[0])}")
    if int(count) != len(pairs):
        raise BadPairing(f"it announced {int(count)} tables, and printed {len(pairs)}")
    groups = [_table(words, played.order) for words in pairs]
    return tuple(sorted(groups, key=len, reverse=True))


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 6


def _quote(words: Sequence[str]) -> str:
    return f'"{printable(" ".join(words)[:_SHOWN])}"'


def _table(words: Sequence[str], order: Sequence[int]) -> Group:
    if len(words) != 2 or not all(map(_is_number, words)):
        raise BadPairing(f"it printed no pair of starting numbers, but {_quote(words)}")
    white, black = map(int, words)
    if not (1 <= white <= len(order) and black <= len(order)):
        raise BadPairing(f"it paired {white} and {black}, and the starting numbers end with {len(order)}")
    return tuple(order[number - 1] for number in (white, black) if number)


def check_round(groups: Sequence[Group], played: PlayedRounds) -> None:
    """Check that a round breaks none of the rules that hold for every pairing of two seats.

    Everybody plays in one group, and at most one group is a bye. Nobody meets an opponent again. Nobody has a second
    bye, or a bye after a walkover. An entrant that must have a colour gets it, except in the last round if one of the
    two has more than half of the possible points.

    Raises:
        BadPairing: a rule is broken; the error names the rule, with starting numbers.
    """
    wrong = next(_breaches(groups, played), None)
    if wrong is not None:
        raise BadPairing(wrong)


def _breaches(groups: Sequence[Group], played: PlayedRounds) -> Iterator[str]:
    cards = make_cards(played)
    number = {entrant: place for place, entrant in enumerate(played.order, start=1)}
    visited = set[int]()
    for entrant in (entrant for group in groups for entrant in group):
        if entrant not in cards:
            yield f"it paired {number[entrant]}, who does not play in this round"
        if entrant in visited:
            yield f"it paired {number[entrant]} twice"
        visited.add(entrant)
    if left := cards.keys() - visited:
        yield f"it did not pair {min(number[entrant] for entrant in left)}"
    byes = [group[0] for group in groups if len(group) == 1]
    if len(byes) > len(cards) % 2:
        yield f"it gave {len(byes)} byes, and {len(cards)} entrants play"
    for entrant in byes:
        if cards[entrant].byes or cards[entrant].walkovers:
            yield f"it gave a bye to {number[entrant]}, who has had one, or a walkover"
    for white, black in (group for group in groups if len(group) == 2):
        if black in cards[white].met:
            yield f"{number[white]} and {number[black]} have met before"
        yield from _refused_colours((cards[white], cards[black]), played)


def _refused_colours(own: tuple[Card, Card], played: PlayedRounds) -> Iterator[str]:
    """Yield the entrants with a colour that they must not have (A.6.a, C.3)."""
    is_last = played.through + 1 == played.rounds
    if is_last and any(card.points > played.through for card in own):
        return
    for seat, card in enumerate(own):
        if card.strength == 3 and card.wish != seat:
            yield f"{card.number} must have {('White', 'Black')[1 - seat]} this time"


# --- Pairing a round


def pair_round(request: RoundToPair) -> tuple[tuple[Group, ...], str]:
    """Pair a round.

    Args:
        request: the result of the format's `to_pair`.

    Returns:
        Entrants by seat of each group, from the first board, with a bye last; and name and version of the library, or
        of the referee if the Dutch system has no pairing.
    """
    from . import dutch_library as library  # noqa: PLC0415  # it takes long to import; most commands pair nothing

    played = request.played
    pairs = library.pair(library.make_trf(played))
    if pairs is None:
        return tuple(pair_plainly(played)), f"referee {__version__}"
    return tuple(tuple(played.order[number - 1] for number in pair if number) for pair in pairs), library.NAME
