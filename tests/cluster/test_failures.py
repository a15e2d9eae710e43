"""Hosts, scheduler and dispatcher are killed during matches: nobody is blamed, and nothing counts twice."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ..net.jobs.test_workers import entries
from ..net.tournaments.in_memory import lines_of
from ..net.tournaments.playing import audit
from .processes import GIVE_UP_S, Processes, wait_until

SAMPLE = Path(__file__).parents[2] / "sample_players" / "python_library" / "player.py"
DEALT = 4
"""Lines of a match's record before its first move: its seed is fixed, so there are no nonces."""
HELD = "held"
"""File that exists as long as our players do not move."""


@contextmanager
def running(folder: Path, processes: Processes) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a tournament until each host is in the middle of a match, which pauses there until `go_on`.

    Return its process.
    """
    own = folder / "own"
    own.mkdir()
    (own / "player.toml").write_text(f'name = "own"\nrun = "{sys.executable} player.py"\n')
    source = SAMPLE.read_text()
    head = "def choose(game: str, view: dict[str, Any]) -> Any:\n"
    assert head in source
    held = folder / HELD
    held.touch()
    wait = f"    while os.path.exists({str(held)!r}):\n        time.sleep(0.02)\n"
    (own / "player.py").write_text(f"import os, time\n{source}".replace(head, head + wait))
    players = ("own", "house:dag", "house:ldasg")
    entrants = "".join(f'[[entrants]]\nname = "p{number}"\nplayer = "{who}"\n' for number, who in enumerate(players))
    file = folder / "cup.toml"
    how = f'{entrants}[time]\nper_move = {GIVE_UP_S}\n[format]\nname = "gauntlet"\n'
    file.write_text(f'game = "q"\nseed = 6\nsandbox = "off"\n{how}')
    command = [sys.executable, "-m", "referee", "tournament", str(file), *processes.options]
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(busy(folder)) == len(processes.hosts), started)
        yield started
    finally:
        started.kill()
        started.wait()


def busy(folder: Path) -> set[str]:
    """Return the hosts that are in the middle of a match, by their names on record."""
    records = [lines_of(path) for path in (folder / "logs" / "cup" / ".away").glob("*.jsonl")]
    return {lines[1]["event"]["process"] for lines in records if len(lines) >= DEALT}


def go_on(folder: Path) -> None:
    """Let the matches go on."""
    (folder / HELD).unlink()


def dispatcher_of(referee: "subprocess.Popen[bytes]") -> int:
    """Return the number of the dispatcher's process."""
    children = Path(f"/proc/{referee.pid}/task/{referee.pid}/children").read_text().split()
    return next(int(pid) for pid in children if b"dispatcher" in Path("/proc", pid, "cmdline").read_bytes())


@pytest.mark.long
def test_a_host_that_is_killed_costs_its_match_one_replay(tmp_path: Path) -> None:
    """The match is void for the referee's fault, has its record up to then, and another host plays it again."""
    processes = Processes(tmp_path, 2)
    try:
        with running(tmp_path, processes) as referee:
            processes.hosts[0].send_signal(signal.SIGKILL)
            go_on(tmp_path)
            assert referee.wait(180) == 0
    finally:
        processes.close()
    found = entries(tmp_path)
    voided = [entry for entry in found if entry["void"] is not None]
    assert len(voided) == 1
    assert str(voided[0]["void"]).endswith("is gone")
    assert [entry["fouls"] for entry in found] == [[]] * len(found)
    fixture = voided[0]["fixture"]
    assert isinstance(fixture, dict)
    assert len(lines_of(tmp_path / "logs" / "cup" / f"{fixture['match']}.jsonl")) > DEALT
    assert audit(tmp_path / "logs" / "cup") == ""


@pytest.mark.long
def test_who_only_carries_is_replaced(tmp_path: Path) -> None:
    """The dispatcher is killed, then the scheduler: the hosts play on, no match is void, and each counts once.

    One host is asked to end in the meantime: it hands over its results, and ends.
    """
    processes = Processes(tmp_path, 2)
    try:
        with running(tmp_path, processes) as referee:
            os.kill(dispatcher_of(referee), signal.SIGKILL)
            processes.hosts[0].send_signal(signal.SIGTERM)
            processes.restart_scheduler()
            go_on(tmp_path)
            assert referee.wait(180) == 0
            assert processes.hosts[0].wait(180) == 0
    finally:
        processes.close()
    found = entries(tmp_path)
    assert [entry["void"] for entry in found] == [None] * len(found)
    assert len({str(entry["fixture"]) for entry in found}) == len(found)
    assert audit(tmp_path / "logs" / "cup") == ""
