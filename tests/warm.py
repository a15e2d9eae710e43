"""Runs `referee` in processes that are forked from a warm one, so that everything is imported once.

Such a process runs what `python -m referee` runs, from its first line to its last, with its own arguments, folder,
environment, reactor and exit. Only the tests that start a new interpreter check that one can be started.
"""

import atexit
import gc
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

from referee.cli.main import COMMANDS
from referee.plugins import load

_REACTOR = "twisted.internet.reactor"
"""Tests whose files forked processes would share import these modules themselves."""
_MOST_BYTES = 1 << 20
_SCRIPT = """\
#!{python} -IS
import json, os, signal, socket, sys
warm = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
warm.connect({address!r})
request = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}}
socket.send_fds(warm, [json.dumps(request).encode()], [0, 1, 2])
pid = int(warm.recv(32))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(pid, number))
status = int(warm.recv(32))
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
"""Stand-in for the program `referee`: it passes on signals, and ends as the process that is forked for it."""


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
        TimeoutError: it took too long; it is killed.
    """
    request: dict[str, Any] = {"argv": list(arguments), "cwd": str(cwd or Path.cwd())}
    request["env"] = dict(os.environ if env is None else env)
    encoding = request["env"].get("PYTHONIOENCODING", "utf-8")
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as warm,
    ):
        given.write(stdin)
        given.seek(0)
        warm.settimeout(timeout_s)
        warm.connect(str(_warm() / "socket"))
        socket.send_fds(warm, [json.dumps(request).encode()], [file.fileno() for file in (given, out, err)])
        warm.recv(32)  # its number
        return subprocess.CompletedProcess(arguments, int(warm.recv(32)), _text(out, encoding), _text(err, encoding))


def _text(file: IO[bytes], encoding: str) -> str:
    file.seek(0)
    return file.read().decode(encoding)


def program() -> str:
    """Return a program that does what `referee` does, alone in its folder; if it is killed, its process ends first."""
    return str(_warm() / "bin" / "referee")


@cache
def _warm() -> Path:
    """Start the warm process, which ends with this one; return its folder."""
    folder = Path(tempfile.mkdtemp(prefix="referee-warm-"))
    address = str(folder / "socket")
    script = folder / "bin" / "referee"
    script.parent.mkdir()
    script.write_text(_SCRIPT.format(python=sys.executable, address=address))
    script.chmod(0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        descriptor = listener.fileno()
        command = [sys.executable, "-m", __name__, str(descriptor)]
        top = Path(__file__).parents[1]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[descriptor], cwd=top)
    atexit.register(_end, process, folder)
    return folder


def _end(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Let it end, which it does when its stdin is closed."""
    process.communicate()
    shutil.rmtree(folder)


def _serve(listener: socket.socket) -> None:
    """Fork a process for every command; return only in these, each ready to run its own."""
    while True:
        if sys.stdin in select.select([sys.stdin, listener], [], [])[0]:
            os._exit(0)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass  # one that served another command
        connection, _ = listener.accept()
        if not os.fork():
            break
        connection.close()
    listener.close()
    data, files, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
    if pid := os.fork():
        _attend(pid, connection)
    connection.close()
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    request = json.loads(data)
    _open_output(request["env"].get("PYTHONIOENCODING"))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["referee", *request["argv"]]


def _open_output(encoding: str | None) -> None:
    """Open stdout and stderr as a new interpreter does on these descriptors."""
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding=encoding, errors="backslashreplace", closefd=False)  # noqa: SIM115


def _attend(pid: int, connection: socket.socket) -> NoReturn:
    """Report how a process ends; kill it once nobody waits for it."""
    connection.send(str(pid).encode())
    if connection.fileno() in select.select([os.pidfd_open(pid), connection.fileno()], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    with suppress(BrokenPipeError):
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    os._exit(0)


def _run() -> None:
    """Run as the program `referee`.

    End as an interpreter does, but without freeing what it shares, which takes most of a short run's time.
    """
    try:
        runpy.run_module("referee", run_name="__main__", alter_sys=True)
    except SystemExit as exiting:
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as an interpreter does first
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):  # an interpreter reports that nobody reads its output
            sys.stdout.flush()
            sys.stderr.flush()
            if isinstance(exiting.code, int):
                os._exit(exiting.code)
        raise


if __name__ == "__main__":
    load()
    for command in COMMANDS.values():
        import_module(f"referee.cli.commands.{command.partition(':')[0]}")
    for name in ("sqlalchemy.dialects.sqlite", "twisted.internet.endpoints", "twisted.internet.ssl"):
        import_module(name)  # modules that commands import once they run
    assert _REACTOR not in sys.modules
    assert threading.active_count() == 1, "threads do not survive a fork"
    gc.freeze()  # no collection goes through the existing objects, which would write into shared pages
    _serve(socket.socket(fileno=int(sys.argv[1])))
    _run()
