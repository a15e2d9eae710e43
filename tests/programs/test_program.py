"""Launched programs: real processes, which end with everything that they started."""

import errno
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from referee.programs import program
from referee.programs.confining import Confinement
from referee.programs.control_groups import ControlGroups, find_control_groups, own_prefix
from referee.programs.environment import Invitation
from referee.programs.fork_server import ForkServer
from referee.programs.limits import GRACE_S, PATIENCE_S
from referee.programs.player_spec import Launch, PlayerError, house_launch
from referee.programs.program import POLL_S, Program

from ..needs import require_sandbox
from ..net.wires import fired
from .loop import Loop

IN_SANDBOX = 4
"""Processes: the one that makes the sandbox, its first, the program, and the program's child."""


class Running:
    """A program on a test's clock; `said` and `ended` let real time pass until something holds."""

    def __init__(self, folder: Path, script: str, token: str = "", *, confinement: Confinement = Confinement()) -> None:  # noqa: B008  # frozen
        self.clock = Loop()
        self.output = folder / "output"
        launch = Launch(name="p", argv=(sys.executable, "-u", "-c", script))
        invitation = Invitation(address="", token=token or f"of {folder}")
        self.program = Program(launch, invitation, self.output, self.clock, confinement)
        self.status = fired(self.program.exited)

    def said(self, text: str) -> None:
        """Wait until the program has printed a text."""
        give_up = time.monotonic() + 60
        while text not in self.program.output.tail.content.decode():
            assert time.monotonic() < give_up, f"the program never said {text!r}"
            self.clock.look()

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        give_up = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < give_up, "it never held"
            self.clock.look()

    def ended(self) -> str:
        """Wait for the process, let the program notice, and return its status."""
        while not self.status:
            self.clock.look()
            self.clock.advance(POLL_S)
        return str(self.status[0])


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("pass", "exit status 0"),
        ("raise SystemExit(3)", "exit status 3"),
        ("import os; os.abort()", "signal SIGABRT"),
        ("import os; os.kill(os.getpid(), 9)", "signal SIGKILL"),
        ("print('so\\nlong\\x1b[2J', 7)", "exit status 0: so long 7"),
        ("raise SystemExit('x' * 1000)", f"exit status 1: ...{'x' * 297}"),
    ],
)
def test_how_a_program_ended_is_known(tmp_path: Path, script: str, status: str) -> None:
    """Exit status and signal differ, and the last output is added."""
    running = Running(tmp_path, script)
    assert status == running.ended()


def test_a_program_finds_its_environment_and_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of the invitation are there; other variables of the referee are not."""
    monkeypatch.setenv("REFEREE_DATABASE_PASSWORD", "hunter2")
    script = "import os; print(os.environ['REFEREE_TOKEN'], os.environ.get('REFEREE_DATABASE_PASSWORD'))"
    running = Running(tmp_path, script, "t0ken")
    running.ended()
    assert running.output.read_text() == "t0ken None\n"


def test_ending_takes_the_whole_process_group(tmp_path: Path) -> None:
    """A child that the program started, and that ignores SIGTERM, is ended too."""
    script = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "print(f'child {os.getpid()} here', flush=True) if child == 0 else None\n"
        "while True: time.sleep(60)\n"
    )
    running = Running(tmp_path, script)
    running.said("here")
    child = int(running.program.output.tail.content.split()[1])
    end = os.pidfd_open(child)
    running.program.end()
    running.clock.advance(PATIENCE_S + 0.01)
    running.clock.advance(GRACE_S + 0.01)
    assert running.ended() == f"signal SIGKILL: child {child} here"
    assert is_over(end)


def test_who_leaves_the_process_group_is_known_by_its_mark(tmp_path: Path) -> None:
    """Without sandbox and control groups, the mark in its environment identifies a child in another session."""
    script = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    print(f'child {os.getpid()} here', flush=True)\n"
        "    time.sleep(1000)\n"
        "os.wait()\n"
    )
    running = Running(tmp_path, script)
    running.said("here")
    end = os.pidfd_open(int(running.program.output.tail.content.split()[1]))
    gone = fired(running.program.end())
    running.clock.advance(PATIENCE_S + 0.01)
    assert running.ended().startswith("signal SIGTERM")
    assert is_over(end)
    running.clock.advance(POLL_S)
    assert gone


LEAVING = """
import os
if os.fork() == 0:
    print(f"child {os.getpid()} here", flush=True)
    os.execve("/bin/sleep", ["sleep", "1000"], {})
"""


def test_what_a_program_leaves_in_its_group_ends_with_it(tmp_path: Path) -> None:
    """It gets no SIGTERM, and its environment does not matter: the match is over for it, too."""
    running = Running(tmp_path, LEAVING)
    running.said("here")
    end = os.pidfd_open(int(running.program.output.tail.content.split()[1]))
    assert running.ended().startswith("exit status 0")
    assert is_over(end)


def test_a_program_that_ends_takes_nobody_elses_with_it(tmp_path: Path) -> None:
    """Two referees with one key and one seed may play the same match, so even the tokens can be equal."""
    lasting = Running(tmp_path, "import time; print('here', flush=True); time.sleep(1000)", "token")
    lasting.said("here")
    assert Running(tmp_path, "pass", "token").ended() == "exit status 0"
    lasting.program.end()
    lasting.clock.advance(PATIENCE_S + 0.01)
    assert lasting.ended() == "signal SIGTERM: here"


HOLDING = """
import os, time
ready, filled = os.pipe()
if os.fork() == 0:
    os.setsid()
    held = b"x" * (400 << 20)
    os.write(filled, b".")
    time.sleep(1000)
os.read(ready, 1)
print("here", flush=True)
time.sleep(1000)
"""
"""Program that leaves a process behind, which the kernel needs a while to end."""


def test_a_sandbox_is_gone_when_all_in_it_is(tmp_path: Path) -> None:
    """This also works without control groups, where only its first process shows it."""
    script = f"{HOLDING}# {tmp_path}"
    running = Running(tmp_path, script, confinement=Confinement(sandbox=require_sandbox()))
    running.said("here")
    of_it = [path.parent for path in Path("/proc").glob("[0-9]*/cmdline") if holds(path, script)]
    ends = [os.pidfd_open(int(process.name)) for process in of_it]
    assert len(ends) == IN_SANDBOX
    gone = fired(running.program.end())
    running.clock.advance(PATIENCE_S + 0.01)
    running.clock.advance(GRACE_S + 0.01)
    running.ended()
    while not gone:
        running.clock.look()
        running.clock.advance(POLL_S)
    assert len(ends) == len(select.select(ends, [], [], 0)[0])
    for end in ends:
        os.close(end)


def holds(path: Path, text: str) -> bool:
    """Return whether a file of a process, which may be gone by now, holds a text."""
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False


def is_over(end: int) -> bool:
    """Wait until a process has ended, by its descriptor, and close that."""
    try:
        return bool(select.select([end], [], [], 60)[0])
    finally:
        os.close(end)


def test_the_next_match_has_what_is_printed_in_it(tmp_path: Path) -> None:
    """A program that stays gets another file, and earlier callbacks of its end are dropped."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    running = Running(tmp_path, f"print('of the first'); open({str(gate)!r}).read(); print('of the second')")
    running.said("of the first\n")
    running.program.begin_match(tmp_path / "next")
    before, running.status = running.status, fired(running.program.exited)
    gate.write_text("")
    assert (running.ended(), before) == ("exit status 0: of the second", [])
    assert (running.output.read_text(), (tmp_path / "next").read_text()) == ("of the first\n", "of the second\n")


def test_a_program_that_has_ended_is_not_waited_for(tmp_path: Path) -> None:
    """Ending it before or afterwards leaves no timer."""
    running = Running(tmp_path, "pass")
    gone = [fired(running.program.end())]
    running.ended()
    gone.append(fired(running.program.end()))
    running.clock.advance(POLL_S)
    assert all(gone)
    assert running.clock.getDelayedCalls() == []


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    """The error names the command and the reason."""
    launch = Launch(name="p", argv=("no-such-program-anywhere",))
    with pytest.raises(PlayerError, match="no-such-program-anywhere: No such file"):
        Program(launch, Invitation(address="", token="none"), tmp_path / "output", Loop())


STARTS: dict[str, Callable[[Path], Launch]] = {
    "a folder that is gone": lambda folder: Launch(name="p", argv=(sys.executable,), folder=folder / "gone"),
    "a fork server that can't be started": lambda _: house_launch("greedy"),
}


@pytest.mark.parametrize("made", STARTS.values(), ids=STARTS)
def test_a_program_that_cannot_be_started_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[Path], Launch]
) -> None:
    """It leaves no control group, and no reader in the loop."""
    launch, loop, groups = made(tmp_path), Loop(), find_control_groups()
    before = own_groups(groups)  # those of programs that other tests have ended, and that the kernel still removes
    if launch.is_house:
        monkeypatch.setattr(program, "start", fails)
    confinement = Confinement(groups=groups, fork_server=ForkServer())
    with pytest.raises(PlayerError, match="No such file"):
        Program(launch, Invitation(address="", token="none"), tmp_path / "output", loop, confinement)
    assert loop.readers == []
    give_up = time.monotonic() + 60
    while not own_groups(groups) <= before:  # a thread removes them
        assert time.monotonic() < give_up, own_groups(groups) - before
        loop.look()


def fails(*_: object, **__: object) -> NoReturn:
    """Raise the error for a missing program."""
    raise FileNotFoundError(errno.ENOENT, "No such file")


def own_groups(groups: ControlGroups) -> set[Path]:
    """Return the control groups that this process has made."""
    return {path for folder in groups.folders.values() for path in folder.glob(f"{own_prefix()}*")}


def test_a_silent_program_leaves_no_file(tmp_path: Path) -> None:
    """A program without output has no file."""
    for script, stays in (("pass", False), ("print(1)", True)):
        running = Running(tmp_path, script)
        running.ended()
        assert stays == running.output.exists()
