"""Runs `referee` in processes of their own that are forked from a warm one: what there is to import is imported once.

Such a process runs what `python -m referee` runs, from its first line to its last, with its own arguments, folder,
environment, reactor and exit. That an interpreter can be started with it is for the tests that start one.
"""

import atexit
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import active_count
from typing import IO, Any

from referee.cli.main import COMMANDS
from referee.plugins import load

_REACTOR = "twisted.internet.reactor"
"""Has files that forked processes would share: those that run one import it."""
_MOST_BYTES = 1 << 20


def run(
    arguments: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float = 120.0,
) -> "subprocess.CompletedProcess[str]":
    """Run `referee` to its end, as `subprocess.run` does.

    Raises:
        TimeoutError: it took too long; it is ended, as is the warm process.
    """
    request = {"argv": list(arguments), "cwd": str(cwd or Path.cwd()), "env": dict(os.environ if env is None else env)}
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        status = _warm().status_of(request, (given, out, err), timeout_s)
        return subprocess.CompletedProcess(arguments, status, _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


class _Warm:
    """The warm process."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=Path(__file__).parents[1])
        theirs.close()
        atexit.register(self._end)

    def _end(self) -> None:
        """Let it end, which it does when nobody can ask it for anything."""
        self._socket.close()
        self._process.wait()

    def status_of(self, request: Any, files: Sequence[IO[bytes]], timeout_s: float) -> int:
        """Have a command run, and return its exit status; that of a signal is negative."""
        self._socket.settimeout(timeout_s)
        socket.send_fds(self._socket, [json.dumps(request).encode()], [file.fileno() for file in files])
        pid = int(self._socket.recv(32))
        try:
            return int(self._socket.recv(32))
        except TimeoutError:
            os.kill(pid, 9)
            self._process.kill()
            _warm.cache_clear()
            raise


@cache
def _warm() -> _Warm:
    return _Warm()


def _serve(ours: socket.socket) -> None:
    """Fork a process for every command; returns in these alone, each being ready to run its own."""
    while True:
        data, files, _, _ = socket.recv_fds(ours, _MOST_BYTES, 3)
        if not data:
            os._exit(0)
        request = json.loads(data)
        pid = os.fork()
        if not pid:
            ours.close()
            break
        for file in files:
            os.close(file)
        ours.send(str(pid).encode())
        ours.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["referee", *request["argv"]]


if __name__ == "__main__":
    load()
    for command in COMMANDS.values():
        import_module(f"referee.cli.commands.{command.partition(':')[0]}")
    assert _REACTOR not in sys.modules
    assert active_count() == 1, "threads do not survive a fork"
    _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module("referee", run_name="__main__", alter_sys=True)
