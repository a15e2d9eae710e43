"""After a crash of its referee, a tournament goes on from every state that the crash can leave, to the same end.

Each state is made from the folder of a tournament that was really played, by cutting off what was written later.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record.resume import TORN

from .in_memory import events_on_record, lines_of
from .playing import audit, outcome, run, write_toml

Cut = Callable[[Path], None]
"""Function that removes from a finished tournament's folder everything that was written after some instant."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tournament of three matches, one after another, that nobody disturbed."""
    folder = tmp_path_factory.mktemp("played")
    run(write_toml(folder, 'name = "roundrobin"', tables=1, size=3))
    return folder


def kept(path: Path, lines: int, torn_bytes: int = 0) -> None:
    """Keep the first lines of a record, and some bytes of the next line."""
    whole = path.read_bytes().splitlines(keepends=True)
    assert len(whole) > lines
    path.write_bytes(b"".join(whole[:lines]) + whole[lines][:torn_bytes])


def torn(path: Path, size_bytes: int) -> None:
    """Keep the first bytes of a record."""
    path.write_bytes(path.read_bytes()[:size_bytes])


def at(event: str, number: int = 1, *, before: bool = False) -> Callable[[Path], tuple[int, dict[str, Any]]]:
    """Return a function that finds the n-th event of a kind and the number of lines up to it."""

    def find(record: Path) -> tuple[int, dict[str, Any]]:
        lines = [line for line in lines_of(record) if line.get("event", {}).get("event") == event]
        line = lines[number - 1]
        return line["n"] + (not before), line["event"]

    return find


def cut(folder: Path, lines: int, *, torn_bytes: int = 0) -> list[str]:
    """Cut the tournament's record, and remove the records of matches that are not in it any more.

    Returns:
        The matches that are open then.
    """
    record = folder / "cup.jsonl"
    kept(record, lines, torn_bytes)
    events = [line["event"] for line in lines_of(record) if "event" in line]
    opened = [event["fixture"]["match"] for event in events if event["event"] == "match-opened"]
    closed = [event["entry"]["fixture"]["match"] for event in events if event["event"] == "match-closed"]
    for path in folder.glob("cup-*.jsonl"):
        if path.stem not in opened:
            path.unlink()
    return [match for match in opened if match not in closed]


def nothing(folder: Path) -> None:
    """Make the state before the first byte: the file is there, and empty."""
    cut(folder, 0)


def half_a_header(folder: Path) -> None:
    """Make the state in the middle of the first line."""
    cut(folder, 1)
    torn(folder / "cup.jsonl", 300)


def header_alone(folder: Path) -> None:
    """Make the state after the first line of the tournament."""
    cut(folder, 1)


def begun(folder: Path) -> None:
    """Make the state before the first match."""
    cut(folder, 2)


def open_match(change: Callable[[Path], None]) -> Cut:
    """Return a function that leaves the second match open, with a changed record."""

    def made(folder: Path) -> None:
        lines, _ = at("match-opened", 2)(folder / "cup.jsonl")
        (match,) = cut(folder, lines)
        change(folder / f"{match}.jsonl")

    return made


def torn_closing(folder: Path) -> None:
    """Make the state in the middle of the line that closes the second match."""
    lines, _ = at("match-closed", 2, before=True)(folder / "cup.jsonl")
    assert cut(folder, lines, torn_bytes=200)


def torn_opening(folder: Path) -> None:
    """Make the state in the middle of the line that opens the second match."""
    lines, _ = at("match-opened", 2, before=True)(folder / "cup.jsonl")
    assert not cut(folder, lines, torn_bytes=40)


def unsealed(folder: Path) -> None:
    """Make the state before the last seal."""
    cut(folder, len(lines_of(folder / "cup.jsonl")) - 1)


def all_closed(folder: Path) -> None:
    """Make the state before the end is on record."""
    lines, _ = at("finished", before=True)(folder / "cup.jsonl")
    cut(folder, lines)


STATES: dict[str, Cut] = {
    "a file without anything": nothing,
    "half of the header": half_a_header,
    "the header alone": header_alone,
    "begun": begun,
    "half of an opening": torn_opening,
    "opened, no file": open_match(Path.unlink),
    "opened, an empty file": open_match(lambda path: torn(path, 0)),
    "opened, half of a header": open_match(lambda path: torn(path, 200)),
    "opened, the header alone": open_match(lambda path: kept(path, 1)),
    "in the middle": open_match(lambda path: kept(path, 20)),
    "in the middle of a line": open_match(lambda path: kept(path, 20, 25)),
    "over, no result": open_match(lambda path: kept(path, len(lines_of(path)) - 2)),
    "a result without a seal": open_match(lambda path: kept(path, len(lines_of(path)) - 1)),
    "half of a seal": open_match(lambda path: kept(path, len(lines_of(path)) - 1, 50)),
    "sealed, not closed": open_match(lambda _path: None),
    "half of a closing": torn_closing,
    "all closed": all_closed,
    "finished, not sealed": unsealed,
}


@pytest.mark.parametrize("state", STATES)
def test_a_tournament_goes_on_from_every_state(tmp_path: Path, played: Path, state: str) -> None:
    """Matches, deals, results and standings are those of the undisturbed run, and everything passes the audit."""
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "logs" / "cup"
    before = outcome(folder / "cup.jsonl")
    STATES[state](folder)
    run(tmp_path / "cup.toml")
    assert outcome(folder / "cup.jsonl") == before
    assert audit(folder) == ""
    opened = [
        line["event"]["fixture"]["match"]
        for line in lines_of(folder / "cup.jsonl")
        if line.get("event", {}).get("event") == "match-opened"
    ]
    assert len(opened) == len(set(opened)) == 3
    assert events_on_record(folder / "cup.jsonl")[-1] == "finished"
    assert len(list(folder.glob(f"*{TORN}"))) == (state in {"a file without anything", "half of the header"}) + (
        state in {"opened, an empty file", "opened, half of a header"}
    )
