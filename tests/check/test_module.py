"""`python -m referee.check`: one check in its own process, as the queue of submissions starts it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN = Path(__file__).parents[1] / "peers" / "broken" / "player.py"


def checked(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Check the player in the folder `player`, from the folder around it."""
    command = [sys.executable, "-m", "referee.check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("changes", "step", "happened"),
    [
        ({"run": "./missing"}, "command", "can't start ./missing"),
        ({"build": "false"}, "build", "its build failed"),
        ({"run": f"{sys.executable} player.py exits"}, "connects", "exit status 3"),
    ],
)
def test_the_report_names_no_folder_of_the_machine(
    tmp_path: Path, changes: dict[str, str], step: str, happened: str
) -> None:
    """The report on a player with a relative path has only relative paths."""
    folder = tmp_path / "player"
    folder.mkdir()
    (folder / "player.py").write_bytes(BROKEN.read_bytes())
    keys = {"name": "mine", "run": f"{sys.executable} player.py none", **changes}
    (folder / "player.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))
    done = checked(tmp_path, "player")
    *steps, report = (json.loads(line) for line in done.stdout.splitlines())
    assert [line["step"] for line in steps] == report["steps"]
    (failed,) = (found for found in report["steps"] if found["verdict"] == "failed")
    assert (done.returncode, report["passes"], report["player"], failed["key"]) == (1, False, "player", step)
    assert happened in failed["trouble"]["happened"]
    assert str(tmp_path) not in done.stdout


def test_a_failed_build_is_shown_with_its_lines(tmp_path: Path) -> None:
    """And without the file of its output, which an author who hands in can't read."""
    folder = tmp_path / "player"
    folder.mkdir()
    (folder / "player.toml").write_text('name = "mine"\nbuild = "sh build.sh"\nrun = "./player"\n')
    (folder / "build.sh").write_text("echo error: no main\necho 1 error\nexit 1\n")
    report = json.loads(checked(tmp_path, "player").stdout.splitlines()[-1])
    (failed,) = (found for found in report["steps"] if found["verdict"] == "failed")
    assert failed["trouble"]["happened"] == "mine: its build failed: sh build.sh: exit status 1"
    assert failed["trouble"]["printed"] == "error: no main\n1 error\n"


def test_what_cannot_be_checked_is_said(tmp_path: Path) -> None:
    """Exit status 2, nothing on stdout, and the reason on stderr."""
    done = checked(tmp_path, "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no folder nowhere" in done.stderr
