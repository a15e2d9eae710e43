"""Tournaments with hostile folders: each costs only its own entrant's matches."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from referee.app.tournaments.beginning import hash_programs
from referee.files.scratch import remove
from referee.tournament.spec import Participant

from .calling import referee
from .test_tournament import entries

PYTHON = shlex.quote(sys.executable)
NEST = "import os\nfor _ in range(0 if os.path.exists('deep') else 1500):\n    os.mkdir('deep')\n    os.chdir('deep')\n"
CLOSE = "import os\nopen('secret', 'w').close()\nos.chmod('secret', 0)\n"
SPEC = """\
game = "quincy"
entrants = ["house:random", "house:random"]
entrants_from = "in"
seed = 4
sandbox = "off"

[format]
name = "roundrobin"
"""
WHY = {
    "deep": "folders more than 64 deep",
    "closed": "secret can't be read: its mode is 000",
    "nester": "exit status 0",
    "odd": "odd",
}


def hostile(folder: Path, *, build: str = "", run: str = "pass\n") -> None:
    """Make a player's folder."""
    folder.mkdir()
    (folder / "make.py").write_text(build)
    (folder / "run.py").write_text(run)
    lines = {"name": folder.name, "run": f"{PYTHON} run.py"} | ({"build": f"{PYTHON} make.py"} if build else {})
    (folder / "player.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items()))


def test_a_hostile_folder_is_one_entrants_alone(tmp_path: Path) -> None:
    """Some builds nest or lock folders, a program nests them during a match, and an interpreter is not a path.

    The others play their matches, the standings are made, and the same command says that the tournament is over.
    """
    folder = tmp_path / "in"
    folder.mkdir()
    hostile(folder / "deep", build=NEST)
    hostile(folder / "closed", build=CLOSE)
    hostile(folder / "nester", run=NEST)
    hostile(folder / "odd")
    (folder / "odd" / "odd").write_bytes(b"#!/x\0y\n")
    (folder / "odd" / "odd").chmod(0o755)
    (folder / "odd" / "player.toml").write_text('name = "odd"\nrun = "./odd"\n')
    (tmp_path / "t.toml").write_text(SPEC)
    try:
        referee("tournament", "t.toml", cwd=tmp_path)
        again = referee("tournament", "t.toml", cwd=tmp_path)
    finally:
        remove(folder / "nester" / "deep")
    assert "nester is left out" in again.stderr
    found = entries(tmp_path, "t")
    whys = {(entry["names"][foul["seat"]], foul["detail"]) for entry in found for foul in entry["fouls"]}
    assert {name for name, _ in whys} == set(WHY)
    assert [(name, why) for name, why in whys if WHY[name] not in why] == []
    clean = [entry for entry in found if not entry["fouls"]]
    assert [sorted(entry["names"]) for entry in clean] == [["random1", "random2"]]


@pytest.mark.parametrize("what", ["deep", "closed"])
def test_who_has_no_digest_stops_no_other(tmp_path: Path, what: str) -> None:
    """A folder that can't be read has no digest; its player fails when it is started."""
    (tmp_path / "good").mkdir()
    bad = tmp_path / "bad"
    bad.mkdir()
    if what == "closed":
        (bad / "secret").mkdir()
        (bad / "secret").chmod(0)
    else:
        bad.joinpath(*["deep"] * 65).mkdir(parents=True)
    found = hash_programs(Participant(name=name, player=str(tmp_path / name)) for name in ("bad", "good"))
    assert found.keys() == {"good"}
