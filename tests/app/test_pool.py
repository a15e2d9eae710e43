"""Worker processes of a command: they end with it in every case, and hold nothing that others wait for."""

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

WAIT_S = 60
READING = """
import os, signal, sys
from pathlib import Path
import rich_click as click
from referee.app.pool import map_in_processes
from referee.cli.main import Commands, main

def work(path):
    if path.name == "fatal":
        os.kill(os.getpid(), signal.SIGKILL)
    print("out of place")
    os.open(sys.argv[1], os.O_RDONLY)  # waits for a writer, and is that writer's reader from then on
    signal.pause()

@click.command()
@click.argument("files", nargs=-1)
def read(files):
    list(map_in_processes(work, [Path(file) for file in files], 2))

Commands.get_command = lambda *_: read
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGINT))  # Ctrl-C, before it can take any
main(["audit", *sys.argv[2:]], prog_name="referee")
"""


def reading(folder: Path, name: str) -> "subprocess.Popen[str]":
    """Start a command whose processes wait at a pipe."""
    os.mkfifo(folder / "pipe")
    files = [folder / f"{name}{number or ''}" for number in range(8)]
    for file in files:
        file.touch()
    command = [sys.executable, "-c", READING, str(folder / "pipe"), *map(str, files)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGKILL, -9), (signal.SIGTERM, 128 + 15), (signal.SIGINT, 128 + 2)]
)
def test_they_end_with_the_command(tmp_path: Path, number: signal.Signals, status: int) -> None:
    """After a kill, SIGTERM or Ctrl-C no process is left, and nobody waits for their stdout.

    Only Ctrl-C prints a line.
    """
    with reading(tmp_path, "record") as command:
        writer = os.open(tmp_path / "pipe", os.O_WRONLY)
        try:
            send = os.killpg if number == signal.SIGINT else os.kill
            send(command.pid, number)
            told = command.communicate(timeout=WAIT_S)
            readers_are_gone = select.poll()
            readers_are_gone.register(writer, select.POLLERR)
            assert readers_are_gone.poll(WAIT_S * 1000) == [(writer, select.POLLERR)]
        finally:
            os.close(writer)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(command.pid, signal.SIGKILL)
    assert (*told, command.returncode) == ("", "stopped\n" if number == signal.SIGINT else "", status)


def test_one_that_is_killed_is_told(tmp_path: Path) -> None:
    """If the kernel kills one because memory ran out, the error is a sentence and no traceback."""
    with reading(tmp_path, "fatal") as command:
        _, told = command.communicate(timeout=WAIT_S)
    assert (command.returncode, "a process at work was killed" in told, "Traceback" in told) == (1, True, False), told
