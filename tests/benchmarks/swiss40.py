"""Plays a Swiss of 40 with faulty programs, late entrants and rulings, and kills its referee again and again.

At its end, the standings must equal those that a second, naive program computes only from the tournament's record, and
all records must pass the audit.
"""

import argparse
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from referee.cli.commands.new import make_player

from ..naive.standings import differences
from .kills import audited, disturbed, event_of, folder_of, lines_of, print_left, record_of

NAME = "swiss40"
ENTRANTS, FAULTY = 40, 8
ROUNDS = 7
LINES = 2 * ROUNDS * ENTRANTS // 2 + 20
"""Approximate number of lines in the tournament's record."""
HEAD = """\
name = "{name}"
game = "quincy"
seed = 11
tables = 4
sandbox = "off"

[time]
per_move = 2
start = 2

[format]
name = "swiss"
rounds = {rounds}
"""
CHOOSE = "    list_moves(game, view, &moves);\n"
"""The line of the C sample after which it may be made to fail."""
FAULTS = {
    "junk": "    put_byte(move, 0xc0);\n    if (moves.count < 1000)\n        return;\n",
    "crash": "    if (chance(6) == 0)\n        exit(3);\n",
}
"""Kind of program -> code that it runs when it chooses a move."""


def main(arguments: list[str]) -> int:
    """Run the tournament and print what came of it.

    Returns:
        0 if the second program finds the same standings, and all records pass the audit.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks swiss40", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = prepared(Path(folder))
        begun = time.monotonic()
        asking = partial(ask, path, Path(folder) / "good" / "player")
        left = disturbed(path, chosen.kills, random.Random(chosen.seed), LINES, asking)
        print(f"killed {left.total()} times, finished after {time.monotonic() - begun:.0f} s")
        print_left(left)
        print_course(path)
        wrong = differences(record_of(path))
        print("standings: the second program finds", "the same" if not wrong else "OTHERS", *wrong, sep="\n  ")
        return 1 if audited(path) or wrong else 0


def prepared(folder: Path) -> Path:
    """Build the programs, write the tournament's file, and return its path."""
    good, junk, crash = (f"cmd:{build(folder / kind, kind)}" for kind in ("good", "junk", "crash"))
    players = [good] * (ENTRANTS - FAULTY) + [junk, junk, crash, crash, "cmd:false", "cmd:false"] + ["cmd:sleep 60"] * 2
    entrants = "".join(
        f'[[entrants]]\nname = "p{number:02}"\nplayer = "{player}"\n' for number, player in enumerate(players)
    )
    path = folder / f"{NAME}.toml"
    path.write_text(HEAD.format(name=NAME, rounds=ROUNDS) + entrants)
    return path


def build(folder: Path, kind: str) -> str:
    """Build a program that plays correctly, or fails as intended, and return its command."""
    make_player("c", folder)
    source = folder / "player.c"
    text = source.read_text()
    assert CHOOSE in text, f"{source} chooses in another way"
    source.write_text(text.replace(CHOOSE, CHOOSE + FAULTS.get(kind, "")))
    subprocess.run(["make"], cwd=folder, check=True, capture_output=True)
    return shlex.quote(str(folder / "player"))


def ask(path: Path, player: Path, number: int) -> None:
    """Make the request that belongs to a kill's number: join, withdraw an entrant, or award a match to its loser."""
    folder = str(folder_of(path))
    reason = ["--reason", "as the benchmark says"]
    if number in (2, 4):
        run("join-tournament", folder, f"cmd:{player}", "--name", f"late{number}")
    elif number == 6:
        run("rule", folder, "withdraw", "p03", *reason)
    elif number == 8:
        match, loser = decided(path)
        run("rule", folder, "award", match, "--to", loser, *reason)


def decided(path: Path) -> tuple[str, str]:
    """Return the last match that has a winner, and its loser."""
    entries = [line["event"]["entry"] for line in lines_of(path) if event_of(line) == "match-closed"]
    entry = [entry for entry in entries if len(entry["ranking"]) == 2 and not entry["fouls"]][-1]
    return entry["fixture"]["match"], entry["names"][entry["ranking"][1][0]]


def run(*arguments: str) -> None:
    """Run a command of the referee.

    Raises:
        SystemExit: it was refused; the text is its output.
    """
    argv = [sys.executable, "-m", "referee", *arguments]
    done = subprocess.run(argv, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stdout[-1000:]}")


def print_course(path: Path) -> None:
    """Print what happened in the tournament."""
    lines = lines_of(path)
    events = Counter(filter(None, map(event_of, lines)))
    commands: Counter[str] = Counter(command["command"] for line in lines for command in line.get("commands", ()))
    entries: list[dict[str, Any]] = [line["event"]["entry"] for line in lines if event_of(line) == "match-closed"]
    fouls = Counter(foul["cause"] for entry in entries for foul in entry["fouls"])
    print("events:", ", ".join(f"{times} {name}" for name, times in events.most_common()))
    print("commands:", ", ".join(f"{times} {name}" for name, times in commands.most_common()))
    print("fouls:", ", ".join(f"{times} {name}" for name, times in fouls.most_common()))
