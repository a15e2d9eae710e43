"""Messages of a referee at a terminal to the site of a contest, through a file that the site makes and removes."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from twisted.internet.task import Clock

from referee.observers.live_file import MOST_BYTES, LiveFile, WatchedFile, live_path
from referee.plugins import load
from referee.web.contest import tournament_runs
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.tournament_runs import RunState, TournamentRun
from referee.web.live import LiveTables

TABLE = {
    "match": "cup-00001",
    "line": 1,
    "head": "5eed",
    "turn": 3,
    "expelled": [],
    "asked": [],
    "asked_at": None,
    "limit_ms": None,
    "bank_ms": [],
    "used_ms": None,
    "told": [],
    "board": None,
}
OPENED = {"event": "match-opened", "match": "cup-00001", "table": 1, "round": 1, "names": ["ada", "bob"]}
CHANGED = {"event": "table-changed", "table": TABLE}
CLOSED = {
    "event": "match-closed",
    "match": "cup-00001",
    "names": ["ada", "bob"],
    "fouls": [],
    "head": "",
    "result": "r",
}


def read(watched: WatchedFile) -> list[Any]:
    """Return the written messages."""
    return [msgspec.json.decode(line) for line in watched.read_lines()]


def test_nothing_is_written_unless_somebody_watches(tmp_path: Path) -> None:
    """A site that begins to watch, or starts again, is told what is being played."""
    folder, written = tmp_path / "cup", LiveFile(tmp_path / "cup")
    written.write({**OPENED, "match": "cup-00000"})
    written.write({**CLOSED, "match": "cup-00000"})
    written.write(OPENED)
    written.write(CHANGED)
    assert not live_path(folder).exists()
    watched = WatchedFile(folder)
    written.write({"event": "other"})
    assert read(watched) == [OPENED, CHANGED, {"event": "other"}]
    written.write(CLOSED)
    assert read(watched) == [CLOSED]
    watched.remove()
    again = WatchedFile(folder)
    written.write({"event": "other"})
    assert read(again) == [{"event": "other"}]
    again.remove()
    written.write(OPENED)
    assert not live_path(folder).exists()


def test_a_file_that_nobody_reads_does_not_grow_for_ever(tmp_path: Path) -> None:
    """A file that is read is replaced in time."""
    written, watched = LiveFile(tmp_path / "cup"), WatchedFile(tmp_path / "cup")
    big = {"event": "other", "text": "x" * (1 << 20)}
    for _ in range(20):
        written.write(big)
    assert live_path(tmp_path / "cup").stat().st_size <= MOST_BYTES + (2 << 20)
    count = 0
    for _ in range(40):
        count += len(watched.read_lines())
    written.write({"event": "other"})
    assert (count, read(watched)) == (16, [{"event": "other"}])
    watched.remove()


def test_a_tournament_at_a_terminal_is_shown_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its matches and tables are shown until it ends; then the file is gone, and the site takes over."""
    write_example(tmp_path)
    scheduled, clock, over = read_contest(tmp_path, load()).tournaments[0], Clock(), list[str]()
    live = LiveTables(clock, "board only")
    run = TournamentRun(
        clock, scheduled, ("/bin/true",), (), live, lambda: None, lambda _, facts: over.append(facts["match"])
    )
    is_locked = True
    monkeypatch.setattr(tournament_runs, "is_locked", lambda _: is_locked)
    run.folder.parent.mkdir(parents=True)
    run.begin()
    run.look_around()
    written = LiveFile(run.folder)
    for value in (OPENED, CHANGED):
        written.write(value)
    run.look_around()
    assert (run.state, list(run.open_matches)) == (RunState.ELSEWHERE, ["cup-00001"])
    assert [(table.match, table.turn) for table in live.state.tables] == [("cup-00001", 3)]
    written.write(CLOSED)
    is_locked = False
    monkeypatch.setattr(run, "begin", lambda: None)
    run.look_around()
    assert (over, run.open_matches, live.state.tables) == (["cup-00001"], {}, [])
    assert not live_path(run.folder).exists()
