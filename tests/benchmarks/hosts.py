"""Kills, freezes and cuts off the hosts of a tournament: in the end, nothing is lost, doubled or changed.

Plays a Swiss tournament undisturbed on this machine, and then the same one on hosts with networks of their own. There,
it kills worker processes, the process that speaks to Dask, the scheduler and the tournament's own process, and it
freezes and cuts off hosts. Then it compares results and standings, and audits both. It needs root rights, for the
networks.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.hosts import KEEPER, SCHEDULER_HOST, can_make_networks, farm
from tests.cluster.troubles import Endured, Trouble, results, voided

TOML = """\
name = "cup"
game = "q"
seed = 11
tables = {tables}
sandbox = "off"
{entrants}
[format]
name = "swiss"
rounds = {rounds}
"""
PLAYERS = ("dag", "ldasg")
"""House players that play the same in each run."""
HOST_KILLS, DISPATCHER_KILLS, KEEPER_KILLS, SCHEDULER_KILLS = 9, 3, 2, 1
CUTS, FREEZES = 3, 1


def main(arguments: list[str]) -> int:
    """Run both tournaments and print how they compare.

    Returns:
        0 if both have the same results and every record passes the audit.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks hosts", description=__doc__)
    parser.add_argument("--entrants", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    chosen = parser.parse_args(arguments)
    if not can_make_networks():
        print("this machine lets nobody make networks", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calm, wild = (prepared(folder / kind, chosen) for kind in ("calm", "wild"))
        begun = time.monotonic()
        referee("tournament", str(calm), "--json", cwd=calm.parent).check_returncode()
        print(f"undisturbed: {time.monotonic() - begun:.0f} s", flush=True)
        begun = time.monotonic()
        with farm(folder, [1] * chosen.hosts) as found:
            endured = Endured(found, wild, lambda text: print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True))
            endured.run(troubles(chosen))
        print(f"disturbed: {time.monotonic() - begun:.0f} s")
        return report(record_of(calm), endured.record)


def prepared(folder: Path, chosen: argparse.Namespace) -> Path:
    """Write the file of a tournament into a folder of its own, and return its path."""
    folder.mkdir()
    numbers = range(chosen.entrants)
    entrants = "".join(f'[[entrants]]\nname = "p{n}"\nplayer = "house:{PLAYERS[n % 2]}"\n' for n in numbers)
    path = folder / "cup.toml"
    path.write_text(TOML.format(tables=2 * chosen.hosts, entrants=entrants, rounds=chosen.rounds))
    return path


def referee(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[bytes]":
    """Run a command to its end."""
    return subprocess.run([sys.executable, "-m", "referee", *arguments], cwd=cwd, check=False, capture_output=True)


def record_of(file: Path) -> Path:
    """Return the record of a tournament."""
    return file.parent / "logs" / file.stem / f"{file.stem}.jsonl"


def troubles(chosen: argparse.Namespace) -> Iterator[Trouble]:
    """Yield the troubles, spread over the tournament until its last match is closed. Hosts are hit in turn."""
    source, total = random.Random(chosen.seed), chosen.entrants // 2 * chosen.rounds
    hosts = [f"host{number}" for number in range(1, chosen.hosts + 1)]
    for what, times, where in (
        ("kill", HOST_KILLS, hosts),
        ("dispatcher", DISPATCHER_KILLS, [""]),
        ("kill", KEEPER_KILLS, [KEEPER]),
        ("kill", SCHEDULER_KILLS, [SCHEDULER_HOST]),
        ("cut", CUTS, hosts[::-1]),
        ("freeze", FREEZES, hosts[-2:]),
    ):
        for number in range(times):
            after = round(total * 0.95 * (number + source.random()) / times)
            yield Trouble(after=min(after, total - 1), what=what, host=where[number % len(where)])  # type: ignore[arg-type]


def report(calm: Path, wild: Path) -> int:
    """Compare both, audit them, and print the findings."""
    one, other = results(calm), results(wild)
    is_same = one == other
    print(f"results counted: {len(other['matches'])} of {len(one['matches'])}, each once")
    print(f"results and standings: {'the same' if is_same else 'NOT THE SAME'}")
    for why, times in Counter(map(_in_short, voided(wild))).most_common():
        print(f"  {times:4} void: {why}")
    statuses = [referee("audit", str(path.parent), cwd=path.parent).returncode for path in (calm, wild)]
    print(f"audits: {'both hold' if statuses == [0, 0] else f'NOT BOTH HOLD {statuses}'}")
    return 0 if is_same and statuses == [0, 0] else 1


def _in_short(why: str) -> str:
    """Return the reason of a void match, without the name of its host."""
    return " ".join(word for word in why.partition(":")[0].split() if "-" not in word)
