"""A second computation of points and tie-breaks, from the list of results, without the product's formulas.

Slow and plain: every value is found by walking through all results again.
"""

from collections.abc import Sequence
from fractions import Fraction

from referee.tournament.pairing.base import PlayedPairing

HALF = Fraction(1, 2)


class Naive:
    """A tournament with the default scoring.

    Args:
        size: how many entrants there are.
        seats: of a match.
        results: in any order.
        gone: entrants that have withdrawn.
    """

    def __init__(self, size: int, seats: int, results: Sequence[PlayedPairing], gone: Sequence[int]) -> None:
        self.results = [played for played in results if played.ranking]
        self.voids = [played for played in results if not played.ranking]
        self.size, self.seats, self.gone = size, seats, gone
        self.bye = Fraction(1) if seats == 2 else HALF
        self.rounds = max((played.pairing.round for played in results), default=0)

    def of(self, entrant: int) -> list[PlayedPairing]:
        """Return an entrant's results."""
        return [played for played in self.results if entrant in played.pairing.seats]

    def versus(self, entrant: int, played: PlayedPairing) -> list[tuple[int, Fraction]]:
        """Return each opponent of a match, and the result against it: 1, 1/2 or 0."""
        me = played.pairing.seats.index(entrant)
        rank = {seat: number for number, group in enumerate(played.ranking) for seat in group}
        found = []
        for seat, opponent in enumerate(played.pairing.seats):
            if seat == me:
                continue
            if me in played.fouls or seat in played.fouls:
                share = Fraction(me not in played.fouls)
            else:
                share = HALF if rank[me] == rank[seat] else Fraction(rank[me] < rank[seat])
            found.append((opponent, share))
        return found

    def points_of(self, entrant: int, played: PlayedPairing) -> Fraction:
        """Return what a match brought."""
        if len(played.pairing.seats) == 1:
            return self.bye
        if played.pairing.seats.index(entrant) in played.fouls:
            return Fraction(0)
        shares = [share for _, share in self.versus(entrant, played)]
        return sum(shares, Fraction(0)) / len(shares)

    def points(self, entrant: int) -> Fraction:
        """Return what all matches brought."""
        return sum((self.points_of(entrant, played) for played in self.of(entrant)), Fraction(0))

    def missed(self, entrant: int) -> int:
        """Return the number of rounds after an entrant's last one, if it withdrew."""
        if entrant not in self.gone:
            return 0
        had = [played for played in (*self.results, *self.voids) if entrant in played.pairing.seats]
        last = max((played.pairing.round for played in had), default=0)
        counts = [len(self.of(other)) + len(self.void_of(other)) for other in range(self.size)]
        fewer = max(counts) - len(had)
        return len([number for number in range(1, self.rounds + 1) if number > last][:fewer])

    def void_of(self, entrant: int) -> list[PlayedPairing]:
        """Return an entrant's matches that count for nobody."""
        return [played for played in self.voids if entrant in played.pairing.seats]

    def for_others(self, entrant: int) -> Fraction:
        """Return an entrant's points as its opponents' tie-breaks see them."""
        return self.points(entrant) + HALF * self.missed(entrant)

    def virtual(self, entrant: int) -> Fraction:
        """Return the points of the virtual opponent."""
        return min(self.points(entrant), HALF * self.rounds)

    def contributions(self, entrant: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return the contributions to Buchholz of played matches and byes, and of missed rounds."""
        kept = [self.virtual(entrant)] * (len(self.void_of(entrant)) * (self.seats - 1))
        for played in self.of(entrant):
            if len(played.pairing.seats) == 1:
                kept += [self.virtual(entrant)] * (self.seats - 1)
            kept += [self.for_others(opponent) for opponent, _ in self.versus(entrant, played)]
        return kept, [self.virtual(entrant)] * (self.missed(entrant) * (self.seats - 1))

    def buchholz(self, entrant: int) -> Fraction:
        """Return the sum of all contributions."""
        kept, missed = self.contributions(entrant)
        return sum(kept + missed, Fraction(0))

    def buchholz_cut_1(self, entrant: int) -> Fraction:
        """Return the sum without the least, or without a missed round."""
        kept, missed = self.contributions(entrant)
        return sum(kept + missed[1:] if missed else sorted(kept)[1:], Fraction(0))

    def median_buchholz(self, entrant: int) -> Fraction:
        """Return the sum without the least, or a missed round, and then without the greatest."""
        kept, missed = self.contributions(entrant)
        return sum(sorted(kept + missed[1:] if missed else sorted(kept)[1:])[:-1], Fraction(0))

    def sonneborn_berger(self, entrant: int) -> Fraction:
        """Return the sum of opponents' points, each times the result against it."""
        total = Fraction(0)
        for played in self.of(entrant):
            if len(played.pairing.seats) == 1:
                total += self.bye * self.virtual(entrant) * (self.seats - 1)
            total += sum(share * self.for_others(opponent) for opponent, share in self.versus(entrant, played))
        return total

    def wins(self, entrant: int) -> Fraction:
        """Return how often an entrant was better than everybody else at the table."""
        matches = [self.versus(entrant, played) for played in self.of(entrant) if len(played.pairing.seats) > 1]
        return Fraction(sum(all(share == 1 for _, share in versus) for versus in matches))

    def score_difference(self, entrant: int) -> Fraction:
        """Return own scores less the mean of the others'."""
        total = Fraction(0)
        for played in self.of(entrant):
            me = played.pairing.seats.index(entrant)
            others = [score for seat, score in enumerate(played.scores) if seat != me]
            total += played.scores[me] - Fraction(sum(others), len(others)) if others else 0
        return total

    def progressive(self, entrant: int) -> Fraction:
        """Return the sum of the points after each round."""
        after = Fraction(0)
        total = Fraction(0)
        for round_ in range(1, self.rounds + 1):
            for played in self.of(entrant):
                if played.pairing.round == round_:
                    after += self.points_of(entrant, played)
            total += after
        return total
