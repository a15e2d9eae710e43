"""Commands and the sandbox: the report on a machine, and matches on it."""

import contextlib
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.app.services import RefereeOptions, find_confinement
from referee.errors import BadRequest
from referee.programs.system_calls import NoFilterError
from referee.settings import RunTerms, SandboxMode

from .. import warm
from .calling import played, referee

DEAF = "import time\nopen('up', 'w').close()\ntime.sleep(1000)\n"
"""Program that opens a pipe, at whose other end a test waits, and does nothing else."""
CHEAP = ["play", "q", "cmd:false", "cmd:false"]
"""Two programs that never say hello, so the match is over at once."""


def without_bubblewrap(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in an environment without bubblewrap."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "false"):
        (tools / name).symlink_to(f"/bin/{name}")
    return warm.run(arguments, cwd=folder, env={**os.environ, "PATH": str(tools)})


@pytest.mark.parametrize(
    ("mode", "status", "complaint"),
    [
        ("auto", 0, "programs run without a sandbox, and can read and write what you can: bubblewrap is not installed"),
        ("required", 2, "--sandbox required: bubblewrap is not installed; install bubblewrap"),
        ("off", 0, ""),
    ],
)
def test_no_sandbox_to_be_had(tmp_path: Path, mode: str, status: int, complaint: str) -> None:
    """The option decides: one line of warning, a refusal, or nothing. A refused match leaves no record."""
    done = without_bubblewrap(tmp_path, *CHEAP, "--sandbox", mode)
    assert status == done.returncode, done.stderr
    told = " ".join(done.stderr.replace("│", " ").split())
    assert complaint in told
    assert ("without a sandbox" in told) == (mode == "auto")
    assert (tmp_path / "logs").exists() == (status == 0)


@pytest.mark.needs("bwrap")
def test_a_sandbox_without_a_filter_is_not_what_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without libseccomp nothing is played with `required`; otherwise a warning is printed."""

    def _none() -> bytes:
        raise NoFilterError("no filter of system calls: none here", "install libseccomp")

    monkeypatch.setattr("referee.programs.sandbox.system_call_filter", _none)
    with pytest.raises(BadRequest, match="--sandbox required: no filter of system calls: none here; install"):
        find_confinement(RefereeOptions(terms=RunTerms(sandbox=SandboxMode.REQUIRED)), tmp_path)
    said: list[str] = []
    assert find_confinement(RefereeOptions(say=said.append), tmp_path).sandbox is not None
    assert "is incomplete: no filter of system calls" in said[0]


@pytest.mark.parametrize("mode", [pytest.param("required", marks=pytest.mark.needs("bwrap")), "off"])
def test_a_killed_referee_takes_its_programs_with_it(tmp_path: Path, mode: str) -> None:
    """However it is killed, its programs end at once, in a sandbox and without one."""
    (tmp_path / "deaf.py").write_text(DEAF)
    os.mkfifo(tmp_path / "up")
    players = [f"cmd:{sys.executable} deaf.py {tmp_path}", "house:dag"]
    command = [sys.executable, "-m", "referee", "play", "q", *players, "--start-time", "1000", "--sandbox", mode]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as referee_process:
        (tmp_path / "up").read_bytes()  # until the program runs
        (pid,) = running(f"{sys.executable}\0deaf.py\0{tmp_path}\0")
        descriptor = os.pidfd_open(pid)
        referee_process.kill()
        assert select.select([descriptor], [], [], 60)[0]
        os.close(descriptor)


def running(command_line: str) -> list[int]:
    """Return the processes with a command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_text() == command_line:
                found.append(int(path.parent.name))
    return found


@pytest.mark.needs("bwrap")
def test_what_the_referee_writes_is_hidden(tmp_path: Path) -> None:
    """A program can't read diagnostics, output in the current folder, and records of other runs."""
    for name in ("mine.txt", "old/kept.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words\n")
    look = "cmd:sh -c 'ls; cat mine.txt told notes'"
    command = [sys.executable, "-m", "referee", "play", "q", look, "house:dag", "--diagnostics", "notes"]
    with (tmp_path / "told").open("w") as told:
        done = subprocess.run(command, cwd=tmp_path, stdout=told, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, (tmp_path / "notes").stat().st_size > 0) == (0, True), done.stderr
    (printed,) = (tmp_path / "logs").glob("*.seat0.*.stderr")
    refused = [f"cat: {name}: Permission denied" for name in ("told", "notes")]
    assert sorted(["logs", "mine.txt", "notes", "old", "told", "words", *refused]) == sorted(
        printed.read_text().splitlines()
    )


def test_the_organiser_sets_the_memory(tmp_path: Path) -> None:
    """A program is sent its memory limit, and its author is told when the memory was not enough."""
    player = "cmd:sh -c 'echo I have $REFEREE_MEMORY_MIB MiB; exit 3'"
    found: Any = played(referee("play", "q", player, "house:dag", "--json", "--memory", "100", cwd=tmp_path))
    assert found["result"]["fouls"][0]["detail"].startswith("exit status 3: I have 100 MiB")
    for wrong in ("63", "1048577", "much"):
        referee(*CHEAP, "--memory", wrong, cwd=tmp_path, status=2, is_stopped_early=True)


@pytest.mark.needs("bwrap")
def test_each_seat_has_its_own_copy(tmp_path: Path) -> None:
    """No two programs are shown the same file in any match, and all copies are removed."""
    folder, temporary = tmp_path / "mine", tmp_path / "t"  # a short name: the path of a socket has 107 bytes at most
    folder.mkdir()
    temporary.mkdir()
    (folder / "player.toml").write_text(f'name = "mine"\nrun = "{sys.executable} player.py"\n')
    (folder / "player.py").write_text("import os, sys\nsys.exit(str(os.stat(__file__).st_ctime_ns))\n")
    told = {str((folder / "player.py").stat().st_ctime_ns)}
    for _ in range(2):
        environment = {**os.environ, "TMPDIR": str(temporary)}
        done = warm.run(["play", "q", "mine", "mine", "--json"], cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        fouls = json.loads(done.stdout)["result"]["fouls"]
        told |= {foul["detail"].split(": ")[1].split(";")[0] for foul in fouls}
    assert len(told) == 1 + 2 * 2
    assert all(name.isdecimal() for name in told)
    assert list(temporary.iterdir()) == []


def test_the_doctor_tells_what_is_missing(tmp_path: Path) -> None:
    """Each finding is fine or has a remedy, and the exit status says whether all are fine."""
    done = without_bubblewrap(tmp_path, "doctor", "--json")
    report = json.loads(done.stdout)
    findings = {finding["name"]: finding for finding in report["findings"]}
    assert (done.returncode, report["is_fine"]) == (1, False)
    assert findings["sandbox"]["detail"] == "bubblewrap is not installed"
    assert "install bubblewrap" in findings["sandbox"]["remedy"]
    assert "get the sandbox" in findings["system calls"]["remedy"]
    assert "install util-linux" in findings["process limits"]["remedy"]
    assert [bool(finding["remedy"]) for finding in findings.values()] == [
        not finding["is_fine"] for finding in findings.values()
    ]


@pytest.mark.needs("bwrap")
def test_the_doctor_tries_this_machine(tmp_path: Path) -> None:
    """The sandbox of this machine works; people and programs are shown the same findings."""
    status = warm.run(["doctor"], cwd=tmp_path)
    report = played(referee("doctor", "--json", cwd=tmp_path, status=status.returncode))
    assert report["is_fine"] == (status.returncode == 0)
    fine = {finding["name"] for finding in report["findings"] if finding["is_fine"]}
    assert {"sandbox", "system calls", "keyrings", "nothing is left behind"} <= fine
    assert "512 MiB of memory" in next(
        found["detail"] for found in report["findings"] if found["name"] == "process limits"
    )
    assert all(finding["name"] in status.stdout for finding in report["findings"])
    assert list(tmp_path.iterdir()) == []


def test_a_build_is_run_before_the_match(tmp_path: Path) -> None:
    """A folder is built once, also for comparisons, with a message; the build's output is next to the records."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "player.toml").write_text('name = "mine"\nrun = "./made"\nbuild = "ln -f source made"\n')
    (folder / "source").write_text("#!/bin/sh\necho nothing to say\n")
    (folder / "source").chmod(0o755)
    played = referee("play", "q", "mine", "house:dag", cwd=tmp_path)
    compared = referee("compare", "mine", "house:dag", "--game", "q", "--pairs", "1", cwd=tmp_path, status=1)
    assert ["built mine" in done.stderr for done in (played, compared)] == [True, False]
    for done in (played, compared):
        assert "exit status 0: nothing to say" in " ".join((done.stdout + done.stderr).split())
    assert {"built", "lock", "log"} == {path.name.split(".")[-1] for path in (tmp_path / "logs" / ".builds").iterdir()}


def test_a_failing_build_stops_everything(tmp_path: Path) -> None:
    """The end of its output is printed, and no match is played."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "player.toml").write_text('name = "mine"\nrun = "true"\nbuild = "sh -c \'echo no compiler; exit 3\'"\n')
    done = referee("play", "q", "mine", "house:dag", cwd=tmp_path, status=1, is_stopped_early=True)
    told = " ".join(done.stderr.replace("│", " ").split())
    assert "exit status 3 (all of it is in " in told
    assert ": no compiler" in told
    assert list((tmp_path / "logs").glob("*.jsonl")) == []


def test_a_crash_is_told_with_its_reason(tmp_path: Path) -> None:
    """The verdict has how the program ended, and the end of its output."""
    script = "from protocol.client import run\nrun(lambda view: 1 // 0)\n"
    (tmp_path / "bad.py").write_text(script)
    found: Any = played(referee("play", "q", f"cmd:{sys.executable} bad.py", "house:dag", "--json", cwd=tmp_path))
    (foul,) = found["result"]["fouls"]
    assert foul["cause"] == "crashed"
    assert foul["detail"].startswith("exit status 1: ")
    assert foul["detail"].endswith("ZeroDivisionError: integer division or modulo by zero (bad.py:2, in <lambda>)")
