"""The tie-breaks under their standard names, each as a number that orders the tied.

In matches of more than two, every opponent at the table counts like one in a match of two: Buchholz adds up all of
them, Sonneborn-Berger those placed behind, and half of those who share the place. One opponent is cut, not one match.

Source: FIDE Handbook C.07, Play-Off and Tie-Break Regulations (March 2026), articles 6 to 9, 14 and 16. What differs:
- `buchholz.foul` A foul is a match lost at the table, not an unplayed round (16.2.2, 16.2.4): the programs did meet.
- `buchholz.bye` A bye counts as a match against a virtual opponent with the entrant's own points, though at most half a
  first place for each round (16.4); in a format of more seats, as many virtual opponents as a match has real ones.
  Sonneborn-Berger takes as much of them as a bye is worth of a first place. Rounds that somebody missed who joined late
  are such byes, and the first to be cut (16.5).
- `walkover` Where everybody's opponents are settled from the start, in round robins and gauntlets of two seats, a
  walkover counts as the same result against the one who withdrew, in every tie-break, not as one against a virtual
  opponent: who had met it before is not to be worse off.
- `buchholz.withdrawn` Rounds after a withdrawal count half a first place each where the opponents' tie-breaks ask for
  the points (16.3.2), are lost against the virtual opponent, and are the first to be cut (16.5). Somebody who came
  back has lost those in between for its opponents, too (16.3.1). There are no other rounds that one may sit out. The
  rule is for Swiss tournaments; here it holds for every format, but for those in between.
- `buchholz.void` A match that a ruling made void counts for both as one lost against the virtual opponent (16.4). It
  was nobody's choice, so that it is not the first to be cut.
- `buchholz.rounds` Rounds are those that have been played so far, so that there are standings before the end.
- `direct.missing` Pairs that met less often than others lack encounters (6.2); also where all should have met equally
  often.
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
    """Returns, for entrants that are tied in a table, a number for each; more is better."""
    meaning: str
    """What the number is, in words."""


Contributions = Counter[int]
"""Points of an opponent, in units of the table's scale -> number of meetings with opponents that have them."""


def buchholz(table: Crosstable, entrant: int) -> Fraction:
    """Return the sum of the opponents' points."""
    return _total(table, _contributions(table, entrant))


def buchholz_cut_1(table: Crosstable, entrant: int) -> Fraction:
    """Return Buchholz without the weakest opponent."""
    return _total(table, _cut_1(table, entrant))


def median_buchholz(table: Crosstable, entrant: int) -> Fraction:
    """Return Buchholz without the weakest and the strongest opponent; 0 with fewer than three."""
    left = _cut_1(table, entrant)
    if left:
        left[max(left)] -= 1
    return _total(table, left)


def sonneborn_berger(table: Crosstable, entrant: int) -> Fraction:
    """Return the points of the opponents beaten and half of those drawn with."""
    adjusted = table.scale().adjusted
    met = table.opponents(entrant).items()
    doubled = sum((2 * versus.wins + versus.draws) * adjusted[opponent] for opponent, versus in met)
    late = _virtual(table, entrant) * table.sums(entrant).late_byes * table.opponents_each
    byes = sum(points * times for points, times in _byes(table, entrant).items()) - late
    shares = table.bye_share() * byes + table.bye_share(is_late=True) * late
    return (Fraction(doubled, 2) + shares) / table.scale().unit


def progressive(table: Crosstable, entrant: int) -> Fraction:
    """Return the sum of an entrant's points after each round.

    Points of round r are in the sums after rounds r, r + 1, ... up to the last: as often as rounds + 1 - r.
    """
    sums = table.sums(entrant)
    return (table.rounds + 1) * sums.points - sums.weighted


def wins(table: Crosstable, entrant: int) -> Fraction:
    """Return how many matches an entrant won alone; a bye is none."""
    return Fraction(table.sums(entrant).wins)


def score_difference(table: Crosstable, entrant: int) -> Fraction:
    """Return the game's points of all matches, minus the mean of the opponents' points in each."""
    return table.sums(entrant).score_difference


def direct_encounter(table: Crosstable, tied: Sequence[int]) -> Values:
    """Order tied entrants by their encounters, as far as missing ones could not change the order.

    An entrant is ahead of others only together with everybody who has more points among the tied, if the least of
    them all would still have more than any of the others could have reached by winning what is missing. What stays
    level is not looked at again on its own.

    Returns:
        Entrant -> how many of the tied it is ahead of.
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
    """Return the points of the opponents that an entrant would have met but for its byes."""
    walkovers = table.walkovers(entrant)
    contributions: Contributions = Counter()
    for opponent, times in walkovers.items():
        contributions[table.scale().adjusted[opponent]] += times
    contributions[_virtual(table, entrant)] += (table.sums(entrant).byes - walkovers.total()) * table.opponents_each
    return contributions


def _cut_1(table: Crosstable, entrant: int) -> Contributions:
    """Return the contributions without the first to go: an unplayed round by own choice, or else the lowest."""
    contributions = _contributions(table, entrant)
    is_by_choice = table.count_missed_rounds(entrant) or table.sums(entrant).late_byes
    if contributions:
        contributions[_virtual(table, entrant) if is_by_choice else min(contributions)] -= 1
    return +contributions


def _virtual(table: Crosstable, entrant: int) -> int:
    """Return the points of the opponent that an entrant would have met in an unplayed round (`buchholz.bye`)."""
    scale = table.scale()
    return min(scale.own[entrant], scale.draw * table.rounds)


def _total(table: Crosstable, contributions: Contributions) -> Fraction:
    return Fraction(sum(points * times for points, times in contributions.items()), table.scale().unit)


def _measure_alone(value: Callable[[Crosstable, int], Fraction], meaning: str) -> TieBreak:
    """Make a tie-break of a number that does not depend on who else is tied."""
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
"""Name -> tie-break. Buchholz is for formats in which not everybody meets everybody: elsewhere it tells nothing (8)."""
