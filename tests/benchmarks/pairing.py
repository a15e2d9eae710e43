"""The time that formats take to pair a long tournament: `record` and `due` must not go through all results."""

import argparse
import resource
import time
from random import Random

from referee.chance import Dealer
from referee.plugins import load
from referee.testing import random_result, with_rounds
from referee.tournament.pairing.base import Entrant, EntrantField

LONG: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("roundrobin", 200, 2, {"cycles": 5}),
    ("gauntlet", 200, 2, {"cycles": 250}),
    ("ladder", 200, 2, {"matches": 100_000}),
    ("swiss", 200, 2, {"rounds": 20}),
    ("doubleelimination", 200, 2, {}),
    ("roundrobin", 200, 4, {}),
    ("ladder", 200, 4, {"matches": 25_000}),
)


def main(arguments: list[str]) -> int:
    """Run each format to its end and print the time."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks pairing", description=__doc__)
    parser.parse_args(arguments)
    for name, count, seats, options in LONG:
        form, source = load().format(name), Random(1)
        field = EntrantField(entrants=tuple(Entrant(name=f"e{number}") for number in range(count)), seats=seats)
        begun, results = time.perf_counter(), 0
        state = with_rounds(form, form.new(form.parse_options(dict(options)), field, Dealer(bytes(32))))
        while due := form.due(state):
            for pairing in due:
                state = with_rounds(form, form.record(state, random_result(pairing, source)))
                results += 1
        took, peak = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{name:18} {count} entrants, {seats} seats: {results:7} results in {took:6.1f} s, {peak} MiB at most")
    return 0
