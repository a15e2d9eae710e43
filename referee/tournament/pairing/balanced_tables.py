"""Balanced tables of several seats: who sits together, and where.

Who sits together is found greedily; `table_search` makes it better. Seats are exact: see `seat_all`.
"""

from collections.abc import Sequence

from .table_search import ExchangeSearch

Table = tuple[int, ...]
"""Entrants by seat."""
Counts = Sequence[Sequence[int]]
"""Entrant -> entrant (or seat) -> how often."""


def fewest(order: Sequence[int], byes: Sequence[int], count: int) -> tuple[int, ...]:
    """Choose who rests: whoever has done so least, of those the last of the order."""
    ranked = sorted(range(len(order)), key=lambda place: (byes[order[place]], -place))
    return tuple(order[place] for place in ranked[:count])


def gather(order: Sequence[int], seats: int, met: Counts) -> list[list[int]]:
    """Put entrants together who have met as little as possible, one after the other.

    Args:
        order: whose turn it is to be served first; a multiple of the seats.
        seats: of one table.
        met: meetings so far.
    """
    free, tables = list(order), []
    while free:
        table = [free.pop(0)]
        strain = [met[table[0]][other] for other in free]
        while len(table) < seats:
            place = strain.index(min(strain))
            chosen = free.pop(place)
            strain.pop(place)
            table.append(chosen)
            strain = [count + met[chosen][other] for count, other in zip(strain, free, strict=True)]
        tables.append(table)
    return tables


def better(tables: list[list[int]], met: Counts, reach: int) -> None:
    """Exchange entrants between near tables of a round as long as that makes fewer repeated meetings.

    Args:
        tables: in their order; they are changed.
        met: meetings so far.
        reach: exchange only between tables that are so near in the order.
    """
    search = ExchangeSearch([tables], [list(row) for row in met], reach)
    while [index for index in range(len(tables)) if search.step(index)]:
        pass


def seat_one(members: Sequence[int], used: Counts) -> Table:
    """Seat one table so that everybody gets seats that it has had least: exchange two as long as that helps.

    Args:
        members: at the table; of equally good seatings, the one nearest to this order is likely.
        used: entrant -> seat -> matches in it so far.
    """
    table = list(members)
    while True:
        best, at = 0, (-1, -1)
        for place in range(len(table)):
            for other_place in range(place + 1, len(table)):
                mine, other = used[table[place]], used[table[other_place]]
                gain = mine[place] + other[other_place] - mine[other_place] - other[place]
                if gain > best:
                    best, at = gain, (place, other_place)
        if not best:
            return tuple(table)
        table[at[0]], table[at[1]] = table[at[1]], table[at[0]]


def seat_all(tables: Sequence[Sequence[int]], seats: int) -> list[Table]:
    """Seat a whole schedule so that for every entrant no two seats differ by more than one match, which always works.

    An entrant's matches are cut into runs of as many as there are seats; with runs on one side and tables on the
    other, a seating is a colouring of the edges, and colours of a bipartite graph need be no more than its largest
    degree, which is the number of seats. So within each run every seat comes once.

    Source: D. Koenig, Ueber Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre (1916); equitable
    colourings by splitting vertices as in D. de Werra, Equitable colorations of graphs (1971).

    Args:
        tables: in the order of play, each of that many entrants.
        seats: of one table.
    """
    matches: dict[int, int] = {}
    runs: dict[tuple[int, int], list[int | None]] = {}
    by_table: list[list[tuple[int, int] | None]] = [[None] * seats for _ in tables]
    for index, table in enumerate(tables):
        for entrant in table:
            played = matches.get(entrant, 0)
            matches[entrant] = played + 1
            run = (entrant, played // seats)
            runs.setdefault(run, [None] * seats)
            _colour(runs, by_table, run, index)
    return [tuple(run[0] for run in seated if run is not None) for seated in by_table]


def _colour(
    runs: dict[tuple[int, int], list[int | None]],
    by_table: list[list[tuple[int, int] | None]],
    run: tuple[int, int],
    index: int,
) -> None:
    """Give a run a seat at a table, moving others along an alternating path if it must."""
    wanted, free = runs[run].index(None), by_table[index].index(None)
    path: list[tuple[tuple[int, int], int]] = []
    at = index
    while (sitting := by_table[at][wanted]) is not None:
        path.append((sitting, at))
        onward = runs[sitting][free]
        if onward is None:
            break
        path.append((sitting, onward))
        at = onward
    _swap_along(runs, by_table, path, (wanted, free))
    runs[run][wanted], by_table[index][wanted] = index, run


def _swap_along(
    runs: dict[tuple[int, int], list[int | None]],
    by_table: list[list[tuple[int, int] | None]],
    path: list[tuple[tuple[int, int], int]],
    colours: tuple[int, int],
) -> None:
    """Exchange two seats on every edge of a path."""
    turned = [(run, at, colours[step % 2], colours[1 - step % 2]) for step, (run, at) in enumerate(path)]
    for run, at, old, _new in turned:
        runs[run][old] = by_table[at][old] = None
    for run, at, _old, new in turned:
        runs[run][new], by_table[at][new] = at, run
