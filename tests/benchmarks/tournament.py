"""Measures a tournament of many matches: the speed of each part, and whether memory stays bounded.

First, real programs play at 1, 8 and 64 tables. Then nobody plays: results are random, and go through pairing, the
tournament's logic and the standings.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from random import Random
from typing import Any

from referee.tournament import events as e
from referee.tournament.pairing.base import Pairing, PairingFormat, PlayedPairing
from tests.tournament.playing import FORMATS, Troubles, begun, events_of, spec_of, take

KEY = "00" * 32
TABLES = 32
TABLES_PLAYED = (1, 8, 64)
STANDINGS_EVERY = 1000
"""Matches between two standings; a live view asks more often, but not for all tie-breaks."""
TROUBLES = Troubles(void=0.002)
MOST_GROWTH_MIB = 32
"""Growth of the memory that is allowed from a tenth of the matches to all. It may grow with pairs that met, not with
matches."""


def main(arguments: list[str]) -> int:
    """Measure and print; fail if memory grows with the matches."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks tournament", description=__doc__)
    parser.add_argument("--simulated", action="store_true", help="only results drawn by lot, no real programs")
    parser.add_argument("--matches", type=int, default=100_000, help="of each tournament")
    parser.add_argument("--entrants", type=int, default=200)
    options = parser.parse_args(arguments)
    if not options.simulated:
        at_tables()
    bounded = [_is_bounded(name, options.entrants, options.matches) for name in ("ladder", "roundrobin")]
    return 0 if all(bounded) else 1


def at_tables() -> None:
    """Play the same tournament of real programs at 1, 8 and 64 tables, and print the referee's own cost."""
    first_us = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in TABLES_PLAYED:
            command = [sys.executable, "-m", "tests.benchmarks.tables", folder, str(number)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            told = json.loads(done.stdout.splitlines()[-1])
            first_us = first_us or told["us_a_turn"]
            print(
                f"{number:3} tables: {told['per_minute']:6.0f} matches a minute, {told['share']:4.0%} of a core,"
                f" {told['us_a_turn']:6.0f} us a turn of the referee's own, {told['us_a_turn'] / first_us:4.2f} of that"
                f" at {TABLES_PLAYED[0]} table ({told['matches']} matches, {told['turns']} turns)",
                flush=True,
            )


def _is_bounded(name: str, entrants: int, matches: int) -> bool:
    """Run a tournament in a process of its own, to measure its memory alone."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        growth_mib = pool.submit(simulate, name, entrants, matches).result()
    is_bounded = growth_mib <= MOST_GROWTH_MIB
    if not is_bounded:
        print(f"{name}: memory grew by {growth_mib} MiB, more than {MOST_GROWTH_MIB}", file=sys.stderr)
    return is_bounded


class Stopwatch:
    """Adds up the time of each part."""

    def __init__(self) -> None:
        self.spent_s: defaultdict[str, float] = defaultdict(float)
        """Part -> seconds."""

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time of a `with` block to a part."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.spent_s[name] += time.perf_counter() - begun


class TimedFormat(PairingFormat[Any]):
    """A format whose time is measured separately from the tournament's logic around it."""

    def __init__(self, inner: PairingFormat[Any], watch: Stopwatch) -> None:
        self._inner = inner
        self._watch = watch

    def parse_options(self, raw: dict[str, Any]) -> Any:
        """Check options, as the format does."""
        return self._inner.parse_options(raw)

    def new(self, options: Any, field: Any, shuffle: Any) -> Any:
        """Return the format's first state."""
        with self._watch.part("pairing"):
            return self._inner.new(options, field, shuffle)

    def due(self, state: Any) -> tuple[Pairing, ...]:
        """Return the pairings that are due in the format."""
        with self._watch.part("pairing"):
            return self._inner.due(state)

    def record(self, state: Any, played: PlayedPairing) -> Any:
        """Return the format's state after a result."""
        with self._watch.part("pairing"):
            return self._inner.record(state, played)

    def withdraw(self, state: Any, entrant: int) -> Any:
        """Return the format's state without an entrant."""
        return self._inner.withdraw(state, entrant)

    def is_over(self, state: Any) -> bool:
        """Return whether the format is over."""
        return self._inner.is_over(state)

    def places(self, state: Any) -> tuple[tuple[int, ...], ...] | None:
        """Return the format's places."""
        return self._inner.places(state)


def simulate(name: str, entrants: int, matches: int) -> int:
    """Run a tournament, and print its cost.

    Args:
        name: of the format.
        entrants: how many.
        matches: approximate number; a round robin has the number of cycles that comes closest.

    Returns:
        Growth of the memory from a tenth of the matches to all of them, in MiB.
    """
    pairs = entrants * (entrants - 1) // 2
    format_options = {"matches": matches} if name == "ladder" else {"cycles": max(1, round(matches / pairs))}
    spec = spec_of(entrants, name, format_options=format_options, tie_breaks=("direct-encounter", "wins"))
    watch, peaks = Stopwatch(), []
    tournament = begun(spec, TimedFormat(FORMATS[name], watch))
    began, done = time.perf_counter(), 0
    for event in events_of(tournament, Random(1), tables=TABLES, troubles=TROUBLES):
        with watch.part("fold"):
            take(tournament, event)
        if not isinstance(event, e.MatchClosed):
            continue
        done += 1
        if done % STANDINGS_EVERY == 0:
            with watch.part("standings"):
                tournament.standings()
        if done in {matches // 10, matches}:
            peaks.append(_peak_mib())
    peaks.append(_peak_mib())
    watch.spent_s["fold"] -= watch.spent_s["pairing"]
    print(f"{name}, {entrants} entrants: {done} matches in {time.perf_counter() - began:.0f} s")
    for part, spent_s in watch.spent_s.items():
        print(f"  {part:<20} {spent_s:7.1f} s {done / spent_s:9.0f} matches a second")
    print(f"  memory at most: {peaks[0]} MiB after {matches // 10} matches, {peaks[-1]} MiB after all", flush=True)
    return peaks[-1] - peaks[0]


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
