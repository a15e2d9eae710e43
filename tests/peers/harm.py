"""Players of Q that do harm in their first turn, then pass for the rest of the match: `harm.py WHAT`.

Each stands alone in its folder, so nothing of the tests is imported. What a spy found out is the last line it prints.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import platform
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocol.client import run

CHILDREN, BIG, SHOUTED = 300, 16 << 20, 200 << 20
"""Bounds that let a machine without limits survive: processes, bytes at once, bytes on stderr."""


def fork() -> None:
    """Start children that stay, until no more can be started."""
    for _ in range(CHILDREN):
        if os.fork() == 0:
            time.sleep(1000)


def remember() -> None:
    """Take memory until there is no more."""
    kept = [b"x" * BIG for _ in range((2 << 30) // BIG)]
    raise SystemExit(f"had {len(kept)} times {BIG}")


def spin() -> None:
    """Compute for ever."""
    while True:
        pass


def deaf() -> None:
    """Never answer, and ignore SIGTERM."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1000)


def mute() -> None:
    """Close stdout and stderr."""
    os.close(1)
    os.close(2)


def shout() -> None:
    """Print far more than anybody wants to read."""
    line = b"x" * 65_535 + b"\n"
    for _ in range(SHOUTED // len(line)):
        os.write(2, line)
    os.write(2, b"that was all\n")


def escape() -> None:
    """Leave a process behind that is nobody's child, in a session and with an environment of its own."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    environment = {} if sys.argv[2:] == ["bare"] else dict(os.environ)
    os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(1000)", __file__], environment)


def fill() -> None:
    """Write into /tmp until it is full."""
    with Path("/tmp/big").open("wb") as file, Path("/tmp/bigger").open("wb") as other:
        for _ in range(100):
            file.write(bytes(1 << 20))
            other.write(bytes(1 << 20))


def leave_a_key() -> int:
    """Leave a key for the next match in the user's keyring, which checks only the user."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long({"x86_64": 248}.get(platform.machine(), 217))
    key: int = libc.syscall(number, b"user", b"hand", b"my tiles", ctypes.c_long(8), ctypes.c_long(-4))
    if key < 0:
        raise OSError(ctypes.get_errno(), "add_key")
    return key


def hold_up_readers() -> int:
    """Take a lease on a file, so that a program that opens it to write waits."""
    with Path(__file__).open("rb") as file:
        return fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)


def spy() -> None:
    """Try everything that a guest must not be able to do, and print the results."""
    aims = json.loads(Path(__file__).with_name("aims.json").read_text())
    attempts: dict[str, Callable[[], Any]] = {
        "key": lambda: Path(aims["key"]).read_bytes(),
        "old record": lambda: Path(aims["old"]).read_bytes(),
        "records": lambda: [str(path) for path in Path(aims["logs"]).iterdir()],
        "other player": lambda: [str(path) for path in Path(aims["other"]).iterdir()],
        "home": lambda: [str(path) for path in Path("~").expanduser().iterdir()],
        "tmp": lambda: [str(path) for path in Path(aims["tmp"]).iterdir()],
        "own folder": lambda: Path(__file__).with_name("new").write_text("new"),
        "system": lambda: Path("/usr/new").write_text("new"),
        "root": lambda: Path("/new").write_text("new"),
        "kernel": lambda: os.access("/proc/sys/kernel/core_pattern", os.W_OK),
        "network": lambda: socket.create_connection(("127.0.0.1", aims["port"]), 1).close(),
        "keyring": leave_a_key,
        "host": lambda: socket.socket(socket.AF_VSOCK).close(),
        "lease": hold_up_readers,
        "first process's stdin": lambda: os.close(os.open("/proc/1/fd/0", os.O_RDWR)),
        "first process": lambda: aims["logs"].encode() in Path("/proc/1/cmdline").read_bytes(),
        "processes": lambda: len([path for path in Path("/proc").iterdir() if path.name.isdecimal()]) < 10,
        "namespace": lambda: os.system("unshare -U true 2>/dev/null"),
        "environment": lambda: sorted(set(os.environ) - {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONPATH", "PWD"}),
    }
    found: dict[str, Any] = {}
    for name, attempt in attempts.items():
        try:
            found[name] = attempt()
        except OSError as error:
            found[name] = type(error).__name__
    print(json.dumps(found, default=len), flush=True)


HARMS = {harm.__name__: harm for harm in (fork, remember, spin, deaf, mute, shout, escape, fill, spy)}


def main(what: str) -> None:
    """Play a match."""
    waiting = [HARMS[what]]

    def _choose(_view: Any) -> Any:
        while waiting:
            waiting.pop()()
        return {"action": "pass"}

    with contextlib.suppress(ConnectionError):
        run(_choose, say=None)


if __name__ == "__main__":
    main(sys.argv[1])
