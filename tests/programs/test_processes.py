"""Started processes end with their parent, however that ends, and share no keyring with it."""

import ctypes
import errno
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.programs import processes
from referee.programs.processes import (
    ChildProcess,
    FirstProcess,
    ProcessCommand,
    can_die_with_parent,
    if_alive,
    join_new_keyring,
    keyctl_number,
    start,
)

from .loop import Loop

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
from referee.programs.processes import ProcessCommand, if_alive, start
command = ProcessCommand((*sys.argv[2:], *if_alive([sys.executable, "-c", sys.argv[1]])))
start(command, cwd=None, env={}, output=1)
sys.stdin.read()
"""
"""Program that starts another one, and waits to be killed; the other one prints to the same place."""


def started(script: str, *before: str) -> "subprocess.Popen[str]":
    """Start a process that starts a program, which prints its number."""
    argv = [sys.executable, "-c", STARTER, script, *before]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: "subprocess.Popen[str]") -> str:
    """Return the next printed line; empty: no process is left that could print one."""
    assert process.stdout is not None
    return process.stdout.readline()


def killed(process: "subprocess.Popen[str]") -> None:
    """Kill a process without a warning."""
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)


@pytest.fixture
def _can_tell() -> None:
    """Skip the test if the kernel offers no signal at the parent's end."""
    if not can_die_with_parent():
        pytest.skip("there is no setpriv on this machine")


@pytest.mark.usefixtures("_can_tell")
def test_a_program_dies_with_who_started_it() -> None:
    """A parent that is killed without a warning takes its programs with it, with a sandbox or without."""
    with started("import os, time; print(os.getpid(), flush=True); time.sleep(1000)") as process:
        descriptor = os.pidfd_open(int(said(process)))
        killed(process)
        assert select.select([descriptor], [], [], 60)[0]
        os.close(descriptor)


@pytest.mark.usefixtures("_can_tell")
def test_a_program_that_starts_after_that_death_does_not_run(tmp_path: Path) -> None:
    """The processes that were about to start it, such as a sandbox in the making, end instead."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # the shell in the background loses its parent when the first one, which asked for the signal, is killed
    before = ("/bin/sh", "-c", f'exec 3>&0; (echo $$; read _ < {gate}; exec "$@") 0>&3 & wait', "sh")
    with started(f"open({str(tmp_path / 'ran')!r}, 'w'); print('it runs', flush=True)", *before) as process:
        said(process)
        killed(process)
        gate.write_text("go on\n")
        assert said(process) == ""
    assert not (tmp_path / "ran").exists()


def test_a_program_finds_its_stdin_empty(tmp_path: Path) -> None:
    """It can't reach the pipe that shows whether the referee lives."""
    script = "import os, sys; print(repr(sys.stdin.read()), os.readlink('/proc/self/fd/0'))"
    command = ProcessCommand(tuple(if_alive([*PYTHON, script])))
    with start(command, cwd=tmp_path, env={}, output=subprocess.PIPE) as process:
        out, _ = process.communicate(timeout=60)
    assert out.decode() == "'' /dev/null\n"


def test_keys_are_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session keyring of the referee, and that of an earlier program, can't be found."""
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
        patched.setattr(processes, "join_new_keyring", lambda: None)
        _leave_a_key()
        assert _found() == b"found it\n"  # so that it could be found


@pytest.mark.parametrize("is_old", [False, True], ids=["a descriptor of the process", "an old kernel"])
def test_an_end_is_told_of_in_the_loop(monkeypatch: pytest.MonkeyPatch, *, is_old: bool) -> None:
    """The status comes in one call, whether the kernel has descriptors of processes or a thread waits."""
    if is_old:
        monkeypatch.delattr(os, "pidfd_open")
    loop, told = Loop(), list[int]()
    with start(
        ProcessCommand((*PYTHON, "raise SystemExit(3)")), cwd=None, env={}, output=subprocess.DEVNULL
    ) as process:
        ChildProcess(process, loop).on_end(told.append)
        assert told == []
        give_up = time.monotonic() + 60
        while not told:
            assert time.monotonic() < give_up, "nobody told of the end"
            loop.look()
    loop.look()
    assert told == [3]


SETPRIVS = {
    "one that knows what is asked": ('shift 3; exec "$@"', True),
    "one that does not": ("exit 1", False),
    "one that can't be run": (None, False),
}


@pytest.mark.parametrize(("script", "is_used"), SETPRIVS.values(), ids=SETPRIVS)
def test_who_asks_the_kernel_is_tried_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, *, is_used: bool
) -> None:
    """A program that can't ask for the signal would prevent every player from starting."""
    setpriv = tmp_path / "setpriv"
    setpriv.write_text("#!/no/shell\n" if script is None else f"#!/bin/sh\n{script}\n")
    setpriv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    expected = (str(setpriv), "--pdeathsig", "KILL", "--") if is_used else ()
    assert processes.die_with_parent.__wrapped__() == expected


@pytest.mark.parametrize("told", ["", "{", '{"child-pid": 0}'])
def test_a_sandbox_whose_first_process_is_not_known_is_gone(told: str) -> None:
    """A process that can't be watched is not waited for: it has ended, before its number was known or afterwards."""
    loop = Loop()
    first = FirstProcess(loop)
    os.write(first.write_fd, told.encode())
    assert not first.is_gone
    os.close(first.write_fd)
    loop.look()
    loop.look()
    assert (first.is_gone, loop.readers) == (True, [])


def test_a_sandbox_is_gone_with_its_first_process() -> None:
    """The kernel reports the end of that process, and not earlier."""
    loop = Loop()
    first = FirstProcess(loop)
    with subprocess.Popen(["/bin/sh", "-c", "read _"], stdin=subprocess.PIPE) as process:
        os.write(first.write_fd, json.dumps({"child-pid": process.pid}).encode())
        os.close(first.write_fd)
        for _ in range(3):
            loop.look()
        assert not first.is_gone
        process.communicate(b"\n", timeout=60)
    loop.look()
    assert (first.is_gone, loop.readers) == (True, [])


@pytest.mark.parametrize(
    ("answers", "number", "expected"),
    [
        ((7, 0, 8), 0, None),
        ((7, 0, 7), 0, "the kernel gave the old one again"),
        ((7, -1), errno.EPERM, None),
        ((7, -1), errno.EACCES, None),
        ((7, -1), errno.ENOSYS, None),
        ((7, -1), errno.EDQUOT, os.strerror(errno.EDQUOT)),
    ],
)
def test_a_keyring_that_can_not_be_had_is_told_of(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[int, ...], number: int, expected: str | None
) -> None:
    """Without keyrings on this machine there is no warning, since there are none to read."""
    left, asked = iter(answers), list[list[int | None]]()

    def _syscall(*arguments: Any) -> int:
        asked.append([None if argument is None else argument.value for argument in arguments])
        ctypes.set_errno(number)
        return next(left)

    monkeypatch.setattr(processes, "load_libc", lambda: SimpleNamespace(syscall=_syscall))
    assert join_new_keyring() == expected
    get, join = [keyctl_number(), 0, -3, 0], [keyctl_number(), 1, None, 0]
    assert asked == [get, join, get][: len(asked)]
    assert len(asked) == (2 if number else 3)
