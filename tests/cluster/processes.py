"""A real scheduler and real hosts on this machine, for tests: started, killed, and ended."""

import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from referee.cli.commands.key import SCHEDULER
from referee.cluster.security import CA, make_keys

GIVE_UP_S = 120.0
ENVIRONMENT = os.environ | dict(
    word.split("=", 1) for word in shlex.split(" ".join(SCHEDULER)) if word.startswith("DASK_")
)
"""Settings of an organiser for a scheduler; hosts ignore those for schedulers."""
ROOT = Path(__file__).parents[2]


def wait_until(is_so: Callable[[], bool], *running: "subprocess.Popen[bytes]") -> None:
    """Wait until a condition holds, as long as the processes run."""
    give_up = time.monotonic() + GIVE_UP_S
    while not is_so():
        assert all(process.poll() is None for process in running)
        assert time.monotonic() < give_up
        time.sleep(0.02)


class Processes:
    """A scheduler and its hosts.

    Args:
        folder: for what they keep and print.
        hosts: how many.
        is_monitored: whether each serves its numbers.
    """

    def __init__(self, folder: Path, hosts: int, *, is_monitored: bool = False) -> None:
        self._folder = folder
        self._is_monitored = is_monitored
        self._port = 0
        self.keys = make_keys(folder / "keys", days=1, hosts=(), now=datetime.now(UTC)).folder
        self.scheduler = self._scheduler()
        self.hosts = [self.host(str(number)) for number in range(hosts)]

    @property
    def options(self) -> tuple[str, ...]:
        """Options of a tournament that is played here."""
        return ("--cluster", self.address, "--keys", str(self.keys))

    @property
    def address(self) -> str:
        """The scheduler's."""
        return f"tls://127.0.0.1:{self._port}"

    def _scheduler(self) -> "subprocess.Popen[bytes]":
        told = self._folder / "scheduler.json"
        told.unlink(missing_ok=True)
        listening = ("--host", "127.0.0.1", "--port", str(self._port), "--dashboard-address", "127.0.0.1:0")
        keys = ("--tls-ca-file", str(self.keys / CA), "--tls-cert", str(self.keys / "scheduler.pem"))
        module = ("-m", "distributed.cli.dask_scheduler", "--scheduler-file", str(told), "--protocol", "tls")
        started = self.start("scheduler", *module, *listening, *keys)
        wait_until(lambda: told.exists() and bool(told.read_text().strip()), started)
        self._port = int(told.read_text().partition('"tls://127.0.0.1:')[2].partition('"')[0])
        return started

    def host(self, name: str, *options: str) -> "subprocess.Popen[bytes]":
        """Start a host."""
        where = ("--folder", str(self._folder / f"host{name}"), "--sandbox", "off", *self._host_options(name))
        keys = ("--keys", str(self.keys))
        return self.start(f"host{name}", "-m", "referee", "worker", self.address, *where, *keys, *options)

    def metrics(self, name: str) -> str:
        """Return the page of numbers that a host serves."""
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(str(self._monitor(name)))
            end.sendall(b"GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
            return end.makefile("rb").read().decode()

    def _host_options(self, name: str) -> tuple[str, ...]:
        return ("--metrics", f"unix:{self._monitor(name)}") if self._is_monitored else ()

    def _monitor(self, name: str) -> Path:
        return self._folder / f"host{name}.socket"

    def restart_scheduler(self) -> None:
        """Kill the scheduler, and start another one at its address."""
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self._scheduler()

    def close(self) -> None:
        """End all of them."""
        for process in (*self.hosts, self.scheduler):
            process.kill()
            process.wait()

    def are_connected(self) -> bool:
        """Return whether the hosts have reached the scheduler."""
        return all("connected to" in self.printed(f"host{number}") for number in range(len(self.hosts)))

    def printed(self, name: str) -> str:
        """Return what one of them has printed."""
        return (self._folder / f"{name}.log").read_text()

    def start(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a Python program that prints into a file of its own."""
        with (self._folder / f"{name}.log").open("wb") as log:
            command = [sys.executable, *arguments]
            return subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=log, stderr=subprocess.STDOUT)
