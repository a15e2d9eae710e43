"""Workers that are killed in mid-match, outlive their referee, or play next to remote entrants."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from referee.match import events as e
from referee.net.links.tokens import add_tokens
from referee.record.audit.times import presences
from referee.record.reader import read_record

from ...ports import free_port
from ..tournaments.in_memory import lines_of
from ..tournaments.playing import audit, play_remotely, run, write_toml

MOVES = 8
"""Number of lines of a record after which its match is in the middle."""
REMOTE = """\
[remote]
listen = "tcp:{port}:interface=127.0.0.1"
tokens = "players.toml"

[[entrants]]
name = "ada"
player = "remote"

"""


@contextmanager
def running(folder: Path, durability: str) -> Iterator["tuple[subprocess.Popen[bytes], list[int]]"]:
    """Run a tournament of one match at a time until a match is in its middle; return the process and its workers'."""
    path = write_toml(folder, 'name = "roundrobin"', tables=2, size=3)
    path.write_text(f'durability = "{durability}"\n{path.read_text()}')
    options = ["--workers", "2", "--diagnostics", "log"]
    command = [sys.executable, "-m", "referee", "tournament", str(path), *options]
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        wait_for_moves(folder / "logs" / "cup", started)
        yield started, workers(folder)
    finally:
        started.kill()
        started.wait()


def wait_for_moves(records: Path, referee: "subprocess.Popen[bytes]") -> None:
    """Read the records in a loop until one has MOVES lines; heads can be published only after a quick match is over."""
    while all(len(lines_of(record)) < MOVES for record in records.glob("cup-*.jsonl")):
        assert referee.poll() is None
        os.sched_yield()


def wait_ended(pid: int) -> None:
    """Wait until a process has ended, for ten seconds at most."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([process], [], [], 10)
        assert ended
    finally:
        os.close(process)


def workers(folder: Path) -> list[int]:
    """Return the numbers of all worker processes that were ever started."""
    lines = map(json.loads, (folder / "log").read_text().splitlines())
    return [line["pid"] for line in lines if line["event"] == "worker-started"]


def noted(folder: Path, event: str) -> list[str]:
    """Return the matches for which an event was logged."""
    lines = map(json.loads, (folder / "log").read_text().splitlines())
    return [line["match"] for line in lines if line["event"] == event]


def entries(folder: Path) -> list[dict[str, Any]]:
    """Return the entry of each match."""
    events = [line.get("event", {}) for line in lines_of(folder / "logs" / "cup" / "cup.jsonl")]
    return [event["entry"] for event in events if event.get("event") == "match-closed"]


def test_a_worker_that_is_killed_costs_its_match_one_replay(tmp_path: Path) -> None:
    """The match is void for the referee's fault, and another worker plays it again; the audit holds."""
    with running(tmp_path, "turn") as (referee, pids):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        assert referee.wait(60) == 0
    found = entries(tmp_path)
    voided = [entry["void"] for entry in found if entry["void"] is not None]
    assert len(voided) == 1
    assert "signal SIGKILL" in str(voided[0])
    assert (len(found), [entry["fouls"] for entry in found]) == (4, [[]] * 4)
    assert len(workers(tmp_path)) == 4
    assert sorted(noted(tmp_path, "match-ended")) == sorted(entry["fixture"]["match"] for entry in found)
    assert audit(tmp_path / "logs" / "cup") == ""


@pytest.mark.parametrize(("number", "durability"), [(signal.SIGKILL, "match"), (signal.SIGINT, "turn")])
def test_workers_end_with_their_referee(tmp_path: Path, number: signal.Signals, durability: str) -> None:
    """However the referee ends, no worker is left. The same command continues the match, and none is void."""
    with running(tmp_path, durability) as (referee, pids):
        referee.send_signal(number)
        assert referee.wait(60) == (1 if number == signal.SIGINT else -number)
        for pid in pids:
            wait_ended(pid)
    run(tmp_path / "cup.toml")
    assert [entry["void"] for entry in entries(tmp_path)] == [None] * 3
    assert audit(tmp_path / "logs" / "cup") == ""


def test_remote_entrants_play_beside_workers(tmp_path: Path) -> None:
    """The first process plays their matches, a worker all others. The metrics count all, and each turn is synced."""
    ports = free_port(), free_port()
    token = add_tokens(tmp_path / "players.toml", ["ada"], may_renew=False)["ada"]
    path = write_toml(tmp_path, 'name = "roundrobin"', tables=2, size=2)
    top, others = path.read_text().split("[[entrants]]", 1)
    path.write_text(f'durability = "turn"\n{top}{REMOTE.format(port=ports[0])}[[entrants]]{others}')
    counted: list[str] = []
    os.mkfifo(tmp_path / "events")
    coming = threading.Thread(target=come_once_counted, args=(tmp_path / "events", *ports, token, counted), daemon=True)
    coming.start()
    options = ["--metrics", f"tcp:{ports[1]}:interface=127.0.0.1", "--diagnostics", str(tmp_path / "events")]
    run(path, "--workers", "1", *options)
    coming.join(60)
    assert audit(tmp_path / "logs" / "cup") == ""
    begun = lines_of(tmp_path / "logs" / "cup" / "cup.jsonl")[1]["event"]["processes"]
    records = [read_record(record) for record in (tmp_path / "logs" / "cup").glob("cup-*.jsonl")]
    assert len(records) == 3
    assert {record.header.durability for record in records} == {"turn"}
    (apart,) = (record for record in records if "ada" not in record.header.setup.names)
    assert [presences(record)[0].process for record in records if record is not apart] == [begun[0]] * 2
    assert presences(apart)[0].process == begun[1]
    answers = sum(isinstance(step.event, e.Answer) for step in apart.transitions)
    assert f'referee_answer_seconds_count{{game="q"}} {answers}.0' in counted[0]
    assert 'referee_matches_total{end="played",game="q"} 1.0' in counted[0]
    assert "referee_matches_running 0.0" in counted[0]
    assert 'referee_connections_total{event="welcomed"} 2.0' in counted[0]


def come_once_counted(events: Path, listen: int, monitor: int, token: str, counted: list[str]) -> None:
    """Play as a remote entrant once the match between the others has ended, and store the metrics of that moment."""
    with events.open() as lines:
        for line in lines:
            if json.loads(line)["event"] == "match-ended" and not counted:
                counted.append(urlopen(f"http://127.0.0.1:{monitor}/metrics", timeout=10).read().decode())
                threading.Thread(target=play_remotely, args=(listen, token), daemon=True).start()
