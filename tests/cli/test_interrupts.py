"""Ctrl-C and SIGTERM: the first one asks a command to end, the second one ends it at once, without a message."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .calling import referee

REFEREE = """
import sys
from referee.cli.main import main
from referee.programs.program import Program
Program.end.__defaults__ = (600.0,)  # so long does it wait for a program to end by itself
main(prog_name="referee")
"""
PLAYER = """
import os, signal
from protocol.client import run
print("pid", os.getpid(), flush=True)
run(lambda view: {MOVE}, say=None)
print("let go", flush=True)
signal.pause()
"""
THINKING = PLAYER.replace("{MOVE}", "print('thinking', flush=True) or signal.pause()")
PASSING = PLAYER.replace("{MOVE}", "{'action': 'pass'}")


def wait_for(folder: Path, seat: int, text: str) -> str:
    """Wait until a player has printed a text, and return its whole output."""
    give_up = time.monotonic() + 60
    while True:
        for path in folder.glob(f"*.seat{seat}.*.stderr"):
            if text in (printed := path.read_text()):
                return printed
        assert time.monotonic() < give_up, f"seat {seat} never printed {text!r}"
        os.sched_yield()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_one_ends_a_match_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """The first one waits for programs to end. The match goes on from its record, which holds."""
    (tmp_path / "thinking.py").write_text(THINKING)
    (tmp_path / "passing.py").write_text(PASSING)
    players = [f"cmd:{sys.executable} {name}.py" for name in ("thinking", "passing")]
    arguments = ["play", "q", *players, "--seed", "7", "--time", "600", "--sandbox", "off"]
    command = [sys.executable, "-c", REFEREE, *arguments]
    logs, pids = tmp_path / "logs", []
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        try:
            pids = [int(wait_for(logs, seat, word).split()[1]) for seat, word in ((0, "thinking"), (1, "pid"))]
            running.send_signal(number)
            wait_for(logs, 1, "let go")
            running.send_signal(number)
            _, told = running.communicate(timeout=60)
        finally:
            running.kill()
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    assert running.returncode == 128 + number
    assert "rror" not in told
    assert "Traceback" not in told
    (tmp_path / "thinking.py").write_text(PASSING.replace("signal.pause()", ""))
    (tmp_path / "passing.py").write_text(PASSING.replace("signal.pause()", ""))
    (record,) = logs.glob("*.jsonl")
    referee("play", "--resume", str(record), cwd=tmp_path)
    referee("audit", "logs", cwd=tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_before_the_match_says_that_nothing_was_played(tmp_path: Path, number: signal.Signals) -> None:
    """There is no record to go on from, and none is mentioned."""
    command = [sys.executable, "-m", "referee", "serve", "q", "--listen", "tcp:0:interface=127.0.0.1", "--wait", "600"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        while "listens" not in running.stderr.readline():
            assert running.poll() is None
        running.send_signal(number)
        told = running.stderr.read()
    assert (told.splitlines()[-1], running.returncode) == ("stopped before the match began; nothing was played", 1)


EARLY = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "{module}":
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Interrupting())
from referee.__main__ import run
run()
"""


LOADED = ["rich_click", "referee.cli.errors", "referee.cli.commands.list", "referee.plugins"]


@pytest.mark.parametrize("module", LOADED)
def test_one_that_comes_while_the_program_is_loaded_ends_it(module: str) -> None:
    """A few words and the shell's status for the signal, but no traceback of an import."""
    command = [sys.executable, "-c", EARLY.format(module=module, number="signal.SIGINT"), "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "")
    assert done.stderr in ("stopped before anything was begun\n", "stopped\n")


def test_one_that_comes_while_python_itself_starts_ends_it(tmp_path: Path) -> None:
    """No line of the product has run by then; the signal waits until one has."""
    (tmp_path / "sitecustomize.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    command = [str(Path(sys.executable).with_name("referee")), "list"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (128 + signal.SIGINT, "")
    assert done.stderr == "stopped before anything was begun\n"


@pytest.mark.parametrize("module", LOADED)
def test_sigterm_that_comes_while_the_program_is_loaded_ends_it(module: str) -> None:
    """It ends without a message; at first the system itself ends it."""
    command = [sys.executable, "-c", EARLY.format(module=module, number="signal.SIGTERM"), "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("", "")
    assert done.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)


LATE = """
import atexit, os, signal
from referee.__main__ import run
atexit.register(os.kill, os.getpid(), {number})
run()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_comes_when_all_is_done_shows_no_traceback(number: signal.Signals) -> None:
    """The interpreter is about to end, and nothing is left to clean up."""
    command = [sys.executable, "-c", LATE.format(number=int(number)), "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (128 + number, "")
    assert "quincala" in done.stdout


PAIRING = """
import os, signal
from referee.cli.main import main
from referee.net.tournaments.round_pairing import PairingProcess
pair = PairingProcess.pair
def pair_interrupted(process, request):
    os.killpg(0, {number})
    return pair(process, request)
PairingProcess.pair = pair_interrupted
main(prog_name="referee")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_comes_while_a_round_is_paired_stops_the_tournament(tmp_path: Path, number: signal.Signals) -> None:
    """The terminal sends it to all processes; the one that pairs shows no traceback of its own."""
    entrants = ", ".join(['"house:random"'] * 300)
    file = tmp_path / "large.toml"
    file.write_text(f'game = "quincy"\nformat = "swiss"\nsandbox = "off"\nentrants = [{entrants}]\n')
    command = [sys.executable, "-c", PAIRING.format(number=int(number)), "tournament", str(file)]
    done = subprocess.run(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, timeout=120, check=False, start_new_session=True
    )
    assert done.returncode == 1
    assert "continues the tournament" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr
