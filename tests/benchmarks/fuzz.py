"""Sends hostile streams into conversations, in every role and state, without end; stops at a forbidden outcome.

Prints streams a second, their outcomes, and the growth of the process. The seed of a failure repeats it.
"""

import argparse
import time
from pathlib import Path
from random import Random

from ..protocol.fuzzing import Fuzzer

_ROUNDS = 200
"""Number of streams of one seed."""
_MAX_GROWTH_KIB = 32 * 1024


def main(arguments: list[str]) -> int:
    """Fuzz and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0, help="the first one; those that follow count up from it")
    options = parser.parse_args(arguments)
    fuzzer, seed = Fuzzer(Random(options.seed)), options.seed
    begun, idle_kib = time.monotonic(), 0
    while time.monotonic() < begun + options.seconds:
        fuzzer.source.seed(seed)
        try:
            for _ in range(_ROUNDS):
                fuzzer.play()
        except BaseException:
            print(f"seed {seed}:")
            raise
        idle_kib = idle_kib or _size_kib()
        seed += 1
    seconds, grown_kib = time.monotonic() - begun, _size_kib() - idle_kib
    streams = (seed - options.seed) * _ROUNDS
    print(f"{streams} streams in {seconds:.0f} s, {streams / seconds:.0f}/s, seeds {options.seed} to {seed - 1}")
    print("  " + ", ".join(f"{name} {count}" for name, count in fuzzer.counts.most_common()))
    print(f"  no exception but refusals; the process grew by {grown_kib} KiB")
    return int(grown_kib > _MAX_GROWTH_KIB)


def _size_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])
