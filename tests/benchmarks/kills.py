"""A tournament whose referee is killed at random instants, again and again: at its end, nothing is lost or double.

Plays a tournament undisturbed, and the same one, with the same seeds, under a referee that is killed (SIGKILL) and
started again; then compares the two ledgers, and audits every record.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from referee.app.new_player import make_player
from referee.ledger.ledger import FILE, Ledger, url_of

TOML = """\
name = "{name}"
game = "quincy"
seed = 11
tables = {tables}
sandbox = "off"
entrants_from = "programs"

[format]
name = "roundrobin"
cycles = {cycles}
"""
ENTRANTS = 5
PER_CYCLE = 10
"""Matches of so many entrants."""
NAME = "kills"
KEPT, NOT_KEPT = "static uint64_t state;", "uint64_t state = 0;"
"""How the sample in C keeps its chance from move to move, and how it would not."""


def main(arguments: list[str]) -> int:
    """Run both tournaments and print how they compare.

    Returns:
        0 if both ledgers are the same and every record holds.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks kills", description=__doc__)
    parser.add_argument("--matches", type=int, default=200, help=f"a multiple of {PER_CYCLE}")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        calm, wild = (prepared(Path(folder, kind), chosen.matches, chosen.tables) for kind in ("calm", "wild"))
        run(calm)
        calm_s = time.monotonic() - begun
        print(f"undisturbed: {chosen.matches} matches in {calm_s:.0f} s")
        killed = disturbed(wild, chosen.kills, random.Random(chosen.seed), calm_s)
        print(f"killed {killed} times, finished after {time.monotonic() - begun - calm_s:.0f} s")
        return report(calm, wild, chosen.matches)


def prepared(folder: Path, matches: int, tables: int) -> Path:
    """Write the file of a tournament into a folder of its own, and return its path."""
    (folder / "programs").mkdir(parents=True)
    for number in range(ENTRANTS):
        make_player("c", folder / "programs" / f"p{number}")
        forget(folder / "programs" / f"p{number}" / "player.c")
    path = folder / f"{NAME}.toml"
    path.write_text(TOML.format(name=NAME, tables=tables, cycles=matches // PER_CYCLE))
    return path


def forget(source: Path) -> None:
    """Change the sample so that its chance follows from its seed alone: it plays the same, started anew or not."""
    text = source.read_text()
    assert KEPT in text, f"{source} keeps its chance in another way"
    source.write_text(text.replace(KEPT, NOT_KEPT))


def command(path: Path) -> list[str]:
    """Return the command line that runs a tournament."""
    key = str(path.with_name("key"))
    return [sys.executable, "-m", "referee", "tournament", str(path), "--key", key, "--json"]


def run(path: Path) -> None:
    """Run a tournament to its end.

    Raises:
        CalledProcessError: it did not come to it.
    """
    subprocess.run(command(path), cwd=path.parent, check=True, capture_output=True)


def disturbed(path: Path, kills: int, source: random.Random, calm_s: float) -> int:
    """Run a tournament to its end, killing its referee so many times on the way.

    Args:
        path: of the file.
        kills: how often, at most: it may be over before.
        source: of the instants.
        calm_s: how long the undisturbed tournament took.

    Returns:
        How often it was killed.
    """
    mean_s = max(1.5, calm_s / kills)
    killed = 0
    while killed < kills:
        with subprocess.Popen(
            command(path), cwd=path.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as referee:
            try:
                status = referee.wait(source.uniform(0.3, 2 * mean_s))
            except subprocess.TimeoutExpired:
                referee.send_signal(signal.SIGKILL)
                killed += 1
                continue
            if status == 0:
                return killed
            assert referee.stderr is not None
            raise SystemExit(f"the referee ended with {status}: {referee.stderr.read().decode()}")
    run(path)
    return killed


def results(path: Path) -> list[dict[str, Any]]:
    """Return what a tournament's ledger says came of each match, in a fixed order.

    Left out is what depends on the time of day and on which of several matches at a time was over first.
    """
    ledger = Ledger(url_of(path.parent / "logs" / NAME / FILE))
    try:
        rows = list(ledger.rows(NAME))
    finally:
        ledger.close()
    match = {row[2]: row[3] for row in rows if row[0] == "results"}
    found = {
        row[3]: {"match": row[3], "result": row[4:7], "seats": [], "fouls": []} for row in rows if row[0] == "results"
    }
    for table, _, line, *rest in rows:
        if table == "placings":
            found[match[line]]["seats"].append(rest[:-1])
        elif table == "fouls":
            found[match[line]]["fouls"].append(rest)
    return sorted(found.values(), key=lambda entry: str(entry["match"]))


def report(calm: Path, wild: Path, matches: int) -> int:
    """Compare the two ledgers and audit the records; print what was found."""
    one, other = results(calm), results(wild)
    is_once = len({entry["match"] for entry in other}) == len(other) == matches
    is_same = one == other
    print(f"ledgers: {len(one)} and {len(other)} results of {matches}, {'the same' if is_same else 'NOT THE SAME'}")
    for entry in (entry for entry in other if entry not in one):
        print(f"  not so in the undisturbed one: {entry}")
    argv = [sys.executable, "-m", "referee", "audit", str(wild.parent / "logs" / NAME), "--json"]
    audit = subprocess.run(argv, capture_output=True, check=False)
    print(f"audit of the records of the killed referees: exit status {audit.returncode}")
    return 0 if is_once and is_same and audit.returncode == 0 else 1
