"""Plays a Swiss tournament of many programs, some faulty: it must finish, with valid records and the right standings.

The standings are computed a second time, only from the bytes of the records, with the plain rules of
tests/tournament/naive.py.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from referee.cli.commands.new import make_player
from referee.tournament.pairing.base import Pairing, PlayedPairing, bye

from ..tournament.naive import Naive

FAULTS = ("exits", "illegal-move", "silent", "no-ready", "json", "floods", "moves-twice", "prints-frames", "deaf")
"""Kinds of the faulty programs, in turn. The first faulty program also has a build that fails."""
LANGUAGES = ("c", "javascript", "c", "python-socket")
"""Kinds of the other programs, in turn."""
NAME = "crowd"
BROKEN = Path(__file__).parents[1] / "peers" / "broken" / "player.py"
TOML = """\
name = "{name}"
game = "q"
seats = 2
tables = {tables}
entrants_from = "programs"
sandbox = "auto"

[format]
name = "swiss"
rounds = {rounds}

[time]
per_move = {limit_s}
start = 20
"""


def main(arguments: list[str]) -> int:
    """Play the tournament and print its outcome.

    Returns:
        0 if it finished, every record passes the audit, and the standings equal the second computation.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks crowd", description=__doc__)
    parser.add_argument("--programs", type=int, default=64)
    parser.add_argument("--faulty", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--limit-s", type=float, default=10.0, help="for each move")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gather(folder / "programs", chosen.programs, chosen.faulty)
        text = TOML.format(name=NAME, tables=chosen.tables, rounds=chosen.rounds, limit_s=chosen.limit_s)
        (folder / f"{NAME}.toml").write_text(text)
        begun = time.monotonic()
        played = run(folder, "tournament", f"{NAME}.toml", "--key", "key")
        took_s = time.monotonic() - begun
        print(f"{chosen.programs} programs, {chosen.faulty} faulty: exit status {played} in {took_s:.0f} s")
        audited = run(folder, "audit", f"logs/{NAME}")
        print(f"audit: exit status {audited}")
        wrong = differences(folder / "logs" / NAME)
        print("\n".join(wrong) or "standings: equal to a second computation from the records")
        return 0 if (played, audited, wrong) == (0, 0, []) else 1


def gather(programs: Path, count: int, faulty: int) -> None:
    """Make a folder of programs: samples in several languages, and faulty ones."""
    programs.mkdir()
    for number in range(count - faulty):
        where = programs / f"good{number:02}"
        make_player(LANGUAGES[number % len(LANGUAGES)], where)
    for number in range(faulty):
        where = programs / f"bad{number:02}"
        where.mkdir()
        fault = FAULTS[number % len(FAULTS)]
        shutil.copy(BROKEN, where)
        build = 'build = "false"\n' if number == 0 else ""
        line = f"run = '{sys.executable} player.py {fault}'"
        (where / "player.toml").write_text(f'name = "{fault.replace("-", "")}"\n{line}\n{build}games = ["q"]\n')


def run(folder: Path, *arguments: str) -> int:
    """Run a command of the referee in a folder; print the end of its output if it fails."""
    command = [sys.executable, "-m", "referee", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], sep="\n")
    return done.returncode


def differences(folder: Path) -> list[str]:
    """Return the differences between the standings and those that follow from the records."""
    with (folder / "standings.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    with (folder / f"{NAME}.jsonl").open() as record:
        names = [item["name"] for item in json.loads(record.readline())["spec"]["entrants"]]
    gone = {names.index(line["name"]) for line in lines if line["suspended"]}
    naive = Naive(len(names), 2, results(folder, len(names), gone), sorted(gone))
    values = {
        "points": naive.points,
        "buchholz-cut-1": naive.buchholz_cut_1,
        "buchholz": naive.buchholz,
        "sonneborn-berger": naive.sonneborn_berger,
    }
    wrong = []
    for line in lines:
        entrant = names.index(line["name"])
        for title, value in values.items():
            if line.get(title) and abs(Fraction(line[title]) - value(entrant)) > Fraction(1, 1000):
                wrong.append(f"{line['name']}: {title} is {line[title]}, and should be {float(value(entrant))}")
    points = [Fraction(line["points"]) for line in lines]
    return wrong if points == sorted(points, reverse=True) else [*wrong, "the standings are not in the order of points"]


def results(folder: Path, entrants: int, gone: set[int]) -> list[PlayedPairing]:
    """Return the results on record, with a bye for an entrant that has no match in one of its rounds."""
    found: list[PlayedPairing] = []
    met: dict[int, set[int]] = defaultdict(set)
    for path in sorted(folder.glob(f"{NAME}-*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        fixture, result = lines[0]["context"]["fixture"], lines[-2]["result"]
        if result["void"] is None:
            found.append(_played(fixture, result))
            met[fixture["round"]] |= set(fixture["entrants"])
    last = {item: max((number for number, seats in met.items() if item in seats), default=0) for item in gone}
    for number, seats in met.items():
        absent = (item for item in set(range(entrants)) - seats if item not in gone or number < last[item])
        found += [bye(Pairing(number=10_000 + number, round=number, seats=(item,))) for item in absent]
    return found


def _played(fixture: dict[str, Any], result: dict[str, Any]) -> PlayedPairing:
    pairing = Pairing(number=fixture["number"], round=fixture["round"], seats=tuple(fixture["entrants"]))
    return PlayedPairing(
        pairing=pairing,
        ranking=tuple(tuple(group) for group in result["ranking"]),
        scores=tuple(result["scores"]),
        fouls=tuple(foul["seat"] for foul in result["fouls"]),
    )
