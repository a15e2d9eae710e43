"""A tournament on a real cluster of this machine has the same matches, results and records as without one."""

import json
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import __version__
from referee.net.links.tokens import add_tokens
from referee.record.audit.times import presences
from referee.record.reader import read_record

from ..net.tournaments.in_memory import lines_of
from ..net.tournaments.playing import audit, outcome, play_remotely, run, write_toml
from ..ports import free_port
from .processes import Processes, wait_until
from .troubles import closed

SAMPLE = Path(__file__).parents[2] / "sample_players" / "python_library"


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Yield a scheduler with two hosts."""
    found = Processes(tmp_path_factory.mktemp("cluster"), 2, is_monitored=True)
    yield found
    found.close()


def write(folder: Path) -> Path:
    """Write the file of a tournament with a player's folder and a command; return its path."""
    own = folder / "own"
    own.mkdir()
    (own / "player.py").write_text(f"print('I begin')\n{(SAMPLE / 'player.py').read_text()}")
    (own / "player.toml").write_text(f'name = "own"\nrun = "{sys.executable} player.py"\n')
    players = ("house:dag", "own", f"cmd:{sys.executable} own/player.py")
    entrants = "".join(f'[[entrants]]\nname = "p{number}"\nplayer = "{who}"\n' for number, who in enumerate(players))
    path = folder / "cup.toml"
    head = 'game = "q"\nseed = 6\ntables = 2\nsandbox = "off"\n'
    path.write_text(f'{head}{entrants}[format]\nname = "roundrobin"\n')
    return path


def test_the_same_tournament_wherever_it_is_played(tmp_path: Path, processes: Processes) -> None:
    """In one process, with workers and on hosts, deals, results and standings are equal, and all records valid.

    The output of programs is the same, too, and each host's metrics count its matches.
    """
    found, printed = [], []
    for name, options in (("here", ()), ("workers", ("--workers", "2")), ("hosts", processes.options)):
        folder = tmp_path / name
        folder.mkdir()
        run(write(folder), *options)
        assert audit(folder / "logs" / "cup") == ""
        found.append(outcome(folder / "logs" / "cup" / "cup.jsonl"))
        files = (folder / "logs" / "cup").glob("cup-*.stderr")
        printed.append({path.name: path.read_text().splitlines()[-1] for path in files})
    came = [line["event"] for line in lines_of(folder / "logs" / "cup" / "cup.jsonl") if "event" in line]
    hosts = {event["host"]: event["calibration"]["tables"] for event in came if event["event"] == "host-came"}
    assert set(hosts.values()) == {1}
    assert len(found[0]["matches"]) == 3
    assert found[0] == found[1] == found[2]
    assert "crashed" not in str(found)
    assert printed[0] == printed[1] == printed[2]
    assert list(printed[0].values()) == ["I begin"] * 4
    pages = "".join(processes.metrics(str(number)) for number in range(2))
    assert re.findall(r"^referee_matches_total.* (\S+)$", pages, re.MULTILINE) == ["1.0"]  # the command runs here
    assert pages.count("referee_stall_seconds_count") == 2


MISSING = '"/host0/" in __import__("os").getcwd() and __import__("missing")\n'
"""Python code that fails on one of the hosts."""
MOVING = "    rules = GAMES[game]\n"
LATE = """\
    choose.turns = getattr(choose, "turns", 0) + 1
    if choose.turns == 3:
        mark, here = __import__("pathlib").Path({mark!r}), str("/host0/" in os.getcwd())
        if not mark.exists():
            mark.write_text(here)
        assert mark.read_text() != here, "missing"
"""
"""Program that fails in the third turn on the host that reaches it first."""
LACKING: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("builder", f'build = "{sys.executable} build.py"\n', lambda text: text),
    ("mover", "", lambda text: text.replace(MOVING, f"    {MISSING}{MOVING}")),
)
"""Name of the failure, content of player.toml, and changes of the sample's text."""


def test_programs_that_one_host_cannot_run(tmp_path: Path, processes: Processes) -> None:
    """One host lacks something for their build or moves: nobody is blamed, and all matches are played."""
    entrants = '[[entrants]]\nname = "house"\nplayer = "house:random"\n'
    for name, build, changed in LACKING:
        own = tmp_path / name
        own.mkdir()
        (own / "build.py").write_text(MISSING)
        text = changed((SAMPLE / "player.py").read_text()).replace("{mark!r}", repr(str(tmp_path / "mark")))
        (own / "player.py").write_text(text)
        (own / "player.toml").write_text(f'name = "{name}"\nrun = "{sys.executable} player.py random"\n{build}')
        entrants += f'[[entrants]]\nname = "{name}"\nplayer = "{name}"\n'
    path = tmp_path / "cup.toml"
    head = 'game = "quincy"\nseed = 6\ntables = 8\nsandbox = "off"\n'
    path.write_text(f'{head}{entrants}[format]\nname = "gauntlet"\n')
    run(path, *processes.options)
    folder = tmp_path / "logs" / "cup"
    found = closed(folder / "cup.jsonl")
    voided = [entry["void"] for entry in found if entry["void"] is not None]
    assert [entry["fouls"] for entry in found] == [[]] * (len(voided) + 2 * len(LACKING))
    assert voided
    assert all(" could not run " in why for why in voided)
    assert audit(folder) == ""


REMOTE = """\
[[entrants]]
name = "ada"
player = "remote"
[remote]
listen = "tcp:{port}:interface=127.0.0.1"
tokens = "players.toml"
"""


def test_a_remote_entrant_plays_beside_hosts(tmp_path: Path, processes: Processes) -> None:
    """Its matches are played in the process that it connects to, the others on a host; all records pass the audit."""
    token, port = add_tokens(tmp_path / "players.toml", ["ada"], may_renew=False)["ada"], free_port()
    path = write_toml(tmp_path, 'name = "roundrobin"', tables=2, size=2)
    path.write_text(f"{path.read_text()}{REMOTE.format(port=port)}")
    ada = threading.Thread(target=play_remotely, args=(port, token), daemon=True)
    ada.start()
    run(path, *processes.options)
    ada.join(60)
    folder = tmp_path / "logs" / "cup"
    assert [(entry["void"], entry["fouls"]) for entry in closed(folder / "cup.jsonl")] == [(None, [])] * 3
    events = [line["event"] for line in lines_of(folder / "cup.jsonl") if "event" in line]
    hosts = {event["process"] for event in events if event["event"] == "host-came"}
    for entry in closed(folder / "cup.jsonl"):
        is_remote = 2 in entry["fixture"]["entrants"]
        assert played_by(folder, entry) in ({events[0]["processes"][0]} if is_remote else hosts)
    assert audit(folder) == ""


def played_by(folder: Path, entry: dict[str, Any]) -> str:
    """Return the process that played a match, from its record."""
    return presences(read_record(folder / f"{entry['fixture']['match']}.jsonl"))[0].process


FULL_BYTES = 16_384
"""A quarter of the size of a short match's record."""


def test_a_host_whose_disk_is_full(tmp_path: Path, processes: Processes) -> None:
    """A match whose record does not fit is void, and played on the other host; no player is blamed."""
    path = write_toml(tmp_path, 'name = "roundrobin"', tables=2)
    wait_until(processes.are_connected)
    size = processes.hosts[0].pid, resource.RLIMIT_FSIZE
    before = resource.prlimit(*size)
    resource.prlimit(*size, (FULL_BYTES, before[1]))
    try:
        run(path, *processes.options)
    finally:
        resource.prlimit(*size, before)
    folder = tmp_path / "logs" / "cup"
    found = closed(folder / "cup.jsonl")
    voided = [entry for entry in found if entry["void"] is not None]
    counted = [entry for entry in found if entry["void"] is None]
    assert sorted(entry["fixture"]["number"] for entry in counted) == sorted(
        {entry["fixture"]["number"] for entry in found}
    )
    assert [entry["fouls"] for entry in found] == [[]] * len(found)
    assert {entry["void"].split(": ")[1] for entry in voided} == {"NotWritten"}
    (full_host,) = {played_by(folder, entry) for entry in voided}
    (other_host,) = {played_by(folder, entry) for entry in counted}
    assert full_host != other_host
    assert audit(folder) == ""


def test_the_doctor_asks_hosts(processes: Processes) -> None:
    """Each host reports its games, its installed programs, and the limits that it can't enforce."""
    wait_until(processes.are_connected)
    command = (sys.executable, "-m", "referee", "doctor", *processes.options, "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    hosts = json.loads(done.stdout)["hosts"]
    assert [(host["tables"], host["why"]) for host in hosts] == [(1, "")] * 2
    assert [(host["report"]["playing"], host["report"]["referee"]) for host in hosts] == [(0, __version__)] * 2
    is_fine = all(not host["report"]["missing"] for host in hosts)
    assert done.returncode == (0 if is_fine else 1)
