"""What is started ends with who started it, whenever that dies, and shares no keyring with it."""

import ctypes
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.launch import starting
from referee.launch.starting import (
    ProcessCommand,
    ends_with_this_process,
    if_alive,
    join_new_keyring,
    keyctl_number,
    start,
)

PYTHON = (sys.executable, "-I", "-S", "-c")
SECRET = b"the other hand"
SEARCH_ALL = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
key = libc.syscall(ctypes.c_long(int(sys.argv[1])), 10, ctypes.c_long(-3), b"user", b"referee-test", ctypes.c_long(0))
print("found it" if key > 0 else "nothing")
"""
STARTER = """
import subprocess, sys, time
from referee.launch.starting import ProcessCommand, if_alive, start
command = ProcessCommand((*sys.argv[2:], *if_alive([sys.executable, "-c", sys.argv[1]])))
start(command, cwd=None, env={}, output=1)
sys.stdin.read()
"""
"""Starts a program, and waits to be killed; what it starts prints where this prints."""


def started(script: str, *before: str) -> "subprocess.Popen[str]":
    """Start a process that starts a program, which is to print its number."""
    argv = [sys.executable, "-c", STARTER, script, *before]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    """Return the next line that was printed; empty: nobody is left who could print one."""
    assert process.stdout is not None
    return process.stdout.readline()


def killed(process: "subprocess.Popen[str]") -> None:
    """Kill without a warning."""
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)


@pytest.fixture(autouse=True)
def _can_tell() -> None:
    """Skip where the kernel can't be asked to kill."""
    if not ends_with_this_process():
        pytest.skip("there is no setpriv on this machine")


def test_a_program_dies_with_who_started_it() -> None:
    """Killed without a warning, it takes its programs with it, sandbox or not."""
    with started("import os, time; print(os.getpid(), flush=True); time.sleep(1000)") as process:
        descriptor = os.pidfd_open(int(said(process)))
        killed(process)
        assert select.select([descriptor], [], [], 60)[0]
        os.close(descriptor)


def test_a_program_that_starts_after_that_death_does_not_run(tmp_path: Path) -> None:
    """What was on its way to start it, and did not die, as a sandbox that is being made, ends instead."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # the shell in the background is nobody's child once the first one is killed, which asked for that
    before = ("/bin/sh", "-c", f'exec 3>&0; (echo $$; read _ < {gate}; exec "$@") 0>&3 & wait', "sh")
    with started(f"open({str(tmp_path / 'ran')!r}, 'w'); print('it runs', flush=True)", *before) as process:
        said(process)
        killed(process)
        gate.write_text("go on\n")
        assert said(process) == ""
    assert not (tmp_path / "ran").exists()


def test_a_program_finds_its_stdin_empty(tmp_path: Path) -> None:
    """It can't reach the pipe that tells whether the referee lives."""
    script = "import os, sys; print(repr(sys.stdin.read()), os.readlink('/proc/self/fd/0'))"
    command = ProcessCommand(tuple(if_alive([*PYTHON, script])))
    with start(command, cwd=tmp_path, env={}, output=subprocess.PIPE) as process:
        out, _ = process.communicate(timeout=60)
    assert out.decode() == "'' /dev/null\n"


def test_keys_are_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the session keyring of the referee, or was left by the program before, is not found."""
    libc = ctypes.CDLL(None, use_errno=True)
    add_key = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
    if add_key is None or join_new_keyring() is not None:
        pytest.skip("this machine has no keyrings to speak of")

    def _found() -> bytes:
        argv = (*PYTHON, SEARCH_ALL, str(keyctl_number()))
        with start(ProcessCommand(argv), cwd=None, env={}, output=subprocess.PIPE) as process:
            return process.communicate(timeout=60)[0]

    def _leave_a_key() -> None:
        key = libc.syscall(
            ctypes.c_long(add_key), b"user", b"referee-test", SECRET, ctypes.c_long(len(SECRET)), ctypes.c_long(-3)
        )
        if key < 0:
            pytest.skip("the kernel lets nobody add keys here")

    _leave_a_key()
    assert _found() == b"nothing\n"
    with monkeypatch.context() as patched:
        patched.setattr(starting, "join_new_keyring", lambda: None)
        _leave_a_key()
        assert _found() == b"found it\n"  # so that it could be found
