"""`python -m tests.benchmarks ratings [TOURNAMENTS]`: do the 95 % intervals of ratings hold the truth 95 times of 100?

Players of known strength play simulated tournaments, 200 unless told otherwise; each line is one kind of tournament.
"""

import sys
import time
from collections.abc import Iterator

from tests.tournament.simulated import Rater, coverage, elo_by, skill_by

PROMISED = (0.93, 0.97)


def kinds() -> Iterator[tuple[str, Rater, float, bool]]:
    """Yield name, tournament, spread of strengths in Elo, and whether the intervals are promised to hold."""
    for matches, drawn in ((4, 0.0), (10, 0.0), (10, 0.3), (10, 0.6), (40, 0.3)):
        for spread in (100.0, 250.0):
            yield f"Elo, {matches} matches a pair, {drawn:.0%} drawn", elo_by(matches, drawn), spread, True
    for seats in (3, 4, 6):
        for matches in (20, 60, 200):
            for spread in (100.0, 150.0, 300.0):
                yield f"{seats} seats, {matches} matches a player", skill_by(seats, matches), spread, False


def main(arguments: list[str]) -> int:
    """Print a line for each kind of tournament; fail if Elo's intervals break their promise."""
    tournaments = int(arguments[0]) if arguments else 200
    is_kept = True
    for name, rater, spread, is_promised in kinds():
        began = time.perf_counter()
        held, width = coverage(rater, spread, tournaments)
        is_kept &= PROMISED[0] <= held <= PROMISED[1] or not is_promised
        print(
            f"{name:40} spread {spread:3.0f}  held {held:6.1%}  +-{width:4.0f}  {time.perf_counter() - began:5.1f} s",
            flush=True,
        )
    print(
        "Elo's intervals hold the truth 93 to 97 % of the time" if is_kept else "an interval of Elo is off",
        file=sys.stderr,
    )
    return 0 if is_kept else 1
