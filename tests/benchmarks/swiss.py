"""Pairs rounds of FIDE's Dutch system: of TRF files, or of random tournaments, whose pairings are checked.

For each file, the pairing of its next round is printed in the form of bbpPairings and JaVaFo: the number of tables,
then the starting numbers of White and Black, 0 for a bye. Without a file, random tournaments are played, and rounds
with faults are counted. A fault is a second match of two opponents, a second bye, the same colour three times in a row,
or a difference of three between the colours. The Dutch system allows the last two in the last round, if one of the two
has more than half of the points.

With `--against COMMAND`, another program pairs each of these rounds, too, and the number of equal pairings is printed.
The command must contain `{trf}`, which is replaced by the path of a TRF file, and print the pairing in the same form.
"""

import argparse
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from shutil import which
from tempfile import TemporaryDirectory

from referee.chance import SEED_BYTES, Dealer
from referee.testing import random_result
from referee.tournament.pairing import dutch_library
from referee.tournament.pairing.base import Entrant, EntrantField, Group, PlayedRounds, RoundToPair
from referee.tournament.pairing.dutch import Card, TrfPlayer, make_cards, pair_round, trf_text
from referee.tournament.pairing.swiss import Swiss, make_played_rounds

from ..tournament.pairing.trf_files import read_trf

Pairs = Sequence[tuple[int, int]]
"""Starting numbers of White and Black, 0 for a bye."""


def main(arguments: list[str]) -> int:
    """Pair the next rounds of the files, or play random tournaments."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks swiss", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="TRF")
    parser.add_argument("--tournaments", type=int, default=300, help="random ones, if there is no file")
    parser.add_argument("--withdrawals", type=float, default=0.003, help="how likely one is before a result")
    parser.add_argument("--joins", type=float, default=0.003, help="how likely a late entrant is before a result")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FOLDER",
        help="write a TRF of each random tournament's end, and of each round that the other program pairs differently",
    )
    parser.add_argument("--against", metavar="COMMAND", help="another program, like 'bbpPairings --dutch {trf} -p'")
    given = parser.parse_args(arguments)
    if given.against is not None and ("{trf}" not in given.against or which(shlex.split(given.against)[0]) is None):
        parser.error("--against names a program that is there, and {trf} where it is told the file")
    other = None if given.against is None else OtherProgram(given.against)
    if not given.files:
        _random_tournaments(given, other)
    elif other is None:
        return max(map(_print_pairing, given.files))
    else:
        for path in given.files:
            other.compare(path)
    if other is not None:
        other.print_shares()
    return 0


class OtherProgram:
    """Another program that pairs rounds, and the number of its rounds that are the same."""

    def __init__(self, command: str) -> None:
        self._words = shlex.split(command)
        self._found: Counter[str] = Counter()

    def compare(self, trf: Path) -> bool:
        """Pair the next round of a file with both programs.

        Returns:
            Whether all opponents and colours are the same, or neither program finds a pairing.
        """
        ours, theirs = _pairs_of(trf), self._pairs_of(trf)
        if ours is None or theirs is None:
            same_opponents = is_same = ours is theirs
        else:
            same_opponents = set(map(frozenset, ours)) == set(map(frozenset, theirs))
            is_same = set(ours) == set(theirs)
        self._found.update(rounds=1, opponents=same_opponents, colours=is_same)
        return is_same

    def print_shares(self) -> None:
        """Print how many rounds were the same."""
        rounds, opponents, colours = (self._found[what] for what in ("rounds", "opponents", "colours"))
        print(f"{rounds:6} rounds paired by the other program, too")
        print(f"{opponents:6} of them with the same opponents, {opponents / max(rounds, 1):.2%}")
        print(f"{colours:6} of them with the same opponents and colours, {colours / max(rounds, 1):.2%}")

    def _pairs_of(self, trf: Path) -> Pairs | None:
        """Return the other program's pairs; None if it has none, which is printed with its message."""
        words = [word.replace("{trf}", str(trf)) for word in self._words]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        count, *lines = done.stdout.split("\n")
        if done.returncode or not count.strip().isdecimal():
            print(f"{trf}: the other program has no pairing: {done.stderr.strip()}", file=sys.stderr)
            return None
        pairs = [map(int, line.split()) for line in lines[: int(count)]]
        return [(white, black) for white, black in pairs]


def _pairs_of(path: Path) -> Pairs | None:
    return dutch_library.pair(read_trf(path.read_text(encoding="utf-8-sig")))


def _print_pairing(path: Path) -> int:
    pairs = _pairs_of(path)
    if pairs is None:
        print(f"{path}: there is no pairing", file=sys.stderr)
        return 1
    print(len(pairs), *(f"{white} {black}" for white, black in pairs), sep="\n")
    return 0


def _random_tournaments(given: argparse.Namespace, other: OtherProgram | None) -> None:
    found: Counter[str] = Counter()
    took = 0.0
    for seed in range(given.tournaments):
        begun = time.perf_counter()
        for request, tables, by in _rounds(seed, given):
            found[by] += 1
            found.update(_breaches(request, tables))
            if other is not None:
                _compare_round(other, request.played, f"{seed}-round-{request.round}.trf", given.write)
        took += time.perf_counter() - begun
    print(f"{given.tournaments} random tournaments of 6 to 60 entrants in {took:.1f} s")
    for what, times in sorted(found.items()):
        print(f"{times:6} {what}")


def _compare_round(other: OtherProgram, played: PlayedRounds, name: str, folder: Path | None) -> None:
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / name
        _write_trf(path, played)
        if not other.compare(path) and folder is not None:
            _write_trf(folder / name, played)


def _rounds(seed: int, given: argparse.Namespace) -> Iterator[tuple[RoundToPair, Sequence[Group], str]]:
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
        state = form.take_round(state, tables)
        while due := form.due(state):
            drawn = source.random()
            if drawn < given.withdrawals:
                state = form.withdraw(state, source.randrange(len(entrants)))
            elif drawn < given.withdrawals + given.joins and state.round < state.rounds:
                entrants = (*entrants, Entrant(name=f"e{len(entrants)}"))
                state = form.join(state, EntrantField(entrants=entrants, seats=2))
            else:
                state = form.record(state, random_result(due[0], source))
    if given.write is not None:
        _write_trf(given.write / f"{seed}.trf", make_played_rounds(state))


def _write_trf(path: Path, played: PlayedRounds) -> None:
    people = [TrfPlayer(f"e{entrant}") for entrant in range(len(played.order))]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trf_text(played, people, [("012", path.stem)]))


def _breaches(request: RoundToPair, tables: Sequence[Group]) -> Iterator[str]:
    """Yield the faults of a round, and those that are allowed only at the end."""
    cards = make_cards(request.played)
    is_last = request.round == request.played.rounds
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
