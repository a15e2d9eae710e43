"""Workers that are killed in the middle of a match, or outlive their referee: nobody is blamed, nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ..tournaments.in_memory import lines_of
from ..tournaments.playing import audit, run, write_toml

MOVES = 8
"""Lines of a match's record: it is well in the middle then."""


@contextmanager
def running(folder: Path, *options: str) -> Iterator["tuple[subprocess.Popen[bytes], list[int]]"]:
    """Run a tournament of one match at a time until that is in its middle; give its process and its workers'."""
    path = write_toml(folder, 'name = "roundrobin"', tables=2, size=3)
    command = [sys.executable, "-m", "referee", "tournament", str(path), "--workers", "2"]
    started = subprocess.Popen([*command, "--diagnostics", "log", *options], cwd=folder, stdout=subprocess.DEVNULL)
    try:
        give_up = time.monotonic() + 60
        while all(len(lines_of(record)) < MOVES for record in (folder / "logs" / "cup").glob("cup-*.jsonl")):
            assert started.poll() is None
            assert time.monotonic() < give_up
            time.sleep(0.02)
        yield started, workers(folder)
    finally:
        started.kill()
        started.wait()


def workers(folder: Path) -> list[int]:
    """Return the numbers of all worker processes that were ever started."""
    lines = map(json.loads, (folder / "log").read_text().splitlines())
    return [line["pid"] for line in lines if line["event"] == "worker-started"]


def entries(folder: Path) -> list[dict[str, object]]:
    """Return what came of each match."""
    events = [line.get("event", {}) for line in lines_of(folder / "logs" / "cup" / "cup.jsonl")]
    return [event["entry"] for event in events if event.get("event") == "match-closed"]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits for its end to be noticed does not."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_worker_that_is_killed_costs_its_match_one_replay(tmp_path: Path) -> None:
    """The match is void for the referee's fault, and played again by another worker; the audit holds."""
    with running(tmp_path) as (referee, pids):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        assert referee.wait(60) == 0
    found = entries(tmp_path)
    voided = [entry["void"] for entry in found if entry["void"] is not None]
    assert len(voided) == 1
    assert "signal SIGKILL" in str(voided[0])
    assert (len(found), [entry["fouls"] for entry in found]) == (4, [[]] * 4)
    assert len(workers(tmp_path)) == 4
    assert audit(tmp_path / "logs" / "cup") == ""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_referee(tmp_path: Path, number: signal.Signals) -> None:
    """However it ends, no worker is left, and the same command goes on in the middle of the match; none is void."""
    with running(tmp_path) as (referee, pids):
        referee.send_signal(number)
        assert referee.wait(60) == (1 if number == signal.SIGINT else -number)
        give_up = time.monotonic() + 10
        while any(map(is_alive, pids)):
            assert time.monotonic() < give_up
            time.sleep(0.02)
    run(tmp_path / "cup.toml")
    assert [entry["void"] for entry in entries(tmp_path)] == [None] * 3
    assert audit(tmp_path / "logs" / "cup") == ""
