"""With a seed, moves follow from the match alone, and not from the process that plays, or its earlier matches."""

from pathlib import Path
from typing import Any

import pytest

from referee.match.events import MoveReceived
from referee.record.reader import read_record
from tests.cli.calling import referee

TOML = """\
game = "quincy"
seed = 11
programs = "{programs}"
sandbox = "off"
tables = {tables}
entrants = ["house:random", "house:random", "house:greedy"]
[format]
name = "roundrobin"
cycles = 2
"""


def moves(folder: Path) -> dict[str, list[Any]]:
    """Return the moves of each match."""
    found = {}
    for path in (folder / "logs" / "cup").glob("cup-*.jsonl"):
        events = [step.event for step in read_record(path).transitions]
        found[path.stem] = [event.move for event in events if isinstance(event, MoveReceived)]
    return found


@pytest.fixture(scope="module")
def anew(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Return the moves of programs that are started for each match."""
    return play(tmp_path_factory.mktemp("anew"), "anew", 1)


def play(folder: Path, programs: str, tables: int, *options: str) -> dict[str, list[Any]]:
    """Run the tournament and return the moves of each match."""
    (folder / "cup.toml").write_text(TOML.format(programs=programs, tables=tables))
    referee("tournament", "cup.toml", *options, cwd=folder)
    return moves(folder)


@pytest.mark.parametrize(
    ("programs", "options"), [("kept", ()), ("kept", ("--workers", "2")), ("anew", ("--workers", "2"))]
)
def test_it_is_the_same_wherever_it_is_played(
    tmp_path: Path, anew: dict[str, list[Any]], programs: str, options: tuple[str, ...]
) -> None:
    """Programs may be kept or not, with workers or without."""
    assert len(anew) == 6
    assert all(anew.values())
    assert anew == play(tmp_path, programs, 2, *options)
