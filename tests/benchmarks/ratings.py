"""Measures how often the 95 % intervals of ratings contain the true strength; it should be 95 times in 100.

Players of known strength play simulated tournaments; each line is one kind of tournament.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from math import sqrt

from tests.tournament.simulated import SIZE, Rater, coverage, elo_by, skill_by

LEAST, MOST = 0.93, 0.97
"""Bounds for the share of the intervals that contain the truth."""


def kinds() -> Iterator[tuple[str, Rater, float]]:
    """Yield name, tournament, and spread of strengths in Elo."""
    for matches, drawn in ((4, 0.0), (10, 0.0), (10, 0.3), (10, 0.6), (40, 0.3), (40, 0.6), (100, 0.6)):
        for spread in (100.0, 200.0, 400.0, 600.0, 800.0):
            yield f"Elo, {matches} matches a pair, {drawn:.0%} drawn", elo_by(matches, drawn), spread
    for seats in (3, 4, 6):
        for matches in (20, 60, 200):
            for spread in (100.0, 200.0, 400.0, 800.0):
                yield f"{seats} seats, {matches} matches a player", skill_by(seats, matches), spread


def main(arguments: list[str]) -> int:
    """Print a line for each kind of tournament; fail if intervals contain the truth too rarely or too often."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks ratings", description=__doc__)
    parser.add_argument("tournaments", type=int, nargs="?", default=200, help="of each kind")
    tournaments = parser.parse_args(arguments).tournaments
    margin = 2 * sqrt(0.05 * 0.95 / (tournaments * SIZE))  # the measured share has an error of its own
    is_kept = True
    for name, rater, spread in kinds():
        began = time.perf_counter()
        held, width = coverage(rater, spread, tournaments)
        is_kept &= LEAST - margin <= held <= MOST + margin
        print(
            f"{name:40} spread {spread:3.0f}  held {held:6.1%}  +-{width:4.0f}  {time.perf_counter() - began:5.1f} s",
            flush=True,
        )
    print("every kind is within its bounds" if is_kept else "some kind is out of its bounds", file=sys.stderr)
    return 0 if is_kept else 1
