"""The commands where programs are confined: what is told of a machine, and what is played on it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .calling import played, referee

DEAF = "import time\ntime.sleep(1000)\n"
CHEAP = ["play", "q", "cmd:false", "cmd:false"]
"""Two programs that never say hello: the match is over at once."""


def without_bubblewrap(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where bubblewrap is not to be found."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "false"):
        (tools / name).symlink_to(f"/bin/{name}")
    return subprocess.run(
        [sys.executable, "-m", "referee", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("mode", "status", "complaint"),
    [
        ("auto", 0, "programs run without a sandbox, and can read and write what you can: bubblewrap is not installed"),
        ("required", 2, "--sandbox required: bubblewrap is not installed; install bubblewrap"),
        ("off", 0, ""),
    ],
)
def test_no_sandbox_to_be_had(tmp_path: Path, mode: str, status: int, complaint: str) -> None:
    """One line of warning, a refusal, or nothing, as the organiser wants it; a refused match leaves no record."""
    done = without_bubblewrap(tmp_path, *CHEAP, "--sandbox", mode)
    assert status == done.returncode, done.stderr
    told = " ".join(done.stderr.replace("│", " ").split())
    assert complaint in told
    assert ("without a sandbox" in told) == (mode == "auto")
    assert (tmp_path / "logs").exists() == (status == 0)


def test_the_doctor_tells_what_is_missing(tmp_path: Path) -> None:
    """Each finding is fine or has a remedy, and the exit status says whether all are fine."""
    done = without_bubblewrap(tmp_path, "doctor", "--json")
    report = json.loads(done.stdout)
    findings = {finding["name"]: finding for finding in report["findings"]}
    assert (done.returncode, report["is_fine"]) == (1, False)
    assert findings["sandbox"]["detail"] == "bubblewrap is not installed"
    assert "install bubblewrap" in findings["sandbox"]["remedy"]
    assert [bool(finding["remedy"]) for finding in findings.values()] == [
        not finding["is_fine"] for finding in findings.values()
    ]


def test_the_doctor_tries_this_machine(tmp_path: Path) -> None:
    """The sandbox of the tests' machine works; a person is shown the same findings as a program."""
    status = subprocess.run([sys.executable, "-m", "referee", "doctor"], cwd=tmp_path, capture_output=True, check=False)
    report = played(referee("doctor", "--json", cwd=tmp_path, status=status.returncode))
    assert report["is_fine"] == (status.returncode == 0)
    assert {finding["name"]: finding["is_fine"] for finding in report["findings"]}["sandbox"]
    assert all(finding["name"].encode() in status.stdout for finding in report["findings"])
    assert list(tmp_path.iterdir()) == []


def test_a_build_is_run_before_the_match(tmp_path: Path) -> None:
    """A folder is built once, and says so; what it printed stands beside the records."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "player.toml").write_text('name = "mine"\nrun = "./made"\nbuild = "ln -f source made"\n')
    (folder / "source").write_text("#!/bin/sh\necho nothing to say\n")
    (folder / "source").chmod(0o755)
    for is_first in (True, False):
        done = referee("play", "q", "mine", "house:dag", cwd=tmp_path)
        assert ("built mine" in done.stderr) == is_first
        assert "exit status 0: nothing to say" in " ".join(done.stderr.split())
    assert {"built", "lock", "log"} == {path.name.split(".")[-1] for path in (tmp_path / "logs" / ".builds").iterdir()}


def test_a_failing_build_stops_everything(tmp_path: Path) -> None:
    """Its last words are told, and no match is played."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "player.toml").write_text('name = "mine"\nrun = "true"\nbuild = "sh -c \'echo no compiler; exit 3\'"\n')
    done = referee("play", "q", "mine", "house:dag", cwd=tmp_path, status=2, is_stopped_early=True)
    assert "exit status 3; it said: no compiler" in " ".join(done.stderr.replace("│", " ").split())
    assert list((tmp_path / "logs").glob("*.jsonl")) == []


def test_a_crash_is_told_with_its_reason(tmp_path: Path) -> None:
    """The verdict has how the program ended, and before all else the error that it printed."""
    script = "from protocol.client import run\nrun(lambda view: 1 // 0)\n"
    (tmp_path / "bad.py").write_text(script)
    found: Any = played(referee("play", "q", f"cmd:{sys.executable} bad.py", "house:dag", "--json", cwd=tmp_path))
    (foul,) = found["result"]["fouls"]
    assert foul["cause"] == "crashed"
    assert foul["detail"].startswith("exit status 1: ZeroDivisionError: integer division or modulo by zero")
