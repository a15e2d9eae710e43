"""A tournament on a real cluster of this machine: the same matches, results and records as without one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee import __version__

from ..net.tournaments.playing import audit, outcome, run
from .processes import Processes, wait_until
from .troubles import closed

SAMPLE = Path(__file__).parents[2] / "sample_players" / "python_library"


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Yield a scheduler with two hosts."""
    found = Processes(tmp_path_factory.mktemp("cluster"), 2)
    yield found
    found.close()


def write(folder: Path) -> Path:
    """Write the file of a tournament with a program of its own, and a command; return its path."""
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
    """In one process, by workers, and on hosts: the same deals, results and standings; all records hold.

    So is what programs print.
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
    assert len(found[0]["matches"]) == 3
    assert found[0] == found[1] == found[2]
    assert "crashed" not in str(found)
    assert printed[0] == printed[1] == printed[2]
    assert list(printed[0].values()) == ["I begin"] * 4


def test_a_program_that_one_host_cannot_start(tmp_path: Path, processes: Processes) -> None:
    """What it needs is missing there: no match of it counts there, and all are played on the other host."""
    path = write(tmp_path)
    program = tmp_path / "own" / "player.py"
    program.write_text(f"import os\nif '/host0/' in os.getcwd():\n    import missing\n{program.read_text()}")
    houses = "".join(f'[[entrants]]\nname = "h{number}"\nplayer = "house:dag"\n' for number in range(2))
    head = 'game = "q"\nseed = 6\ntables = 4\nsandbox = "off"\n[[entrants]]\nname = "own"\nplayer = "own"\n'
    path.write_text(f'{head}{houses}[format]\nname = "gauntlet"\n')
    run(path, *processes.options)
    folder = tmp_path / "logs" / "cup"
    found = closed(folder / "cup.jsonl")
    voided = [entry for entry in found if entry["void"] is not None]
    assert voided
    assert [entry["fouls"] for entry in found] == [[]] * (len(voided) + 4)
    for entry in voided:
        assert "could not start own" in entry["void"]
        printed = [path.read_text() for path in folder.glob(f"{entry['fixture']['match']}.*.stderr")]
        assert ["No module named 'missing'" in text for text in printed] == [True]
    assert audit(folder) == ""


def test_the_doctor_asks_hosts(processes: Processes) -> None:
    """Each says what it plays, what is installed there, and what it can't enforce."""
    wait_until(lambda: all("connected to" in processes.printed(f"host{number}") for number in range(2)))
    command = (sys.executable, "-m", "referee", "doctor", *processes.options, "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    hosts = json.loads(done.stdout)["hosts"]
    assert [(host["tables"], host["why"]) for host in hosts] == [(1, "")] * 2
    assert [(host["report"]["playing"], host["report"]["referee"]) for host in hosts] == [(0, __version__)] * 2
    is_fine = all(not host["report"]["missing"] for host in hosts)
    assert done.returncode == (0 if is_fine else 1)
