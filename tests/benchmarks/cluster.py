"""Measures the matches a minute of a cluster with more and more hosts, with programs that think 50 ms a move.

Hosts are processes of this machine, each with one table, and their programs sleep while they think. So the measure is
the time lost between matches, not the speed of the machine. In the ideal, hosts play one match after the other, and
only thinking takes time. Only the middle of each tournament counts, when all hosts are at work. The processor time of a
match is printed for each process, as user and system time. The number of cores that the ideal would need at this cost
is printed, too: a share of the ideal means something only if the machine has clearly more cores.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from referee.cli.commands.new import make_player
from tests.cluster.processes import Processes
from tests.cluster.troubles import dispatchers_in

HOSTS = (1, 2, 4, 8)
PER_HOST = 16
"""Matches of each host, including some at the beginning and the end that are not counted."""
BEGINNING = 4
"""Uncounted matches of each host, in which it gets the program."""
THINK_MS = 50
TOML = """\
name = "cup"
game = "quincy"
seed = 1
tables = 100
sandbox = "off"
{entrants}
[format]
name = "roundrobin"
rounds = {rounds}
"""
ENTRANTS = 32
"""Entrants, all with one program; so many that each host has a match."""
CHOOSE = "static void choose(const char *game, const struct value *view, struct buffer *move) {\n"
SLEEP = f"    usleep({1000 * THINK_MS});\n"
POLL_S = 0.05


PARTS = ("coordinator", "dispatcher", "scheduler", "hosts", "programs")


class Spent(Struct, frozen=True, kw_only=True):
    """Processor time so far, in seconds."""

    closed: int
    """Matches by then."""
    seconds: tuple[tuple[float, ...], ...]
    """User and system time of each process."""


def main(arguments: list[str]) -> int:
    """Play a tournament with each number of hosts, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks cluster", description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", default=HOSTS)
    parser.add_argument("--matches", type=int, default=PER_HOST, help=f"for each host, more than {BEGINNING + 2}")
    chosen = parser.parse_args(arguments)
    print(f"hosts | matches/min of ideal, which takes | ms of processor time a match, user+system: {', '.join(PARTS)}")
    for hosts in chosen.hosts:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{hosts:5} | {told(Path(folder), hosts, hosts * chosen.matches)}", flush=True)
    return 0


def told(folder: Path, hosts: int, matches: int) -> str:
    """Play a tournament, and return its measurements in one line."""
    write(folder, matches)
    processes = Processes(folder, hosts)
    try:
        first, last = measured(folder, processes, hosts)
    finally:
        processes.close()
    closings = [line["event"] for line in lines_of(folder) if line.get("event", {}).get("event") == "match-closed"]
    middle = closings[first.closed - 1 : last.closed]
    wall_s = (datetime.fromisoformat(middle[-1]["at"]) - datetime.fromisoformat(middle[0]["at"])).total_seconds()
    thought_s = sum(event["entry"]["turns"] * THINK_MS / 1000 for event in middle) / len(middle)
    played = len(middle) - 1
    share = played / wall_s / (hosts / thought_s)
    costs = [
        "+".join(f"{1000 * (after - before) / played:.0f}" for before, after in zip(*times, strict=True))
        for times in zip(first.seconds, last.seconds, strict=True)
    ]
    whole_s = sum(sum(after) - sum(before) for before, after in zip(first.seconds, last.seconds, strict=True)) / played
    cores = f"{whole_s * hosts / thought_s:.2f} cores"
    return f"{60 * played / wall_s:11.1f} {share:8.0%} {cores:>12} | {', '.join(costs)}"


def write(folder: Path, matches: int) -> None:
    """Build the program, and write the file of a tournament."""
    make_player("c", folder / "thinker")
    source = folder / "thinker" / "player.c"
    text = source.read_text()
    assert CHOOSE in text, "the sample chooses in another way"
    source.write_text("#define _DEFAULT_SOURCE\n#include <unistd.h>\n" + text.replace(CHOOSE, CHOOSE + SLEEP))
    spec = folder / "thinker" / "player.toml"
    build = tomllib.loads(spec.read_text())["build"]
    subprocess.run(shlex.split(build), cwd=spec.parent, stdout=subprocess.DEVNULL, check=True)
    lines = spec.read_text().splitlines(keepends=True)
    # # Otherwise, it would be built for each entrant.
    spec.write_text("".join(line for line in lines if not line.startswith("build")))
    entrants = "".join(f'[[entrants]]\nname = "p{number}"\nplayer = "thinker"\n' for number in range(ENTRANTS))
    (folder / "cup.toml").write_text(TOML.format(entrants=entrants, rounds=-(-matches // (ENTRANTS // 2))))


def measured(folder: Path, processes: Processes, hosts: int) -> tuple[Spent, Spent]:
    """Run the tournament; return the processor time at the beginning and at the end of its middle."""
    command = [sys.executable, "-m", "referee", "tournament", "cup.toml", *processes.options]
    with (folder / "printed").open("wb") as printed:
        keeper = subprocess.Popen(
            [*command, "--diagnostics", "diagnostics"], cwd=folder, stdout=printed, stderr=printed
        )
    seen: list[Spent] = []
    total = -1
    while keeper.poll() is None:
        closed = record_of(folder).read_bytes().count(b'"match-closed"') if record_of(folder).exists() else 0
        if closed >= BEGINNING * hosts and closed != total:
            total = closed
            with suppress(LookupError, OSError):  # after the last match, the dispatcher ends before the tournament
                seen.append(spent(folder, closed, keeper.pid, processes))
        time.sleep(POLL_S)
    assert keeper.returncode == 0, (folder / "printed").read_text()
    return seen[0], next(each for each in reversed(seen) if each.closed <= total - hosts)


def spent(folder: Path, closed: int, keeper: int, processes: Processes) -> Spent:
    """Return the processor time of the processes so far."""
    single = [processor_s(pid)[:2] for pid in (keeper, dispatchers_in(folder)[0], processes.scheduler.pid)]
    of_hosts = [processor_s(host.pid) for host in processes.hosts]
    hosts = tuple(float(sum(times)) for times in zip(*of_hosts, strict=True))
    return Spent(closed=closed, seconds=(*single, hosts[:2], hosts[2:]))


def processor_s(pid: int) -> tuple[float, ...]:
    """Return the user and system time of a process, and of its children that have ended, in seconds."""
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return tuple(int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:15])


def record_of(folder: Path) -> Path:
    """Return the record of the tournament."""
    return folder / "logs" / "cup" / "cup.jsonl"


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the tournament's record."""
    return [json.loads(line) for line in record_of(folder).read_bytes().splitlines()]
