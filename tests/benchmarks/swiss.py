"""How rounds of FIDE's Dutch system are paired: those of TRF files, or of random tournaments, which are checked.

Of each file the pairing of its next round is printed as bbpPairings and JaVaFo print it: the number of tables, then the
starting numbers of White and Black, 0 for a bye. Without a file, random tournaments are played, and it is counted in
how many rounds somebody meets an opponent again, has a second bye, or has the same colour a third time running or three
more of one than of the other; the Dutch system allows the last two in the last round, where one of the two has more
than half of the points.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from referee.chance import SEED_BYTES, Dealer
from referee.pairing import dutch_library
from referee.pairing.balanced_tables import Table
from referee.pairing.base import Entrant, EntrantField, RoundToPair
from referee.pairing.dutch import pair_round
from referee.pairing.swiss import Swiss, course_of
from referee.pairing.swiss_rules import Card, cards_of
from referee.pairing.trf import Person, trf_text
from referee.testing import random_result


def main(arguments: list[str]) -> int:
    """Pair what the files tell, or play random tournaments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks swiss", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="TRF")
    parser.add_argument("--tournaments", type=int, default=300, help="random ones, if there is no file")
    parser.add_argument("--withdrawals", type=float, default=0.003, help="how likely one is before a result")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write a TRF of each random tournament's end")
    given = parser.parse_args(arguments)
    if given.files:
        return max(map(_print_pairing, given.files))
    return _random_tournaments(given.tournaments, given.withdrawals, given.write)


def _print_pairing(path: Path) -> int:
    pairs = dutch_library.pairs_of(dutch_library.read_trf(path.read_text(encoding="utf-8-sig")))
    if pairs is None:
        print(f"{path}: there is no pairing", file=sys.stderr)
        return 1
    print(len(pairs), *(f"{white} {black}" for white, black in pairs), sep="\n")
    return 0


def _random_tournaments(count: int, withdrawals: float, folder: Path | None) -> int:
    found: Counter[str] = Counter()
    took = 0.0
    for seed in range(count):
        begun = time.perf_counter()
        for request, tables, by in _rounds(seed, withdrawals, folder):
            found[by] += 1
            found.update(_breaches(request, tables))
        took += time.perf_counter() - begun
    print(f"{count} random tournaments of 6 to 60 entrants in {took:.1f} s")
    for what, times in sorted(found.items()):
        print(f"{times:6} {what}")
    return 0


def _rounds(seed: int, withdrawals: float, folder: Path | None) -> Iterator[tuple[RoundToPair, Sequence[Table], str]]:
    """Play a random tournament, and yield each round as it was paired."""
    form, source = Swiss(), Random(seed)
    entrants = tuple(
        Entrant(name=f"e{number}", rating=source.gauss(1500, 300)) for number in range(source.randint(6, 60))
    )
    options = form.parse_options({"rounds": min(source.randint(1, 9), len(entrants) // 2)})
    state = form.new(options, EntrantField(entrants=entrants, seats=2), Dealer(source.randbytes(SEED_BYTES)))
    while (request := form.to_pair(state)) is not None:
        tables, by = pair_round(request)
        yield request, tables, by
        state = form.paired(state, tables)
        while due := form.due(state):
            if source.random() < withdrawals:
                state = form.withdraw(state, source.randrange(len(entrants)))
            else:
                state = form.record(state, random_result(due[0], source))
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        people = [Person(entrant.name, entrant.rating) for entrant in entrants]
        (folder / f"{seed}.trf").write_text(trf_text(course_of(state), people, [("012", f"random {seed}")]))


def _breaches(request: RoundToPair, tables: Sequence[Table]) -> Iterator[str]:
    """Yield what a round has that it should not have, or may have only at the end."""
    cards = cards_of(request.course)
    is_last = request.round == request.course.rounds
    for table in tables:
        own = [cards[entrant] for entrant in table]
        if len(table) == 1:
            yield from ["second bye"] * bool(own[0].byes or own[0].walkovers)
            continue
        yield from ["opponent met again"] * (table[0] in own[1].met)
        may_repeat = is_last and any(card.points > request.round - 1 for card in own)
        for seat, card in enumerate(own):
            if _is_third(card, seat):
                yield f"third colour {'of leaders in the last round' if may_repeat else 'against the rules'}"


def _is_third(card: Card, seat: int) -> bool:
    seats = (*card.colours, seat)
    lean = abs(seats.count(0) - seats.count(1))
    return len(seats) > 2 and (len(set(seats[-3:])) == 1 or lean > max(2, abs(card.lean)))
