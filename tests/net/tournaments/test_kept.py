"""Tournaments whose programs keep running: real programs, their output, and their starts in the records."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from .in_memory import lines_of
from .playing import audit, run

PLAYER = """\
import sys
from protocol.client import run

def make(terms):
    print("plays", terms.match, flush=True)
    return lambda view: {"action": "pass"}

def say(line):
    print("told", line, flush=True)
    if LEAVES:
        sys.exit(0)

run(make=make, say=say)
"""
"""A program that prints the name of its match; with LEAVES it ends after its match, even if others follow."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tournament of duplicate deals, at two tables, that is over."""
    folder = tmp_path_factory.mktemp("kept")
    rows = []
    for name, leaves, more in (("stays", False, ""), ("once", False, "matches = 1"), ("leaves", True, "")):
        (folder / name).mkdir()
        (folder / name / "player.py").write_text(f"LEAVES = {leaves}\n{PLAYER}")
        (folder / name / "player.toml").write_text(f'name = "{name}"\nrun = "{sys.executable} player.py"\n{more}\n')
        rows.append(f'"{name}"')
    (folder / "cup.toml").write_text(
        f'game = "q"\nprograms = "kept"\nkeep_for = 5\nduplicate = true\ntables = 2\nentrants = [{", ".join(rows)}]\n'
        '[format]\nname = "roundrobin"\ncycles = 1\n'
    )
    run(folder / "cup.toml")
    return folder / "logs" / "cup"


def begun(folder: Path) -> dict[str, tuple[Any, Any]]:
    """Return header and first event of each match."""
    found = {}
    for path in sorted(folder.glob("cup-*.jsonl")):
        header, first, *_ = lines_of(path)
        found[path.stem] = header, first["event"]
    return found


def test_nobody_is_expelled(played: Path) -> None:
    """Neither a program that stays nor one that leaves is expelled, and the records are valid."""
    closed = [line["event"]["entry"] for line in lines_of(played / "cup.jsonl") if "entry" in line.get("event", {})]
    assert [entry["fouls"] for entry in closed] == [[]] * len(closed)
    assert Counter(entry["void"] is None for entry in closed)[True] == 6
    assert audit(played) == ""


def test_the_record_says_which_start_played(played: Path) -> None:
    """Only programs that stay play twice, within the limit, and no running program has played one deal twice."""
    matches: dict[tuple[str, int], list[str]] = defaultdict(list)
    for header, first in begun(played).values():
        for name, start in zip(header["setup"]["names"], first["starts"], strict=True):
            matches[name, start].append(header["setup"]["commitment"])
    assert all(len(set(deals)) == len(deals) for deals in matches.values())
    assert len({start for _, start in matches}) == len(matches)
    most: Counter[str] = Counter()
    for (name, _), deals in matches.items():
        most[name] = max(most[name], len(deals))
    assert (most["once"], 2 <= most["stays"] <= 5) == (1, True)


def test_what_a_program_prints_stands_beside_its_match(played: Path) -> None:
    """The output names its own match and no other."""
    for name, (header, _) in begun(played).items():
        seat = header["setup"]["names"].index("stays") if "stays" in header["setup"]["names"] else None
        if seat is not None and json.loads((played / f"{name}.jsonl").read_text().splitlines()[-2])["result"]:
            printed = (played / f"{name}.seat{seat}.stays.stderr").read_text()
            assert [line.split()[1].rstrip(":") for line in printed.splitlines() if line.startswith("plays")] == [name]
