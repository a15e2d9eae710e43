"""Balanced groups for matches of several seats: which entrants sit together, and in which seats.

Groups are made greedily, and then improved by a search that exchanges entrants. This is the social golfer problem, and
few fields have a perfect schedule, so the search stops after a fixed amount of work. Seats are exactly balanced: see
`seat_all`.
"""

from collections.abc import Sequence

from msgspec import Struct

from .base import Group

# --- The search by exchanges
#
# The search looks for groups in which all pairs of entrants meet equally often, or as nearly so as possible.
#
# It makes the best exchange of two entrants between two groups, again and again. If no exchange improves the groups, it
# makes the one that harms least. For some exchanges, it does not move an entrant back to a group that it has left.
# Source: F. Glover, Tabu Search, ORSA Journal on Computing 1 (1989). The search uses no random numbers, so the same
# field always has the same groups.


Rounds = Sequence[Sequence[list[int]]]
"""The groups of each round. The entrants of a group are in any order."""
Met = list[list[int]]
"""Entrant -> entrant -> number of meetings."""
_FORBIDDEN = 3
"""Number of exchanges for which an entrant may not return to a group that it has left.

Up to as many are added, by turns. These numbers gave the best results of those that were tried.
"""

_OVERHEAD = 10
"""Cost of looking at two groups, in numbers of exchanges."""


def count_meetings(met: Met, group: Sequence[int], times: int = 1) -> None:
    """Add the meetings of one group, or subtract them if `times` is -1."""
    for entrant in group:
        row = met[entrant]
        for other in group:
            if entrant != other:
                row[other] += times


class _Exchange(Struct, frozen=True):
    """Two entrants that change places."""

    worth: int
    """Half of the amount that the exchange adds to the sum of squared meetings; negative if it improves the groups."""
    groups: tuple[int, int]
    leaving: tuple[int, int]
    """Entrants that leave the first and the second group."""


class ExchangeSearch:
    """Groups, and the best exchanges between them.

    Args:
        rounds: the groups, which are changed in place.
        met: meetings before these rounds; the meetings in the rounds are added.
        reach: entrants are exchanged only between groups whose indices differ by at most this number.
    """

    def __init__(self, rounds: Rounds, met: Met, reach: int) -> None:
        self.groups = [group for groups in rounds for group in groups]
        self.worth = 0
        """Amount that all exchanges together have added to the sum of squared meetings."""
        self.tried = 0
        self._round = [index for index, groups in enumerate(rounds) for _ in groups]
        self._playing = [{entrant for group in groups for entrant in group} for groups in rounds]
        self._met = met
        self._reach = reach
        self._made = 0
        self._forbidden: dict[tuple[int, int], int] = {}
        """Group and entrant -> number of the exchange up to which the entrant may not return."""
        for group in self.groups:
            count_meetings(met, group)

    def exchange_best(self, index: int, *, is_forced: bool = False) -> bool:
        """Make the best exchange between a group and any other one; return whether one was made.

        Args:
            index: index of the group.
            is_forced: True to make an exchange even if it improves nothing.
        """
        best: _Exchange | None = None
        near = range(max(0, index - self._reach), min(len(self.groups), index + self._reach + 1))
        for other in near:
            if other != index:
                best = self._best(index, other, best)
        if best is None or (best.worth >= 0 and not is_forced):
            return False
        self._make(best)
        return True

    def restore(self, groups: Sequence[list[int]]) -> None:
        """Restore earlier groups."""
        for group, old in zip(self.groups, groups, strict=True):
            count_meetings(self._met, group, -1)
            count_meetings(self._met, old)
            group[:] = old

    def _best(self, index: int, other: int, best: _Exchange | None) -> _Exchange | None:
        """Return the best exchange between two groups, or an earlier best one if it is at least as good."""
        ours, theirs = self.groups[index], self.groups[other]
        leaving, coming = ours, theirs
        if self._round[index] != self._round[other]:
            away, here = self._playing[self._round[other]], self._playing[self._round[index]]
            leaving = [entrant for entrant in ours if entrant not in away]
            coming = [entrant for entrant in theirs if entrant not in here]
            if not leaving or not coming:
                return best
            ours, theirs = [e for e in ours if e not in theirs], [e for e in theirs if e not in ours]
        more = 2 * (len(ours) - 1)
        losses = [self._change(entrant, ours, theirs) for entrant in leaving]
        others = [self._change(entrant, theirs, ours) for entrant in coming]
        least = (
            min(losses)
            + min(others)
            + more
            - 2 * max([self._met[leaver][comer] for leaver in leaving for comer in coming])
        )
        self.tried += len(leaving) * len(coming) + _OVERHEAD
        if best is not None and least >= best.worth:
            return best
        for entrant, loss in zip(leaving, losses, strict=True):
            row = self._met[entrant]
            if self._is_forbidden(other, entrant):
                continue
            for newcomer, change in zip(coming, others, strict=True):
                worth = loss + change + more - 2 * row[newcomer]
                if (best is None or worth < best.worth) and not self._is_forbidden(index, newcomer):
                    best = _Exchange(worth, (index, other), (entrant, newcomer))
        return best

    def _change(self, entrant: int, own: Sequence[int], others: Sequence[int]) -> int:
        """Return how much more often an entrant has met the members of another group than those of its own."""
        row = self._met[entrant]
        return sum([row[other] for other in others]) - sum([row[other] for other in own])

    def _is_forbidden(self, group: int, entrant: int) -> bool:
        return self._forbidden.get((group, entrant), 0) > self._made

    def _make(self, exchange: _Exchange) -> None:
        self._made += 1
        self.worth += 2 * exchange.worth
        for group, old, new in zip(exchange.groups, exchange.leaving, exchange.leaving[::-1], strict=True):
            seats, playing = self.groups[group], self._playing[self._round[group]]
            count_meetings(self._met, seats, -1)
            seats[seats.index(old)] = new
            count_meetings(self._met, seats)
            self._forbidden[group, old] = self._made + _FORBIDDEN + self._made % _FORBIDDEN
            playing.discard(old)
        for group, new in zip(exchange.groups, exchange.leaving[::-1], strict=True):
            self._playing[self._round[group]].add(new)


def balance(rounds: Rounds, met: Met, work: int) -> None:
    """Exchange entrants between groups until all pairs meet as equally as possible, or the limit of work is reached.

    Every entrant plays as often as before. If some entrants rest in each round, it may play in other rounds.

    Args:
        rounds: the groups, which are changed in place.
        met: meetings before these rounds; the meetings in the rounds are added.
        work: largest number of exchanges to try.
    """
    search = ExchangeSearch(rounds, met, sum(map(len, rounds)))
    goal, best = -excess(met), 0
    best_groups = [list(group) for group in search.groups]
    index = quiet = 0
    while best > goal and search.tried < work and quiet <= 2 * len(best_groups):
        quiet = 0 if search.exchange_best(index, is_forced=quiet >= len(best_groups)) else quiet + 1
        index = (index + 1) % len(best_groups)
        if search.worth < best:
            best, best_groups = search.worth, [list(group) for group in search.groups]
    search.restore(best_groups)


def excess(met: Met) -> int:
    """Return by how much the sum of squared meetings of all pairs exceeds its least possible value."""
    counts = [count for entrant, row in enumerate(met) for count in row[:entrant]] or [0]
    each, more = divmod(sum(counts), len(counts))
    return sum([count * count for count in counts]) - len(counts) * each * each - more * (2 * each + 1)


Counts = Sequence[Sequence[int]]
"""Entrant -> entrant (or seat) -> number of times."""


def fewest(order: Sequence[int], byes: Sequence[int], count: int) -> tuple[int, ...]:
    """Choose the entrants that rest: those with the fewest byes so far and, among these, the last of the order."""
    ranked = sorted(range(len(order)), key=lambda place: (byes[order[place]], -place))
    return tuple(order[place] for place in ranked[:count])


def gather(order: Sequence[int], seats: int, met: Counts) -> list[list[int]]:
    """Make groups greedily, one after the other, of entrants that have met each other least.

    Args:
        order: entrants; the first one without a group begins the next one. Their number is a multiple of the seats.
        seats: number of seats of a group.
        met: meetings so far.
    """
    free, groups = list(order), []
    while free:
        group = [free.pop(0)]
        strain = [met[group[0]][other] for other in free]
        while len(group) < seats:
            place = strain.index(min(strain))
            chosen = free.pop(place)
            strain.pop(place)
            group.append(chosen)
            strain = [count + met[chosen][other] for count, other in zip(strain, free, strict=True)]
        groups.append(group)
    return groups


def better(groups: list[list[int]], met: Counts, reach: int) -> None:
    """Exchange entrants between near groups of a round as long as this reduces repeated meetings.

    Args:
        groups: the groups in their order, which are changed in place.
        met: meetings so far.
        reach: entrants are exchanged only between groups whose indices differ by at most this number.
    """
    search = ExchangeSearch([groups], [list(row) for row in met], reach)
    while [index for index in range(len(groups)) if search.exchange_best(index)]:
        pass


# Seats matter if the first player has an advantage. In a round robin all groups are known beforehand, so `seat_all`
# balances them exactly. In other formats the next group depends on results, so `seat_one` balances group by group.


def seat_one(members: Sequence[int], used: Counts) -> Group:
    """Seat one group so that entrants get the seats that they have had least, by exchanges of two as long as they help.

    Args:
        members: entrants of the group, in the order from which the exchanges begin.
        used: entrant -> seat -> number of matches in this seat so far.
    """
    group = list(members)
    while True:
        best, at = 0, (-1, -1)
        for place in range(len(group)):
            for other_place in range(place + 1, len(group)):
                mine, other = used[group[place]], used[group[other_place]]
                gain = mine[place] + other[other_place] - mine[other_place] - other[place]
                if gain > best:
                    best, at = gain, (place, other_place)
        if not best:
            return tuple(group)
        group[at[0]], group[at[1]] = group[at[1]], group[at[0]]


def seat_all(groups: Sequence[Sequence[int]], seats: int) -> list[Group]:
    """Seat a whole schedule so that every entrant has all seats equally often, up to one match. This always works.

    Each entrant's matches are cut into runs, each of as many matches as there are seats. Runs and groups are the two
    sides of a bipartite graph, and a seating is a colouring of its edges. Such a graph needs no more colours than its
    largest degree, which is the number of seats. So each run has every seat exactly once.

    Source: D. Koenig, Ueber Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre (1916); equitable
    colourings by splitting vertices as in D. de Werra, Equitable colorations of graphs (1971).

    Args:
        groups: the groups in the order of play; each has as many entrants as seats.
        seats: number of seats of a group.
    """
    matches: dict[int, int] = {}
    runs: dict[tuple[int, int], list[int | None]] = {}
    by_group: list[list[tuple[int, int] | None]] = [[None] * seats for _ in groups]
    for index, group in enumerate(groups):
        for entrant in group:
            played = matches.get(entrant, 0)
            matches[entrant] = played + 1
            run = (entrant, played // seats)
            runs.setdefault(run, [None] * seats)
            _colour(runs, by_group, run, index)
    return [tuple(run[0] for run in seated if run is not None) for seated in by_group]


def _colour(
    runs: dict[tuple[int, int], list[int | None]],
    by_group: list[list[tuple[int, int] | None]],
    run: tuple[int, int],
    index: int,
) -> None:
    """Give a run a seat in a group. If necessary, exchange the seats of other runs along an alternating path."""
    wanted, free = runs[run].index(None), by_group[index].index(None)
    path: list[tuple[tuple[int, int], int]] = []
    at = index
    while (sitting := by_group[at][wanted]) is not None:
        path.append((sitting, at))
        onward = runs[sitting][free]
        if onward is None:
            break
        path.append((sitting, onward))
        at = onward
    _swap_along(runs, by_group, path, (wanted, free))
    runs[run][wanted], by_group[index][wanted] = index, run


def _swap_along(
    runs: dict[tuple[int, int], list[int | None]],
    by_group: list[list[tuple[int, int] | None]],
    path: list[tuple[tuple[int, int], int]],
    colours: tuple[int, int],
) -> None:
    """Exchange two seats on every edge of a path."""
    turned = [(run, at, colours[index % 2], colours[1 - index % 2]) for index, (run, at) in enumerate(path)]
    for run, at, old, _new in turned:
        runs[run][old] = by_group[at][old] = None
    for run, at, _old, new in turned:
        runs[run][new], by_group[at][new] = at, run
