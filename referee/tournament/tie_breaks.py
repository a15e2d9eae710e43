"""The tie-breaks under their standard names. Each gives tied entrants a number, and the greater number is better.

In a match of more than two, every opponent counts like the opponent in a match of two. Buchholz adds up the points of
all of them. Sonneborn-Berger adds up the points of those with a worse place, and half the points of those with the same
place. A cut removes one opponent, not one match.

Source: FIDE Handbook C.07, Play-Off and Tie-Break Regulations (March 2026), articles 6 to 9, 14 and 16. Differences:
- `buchholz.foul` A foul is a lost match, not an unplayed round (16.2.2, 16.2.4), because the programs did meet.
- `buchholz.bye` A bye counts as a match against a virtual opponent. This opponent has the entrant's own points, but at
  most half a first place for each round (16.4). With more seats, there are as many virtual opponents as a match has
  real ones. Sonneborn-Berger takes the same share of their points as a bye has of a first place. If an entrant joined
  late, the rounds that it missed are such byes, and they are cut first (16.5).
- `walkover` If the format fixes all opponents at the start (round robins and gauntlets of two seats), a walkover counts
  as a win against the entrant that withdrew, in every tie-break, and not against a virtual opponent. So entrants that
  had met it before are not worse off.
- `buchholz.withdrawn` After a withdrawal, each missed round counts half a first place for the tie-breaks of the
  opponents (16.3.2). For the entrant itself it is a loss against the virtual opponent, and is cut first (16.5). If an
  entrant comes back, the missed rounds count as lost for its opponents, too (16.3.1). An entrant can't miss rounds in
  any other way. FIDE's rule is for Swiss tournaments; here all of it except 16.3.1 holds for every format.
- `buchholz.void` A match that a ruling voided counts for both entrants as a loss against the virtual opponent (16.4).
  It was nobody's choice, so it is not cut first.
- `buchholz.rounds` Only the rounds that have been played so far count, so that there are standings before the end.
- `direct.missing` If a pair has met less often than other pairs, encounters are missing (6.2). This holds even if all
  pairs should have met equally often.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from .crosstable import Crosstable
from .points import ZERO

Values = Mapping[int, Fraction]


class TieBreak(NamedTuple):
    """A tie-break as tournament files name it."""

    measure: Callable[[Crosstable, Sequence[int]], Values]
    """Function that returns a number for each of some tied entrants; a greater number is better."""
    meaning: str
    """Description of the number."""


Contributions = Counter[int]
"""Points of opponents, in units of the table's scale -> number of meetings with opponents that have so many points."""


def buchholz(table: Crosstable, entrant: int) -> Fraction:
    """Return the sum of the opponents' points."""
    return _total(table, _contributions(table, entrant))


def buchholz_cut_1(table: Crosstable, entrant: int) -> Fraction:
    """Return Buchholz without the weakest opponent."""
    return _total(table, _cut_1(table, entrant))


def median_buchholz(table: Crosstable, entrant: int) -> Fraction:
    """Return Buchholz without the weakest and the strongest opponent; 0 if there are fewer than three opponents."""
    left = _cut_1(table, entrant)
    if left:
        left[max(left)] -= 1
    return _total(table, left)


def sonneborn_berger(table: Crosstable, entrant: int) -> Fraction:
    """Return the points of all beaten opponents, and half the points of opponents with a draw."""
    adjusted = table.scale().adjusted
    met = table.opponents(entrant).items()
    doubled = sum((2 * versus.wins + versus.draws) * adjusted[opponent] for opponent, versus in met)
    late = _virtual(table, entrant) * table.sums(entrant).late_byes * table.opponents_each
    byes = sum(points * times for points, times in _byes(table, entrant).items()) - late
    shares = table.bye_share() * byes + table.bye_share(is_late=True) * late
    return (Fraction(doubled, 2) + shares) / table.scale().unit


def progressive(table: Crosstable, entrant: int) -> Fraction:
    """Return the sum of an entrant's points after each round.

    The points of round r are part of the sums after rounds r, r + 1, ... up to the last: rounds + 1 - r times.
    """
    sums = table.sums(entrant)
    return (table.rounds + 1) * sums.points - sums.weighted


def wins(table: Crosstable, entrant: int) -> Fraction:
    """Return how many matches an entrant won; byes don't count."""
    return Fraction(table.sums(entrant).wins)


def score_difference(table: Crosstable, entrant: int) -> Fraction:
    """Return the game's points of an entrant, minus the mean of its opponents' points, summed over all matches."""
    return table.sums(entrant).score_difference


def direct_encounter(table: Crosstable, tied: Sequence[int]) -> Values:
    """Order tied entrants by their encounters with each other, as far as missing encounters can't change the order.

    The tied entrants are sorted by their points against each other. The list is cut wherever even the last entrant
    before the cut has more points than any entrant after it could reach by winning all its missing encounters.
    Entrants between two cuts stay tied, and are not compared again by themselves.

    Returns:
        Entrant -> how many of the tied entrants are behind it.
    """
    group = set(tied)
    met = {
        entrant: [versus for other, versus in table.opponents(entrant).items() if other in group] for entrant in tied
    }
    most = max((versus.played for entrant in tied for versus in met[entrant]), default=0)
    sure = {entrant: sum((versus.points for versus in met[entrant]), ZERO) for entrant in tied}
    missing = {entrant: most * (len(tied) - 1) - sum(versus.played for versus in met[entrant]) for entrant in tied}
    order = sorted(tied, key=lambda entrant: -sure[entrant])
    ahead_of, count = {}, 0
    for index in range(len(order) - 1, -1, -1):
        behind = order[index + 1 :]
        if behind and sure[order[index]] > max(sure[entrant] + missing[entrant] for entrant in behind):
            count = len(behind)
        ahead_of[order[index]] = Fraction(count)
    return ahead_of


def _contributions(table: Crosstable, entrant: int) -> Contributions:
    """Return the points of all opponents, real and virtual."""
    adjusted = table.scale().adjusted
    contributions = _byes(table, entrant)
    for opponent, versus in table.opponents(entrant).items():
        contributions[adjusted[opponent]] += versus.played
    unplayed = table.count_missed_rounds(entrant) + table.sums(entrant).voids
    contributions[_virtual(table, entrant)] += unplayed * table.opponents_each
    return +contributions


def _byes(table: Crosstable, entrant: int) -> Contributions:
    """Return the points of the real or virtual opponents that stand for an entrant's byes."""
    walkovers = table.walkovers(entrant)
    contributions: Contributions = Counter()
    for opponent, times in walkovers.items():
        contributions[table.scale().adjusted[opponent]] += times
    contributions[_virtual(table, entrant)] += (table.sums(entrant).byes - walkovers.total()) * table.opponents_each
    return contributions


def _cut_1(table: Crosstable, entrant: int) -> Contributions:
    """Return the contributions without one: an unplayed round by the entrant's choice or, without one, the lowest."""
    contributions = _contributions(table, entrant)
    is_by_choice = table.count_missed_rounds(entrant) or table.sums(entrant).late_byes
    if contributions:
        contributions[_virtual(table, entrant) if is_by_choice else min(contributions)] -= 1
    return +contributions


def _virtual(table: Crosstable, entrant: int) -> int:
    """Return the points of the virtual opponent of an entrant's unplayed rounds (`buchholz.bye`)."""
    scale = table.scale()
    return min(scale.own[entrant], scale.draw * table.rounds)


def _total(table: Crosstable, contributions: Contributions) -> Fraction:
    return Fraction(sum(points * times for points, times in contributions.items()), table.scale().unit)


def _measure_alone(value: Callable[[Crosstable, int], Fraction], meaning: str) -> TieBreak:
    """Make a tie-break from a number that does not depend on the other tied entrants."""
    return TieBreak(lambda table, tied: {entrant: value(table, entrant) for entrant in tied}, meaning)


TIE_BREAKS: Mapping[str, TieBreak] = {
    "buchholz": _measure_alone(buchholz, "the points of all opponents together."),
    "buchholz-cut-1": _measure_alone(buchholz_cut_1, "the opponents' points without the weakest one's."),
    "median-buchholz": _measure_alone(
        median_buchholz, "the opponents' points without the weakest and the strongest one's."
    ),
    "sonneborn-berger": _measure_alone(
        sonneborn_berger, "the points of beaten opponents, and half of those of opponents that drew."
    ),
    "direct-encounter": TieBreak(direct_encounter, "the matches between those with equal points."),
    "wins": _measure_alone(wins, "matches won alone."),
    "score-difference": _measure_alone(score_difference, "the game's points minus the mean of the opponents' points."),
    "progressive": _measure_alone(progressive, "the points after each round, added up."),
}
"""Name -> tie-break. If everybody meets everybody, Buchholz is the same for all tied entrants (article 8)."""
