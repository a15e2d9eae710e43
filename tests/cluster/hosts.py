"""Test hosts: each has its own network behind a bridge, so that it can be cut off, frozen and killed.

Everything is in network namespaces, which are removed with the processes in them; this machine's own network is never
touched. It needs root rights, which CI has.
"""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from referee.cli.commands.key import SCHEDULER
from referee.cluster.security import make_keys

SCHEDULER_HOST = "scheduler"
KEEPER = "keeper"
"""The host that keeps the tournament."""
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
TTL_S = 5
"""Time without a message after which the scheduler gives a host up; a shorter one is not possible."""


def ip(*arguments: str) -> None:
    """Change a network.

    Raises:
        CalledProcessError: it can't be changed so.
    """
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def can_make_networks() -> bool:
    """Return whether this machine lets tests make networks."""
    name = f"referee-{secrets.token_hex(3)}"
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        return False
    ip("netns", "del", name)
    return True


class Network:
    """Hosts that reach only each other, over a bridge; closing it removes them."""

    def __init__(self) -> None:
        self._prefix = f"referee-{secrets.token_hex(3)}-"
        self.addresses: dict[str, str] = {}
        """Host -> its address."""
        self._bridge = self._namespace("bridge")
        ip("-n", self._bridge, "link", "add", "br0", "type", "bridge")
        ip("-n", self._bridge, "link", "set", "br0", "up")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, host: str) -> None:
        """Add a host."""
        number = len(self.addresses) + 1
        space, wire = self._namespace(host), f"v{number}"
        ip("-n", self._bridge, "link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("-n", self._bridge, "link", "set", wire, "master", "br0", "up")
        self.addresses[host] = f"10.77.0.{number}"
        ip("-n", space, "address", "add", f"{self.addresses[host]}/24", "dev", "eth0")
        ip("-n", space, "link", "set", "eth0", "up")
        ip("-n", space, "link", "set", "lo", "up")

    def cut(self, host: str) -> None:
        """Cut a host off: no packet arrives or leaves, and no side is notified."""
        ip("-n", self._bridge, "link", "set", self._wire(host), "nomaster")

    def mend(self, host: str) -> None:
        """Let a host be reached again."""
        ip("-n", self._bridge, "link", "set", self._wire(host), "master", "br0")

    def start(self, host: str, command: Sequence[str], log: Path, **environment: str) -> "subprocess.Popen[bytes]":
        """Start a process on a host; signals reach it by its own number.

        Args:
            host: where.
            command: the program and its arguments.
            log: what it prints is added to this file.
            environment: additional environment variables.
        """
        with log.open("ab") as output:
            return subprocess.Popen(
                ["ip", "netns", "exec", self._prefix + host, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                cwd=log.parent,
            )

    def close(self) -> None:
        """End everything that still runs on the hosts, and remove them."""
        for name in (*self.addresses, "bridge"):
            space = self._prefix + name
            found = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True, check=False)
            for pid in found.stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)

    def _namespace(self, name: str) -> str:
        ip("netns", "add", self._prefix + name)
        return self._prefix + name

    def _wire(self, host: str) -> str:
        return f"v{self.addresses[host].rpartition('.')[2]}"


class Farm:
    """A scheduler, hosts that play, and a machine that keeps a tournament, each on a host of its own.

    Args:
        network: they are added to it.
        folder: for what they keep and print.
        tables: how many matches each host plays at a time; one entry a host.
    """

    def __init__(self, network: Network, folder: Path, tables: Sequence[int]) -> None:
        self.network = network
        self._folder = folder
        self._tables = {f"host{number}": count for number, count in enumerate(tables, 1)}
        for name in (SCHEDULER_HOST, KEEPER, *self._tables):
            network.add(name)
        self.address = f"tls://{network.addresses[SCHEDULER_HOST]}:8786"
        self._keys = make_keys(folder / "keys", days=1, hosts=(), now=datetime.now(UTC)).folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.start_scheduler()
        for name in self._tables:
            self.start_host(name)

    def start_scheduler(self) -> None:
        """Start the scheduler by the command that the certificates' command prints."""
        command = " ".join(SCHEDULER).replace("WORKER_TTL=20s", f"WORKER_TTL={TTL_S}s")
        files = "\n".join(f"cp {self._keys / name} ." for name in ("ca.pem", "scheduler.pem"))
        self._start(SCHEDULER_HOST, "/bin/sh", "-ec", f"{files}\nexec env {command}")

    def start_host(self, name: str) -> None:
        """Start a host, for the first time or again."""
        options = ("--tables", str(self._tables[name]), "--folder", "worker", "--sandbox", "off")
        self._start(name, "referee", "worker", self.address, *options, "--keys", str(self._keys))

    def start_tournament(self, file: Path, *options: str) -> None:
        """Start a tournament, or go on with it; its records are next to its file."""
        command = ("referee", "tournament", str(file), "--cluster", self.address, "--keys", str(self._keys), *options)
        self._start(KEEPER, "/bin/sh", "-ec", f"cd {file.parent}\nexec {' '.join(command)}")

    def kill(self, name: str) -> None:
        """Kill everything that runs on a host, at once."""
        self.running[name].kill()
        self.running[name].wait()

    def freeze(self, name: str) -> None:
        """Freeze everything that runs on a host."""
        self.running[name].send_signal(signal.SIGSTOP)

    def wake(self, name: str) -> None:
        """Let a frozen host go on."""
        self.running[name].send_signal(signal.SIGCONT)

    def printed(self, name: str) -> str:
        """Return what was printed on a host."""
        return (self._folder / name / "log").read_text()

    def close(self) -> None:
        """End all of it."""
        self.network.close()
        for process in self.running.values():
            process.wait()

    def _start(self, name: str, *command: str) -> None:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        self.running[name] = self.network.start(name, command, folder / "log", PATH=PATH)


@contextlib.contextmanager
def farm(folder: Path, tables: Sequence[int]) -> Iterator[Farm]:
    """Run a scheduler and hosts, and end them."""
    with Network() as network:
        found = Farm(network, folder, tables)
        try:
            yield found
        finally:
            found.close()
