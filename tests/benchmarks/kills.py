"""Kills the referee of a tournament at random instants, again and again: in the end, nothing is lost or doubled.

Plays a tournament undisturbed, and the same one, with the same seeds, under a referee that is killed (SIGKILL) and
started again; then compares their records and databases, and audits both with the key. A kill falls between two writes
of the tournament's record, at any point of the matches; the states that kills leave are counted.
"""

import argparse
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from referee.cli.commands.new import make_player
from referee.pages.database import FILE
from referee.record.key import load_key

TOML = """\
name = "{name}"
game = "quincy"
seed = 11
tables = {tables}
sandbox = "off"
programs = "{programs}"
entrants_from = "programs"

[format]
name = "roundrobin"
cycles = {cycles}
"""
ENTRANTS = 5
PER_CYCLE = 10
"""Number of entrants."""
NAME = "kills"
CHANGES = (
    ("player.c", "static uint64_t state;", "uint64_t state = 0;"),  # keeps no random state between moves
    ("player.toml", 'run = "./player"', f'run = "env REFEREE_PLAYER_SEED={"5e" * 32} ./player"'),  # same in all starts
    ("player.toml", 'build = "make"\n', ""),
)
"""File of the sample in C -> its text, and the replacement."""
POLL_S = 0.005
SPANS_S = (0.001, 0.02, 0.5)
"""Longest times from a line of the tournament's record to the kill: about those of a write, a start, and a match."""
LONGEST_START_S = 120.0
"""Longest time until a referee writes something; otherwise it has not started."""
ROWS = (
    "SELECT match, number, round, stage, leg, attempt, entrants FROM openings ORDER BY match",
    "SELECT match, void, reason, turns FROM results ORDER BY match",
    "SELECT match, seat, entrant, p.name, place, score FROM placings p JOIN results USING (line) ORDER BY match, seat",
    "SELECT match, seat, cause, turn, rule, code FROM fouls f JOIN results USING (line) ORDER BY match, seat",
    "SELECT number, round, entrant, stage, against FROM byes ORDER BY number",
    "SELECT place, entrant, points, tie_breaks, played, byes, has_withdrawn FROM standings ORDER BY place, entrant",
)
"""Everything that a database has of a tournament, except for lines, hashes and times, which differ between runs."""


def main(arguments: list[str]) -> int:
    """Run both tournaments and print how they compare.

    Returns:
        0 if both have the same results and every record passes the audit.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks kills", description=__doc__)
    parser.add_argument("--matches", type=int, default=200, help=f"a multiple of {PER_CYCLE}")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--programs", choices=("anew", "kept"), default="anew", help="of the one that is killed")
    parser.add_argument("--workers", type=int, default=0, help="of the one that is killed")
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        player = built(Path(folder, "player"))
        calm, wild = (
            prepared(Path(folder, kind), player, chosen, programs)
            for kind, programs in (("calm", "anew"), ("wild", chosen.programs))
        )
        run(calm)
        calm_s = time.monotonic() - begun
        print(f"undisturbed: {chosen.matches} matches in {calm_s:.0f} s", flush=True)
        source = random.Random(chosen.seed)
        left = disturbed(wild, chosen.kills, source, len(lines_of(calm)), workers=chosen.workers)
        print(f"killed {left.total()} times, finished after {time.monotonic() - begun - calm_s:.0f} s")
        print_left(left)
        return report(calm, wild, chosen.matches)


def built(folder: Path) -> Path:
    """Return a folder with the program of all entrants, built once."""
    make_player("c", folder)
    forget(folder)
    subprocess.run(["make"], cwd=folder, check=True, capture_output=True)
    return folder


def prepared(folder: Path, player: Path, chosen: argparse.Namespace, programs: str) -> Path:
    """Write the file of a tournament into a folder of its own, and return its path."""
    for number in range(ENTRANTS):
        shutil.copytree(player, folder / "programs" / f"p{number}")
    path = folder / f"{NAME}.toml"
    text = TOML.format(name=NAME, tables=chosen.tables, programs=programs, cycles=chosen.matches // PER_CYCLE)
    path.write_text(text)
    return path


def forget(player: Path) -> None:
    """Change the sample so that its moves are the same in every start and do not depend on earlier moves."""
    for name, kept, not_kept in CHANGES:
        source = player / name
        text = source.read_text()
        assert kept in text, f"{source} keeps its chance in another way"
        source.write_text(text.replace(kept, not_kept))


def command(path: Path, workers: int) -> list[str]:
    """Return the command line that runs a tournament."""
    options = ["--key", str(path.with_name("key")), "--json", "--workers", str(workers)]
    return [sys.executable, "-m", "referee", "tournament", str(path), *options]


def run(path: Path, workers: int = 0) -> None:
    """Run a tournament to its end.

    Raises:
        SystemExit: it did not end normally; the text is the referee's output.
    """
    done = subprocess.run(command(path, workers), cwd=path.parent, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the referee ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def folder_of(path: Path) -> Path:
    """Return the folder of a tournament's records."""
    return path.parent / "logs" / path.stem


def record_of(path: Path) -> Path:
    """Return the record of a tournament."""
    return folder_of(path) / f"{path.stem}.jsonl"


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a tournament's record; none if there is no record."""
    if not record_of(path).exists():
        return []
    lines = record_of(path).read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def size_of(path: Path) -> int:
    """Return the size of a tournament's record, in bytes; 0 if there is none."""
    return record_of(path).stat().st_size if record_of(path).exists() else 0


def disturbed(
    path: Path,
    kills: int,
    source: random.Random,
    lines: int,
    between: Callable[[int], None] = lambda _: None,
    workers: int = 0,
) -> Counter[str]:
    """Run a tournament to its end, and kill its referee a number of times on the way.

    Args:
        path: of the file.
        kills: largest number of kills; the tournament may be over before.
        source: of the instants.
        lines: number of lines in an undisturbed run's record; the kills are spread over as many.
        between: called with each kill's number, from 1, while no referee runs.
        workers: as `--workers` has it.

    Returns:
        State in which kills left the folder -> number of kills.
    """
    left: Counter[str] = Counter()
    while left.total() < kills:
        written = max(0, lines - len(lines_of(path))) / (kills - left.total()) * source.uniform(0, 1)
        if not killed(path, round(written), source, workers):
            return left
        left[state_of(path)] += 1
        between(left.total())
    run(path, workers)
    return left


def killed(path: Path, lines: int, source: random.Random, workers: int) -> bool:
    """Run a tournament until it has written `lines` lines and some more time has passed; return False if it ended."""
    size, wanted = size_of(path), len(lines_of(path)) + lines
    arguments = command(path, workers)
    with subprocess.Popen(arguments, cwd=path.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as referee:
        patience = time.monotonic() + LONGEST_START_S
        while referee.poll() is None and time.monotonic() < patience:
            if size_of(path) > size and len(lines_of(path)) >= wanted:
                time.sleep(source.uniform(0, source.choice(SPANS_S)))
                referee.send_signal(signal.SIGKILL)
                break
            time.sleep(POLL_S)
        else:
            referee.send_signal(signal.SIGKILL)
        status = referee.wait()
        if status not in (0, -signal.SIGKILL):
            assert referee.stderr is not None
            raise SystemExit(f"the referee ended with {status}: {referee.stderr.read().decode()}")
    return status != 0


def state_of(path: Path) -> str:
    """Return the name of the state in which a kill has left a tournament."""
    lines = lines_of(path)
    if not lines:
        return "no first line"
    opened = {line["event"]["fixture"]["match"] for line in lines if event_of(line) == "match-opened"}
    closed = {line["event"]["entry"]["fixture"]["match"] for line in lines if event_of(line) == "match-closed"}
    states = sorted({match_state(folder_of(path) / f"{match}.jsonl") for match in opened - closed})
    torn = [] if record_of(path).read_bytes().endswith(b"\n") else ["a torn line"]
    return " and ".join([*states, *torn]) or "no match open"


def event_of(line: dict[str, Any]) -> str | None:
    """Return the name of a line's event; None if it has none."""
    event = line.get("event")
    return event["event"] if event else None


def match_state(path: Path) -> str:
    """Return the state of an open match, by the lines of its record."""
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if not lines or not lines[0].endswith(b"\n"):
        return "opened without a first line" if path.exists() else "opened without a file"
    if b'"kind":"seal"' in lines[-1]:
        return "sealed"
    if b'"kind":"result"' in lines[-1]:
        return "result without a seal"
    return "header alone" if len(lines) == 1 else "in the middle"


def print_left(left: Counter[str]) -> None:
    """Print the states in which kills left the tournament."""
    for state, times in left.most_common():
        print(f"  {times:4} {state}")


def told(path: Path) -> list[list[tuple[Any, ...]]]:
    """Return a database's content about a tournament, without what differs between runs."""
    with closing(sqlite3.connect(folder_of(path) / FILE)) as database:
        return [database.execute(query).fetchall() for query in ROWS]


def report(calm: Path, wild: Path, matches: int) -> int:
    """Compare the two tournaments and audit both; print the findings."""
    one, other = told(calm), told(wild)
    closed = [line["event"]["entry"]["fixture"]["match"] for line in lines_of(wild) if event_of(line) == "match-closed"]
    is_once = len(set(closed)) == len(closed) == matches
    print(f"matches closed: {len(closed)}, {'each once' if is_once else 'NOT EACH ONCE'}")
    print(f"databases: {sum(map(len, other))} rows, {'the same' if one == other else 'NOT THE SAME'}")
    for before, after in zip(one, other, strict=True):
        for row in [row for row in after if row not in before][:5]:
            print(f"  not so in the undisturbed one: {row}")
    statuses = [audited(path) for path in (calm, wild)]
    return 0 if is_once and one == other and statuses == [0, 0] else 1


def audited(path: Path) -> int:
    """Audit a tournament with its referee's key, print the result, and return the exit status."""
    public = load_key(path.with_name("key")).public
    argv = [sys.executable, "-m", "referee", "audit", str(folder_of(path)), "--public-key", public]
    audit = subprocess.run(argv, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [line for line in audit.stdout.splitlines() if not line.startswith("holds ")]
    print(f"audit of {path.parent.name}: exit status {audit.returncode}", *said, sep="\n  ")
    return audit.returncode
