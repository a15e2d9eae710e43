"""The failures that the benchmark `hosts` causes on purpose come in time, even in a very small tournament."""

import argparse
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from ..benchmarks.hosts import troubles
from .hosts import KEEPER, Farm
from .troubles import Endured, Trouble

WAITS = "import sys; sys.stdin.read()"


class Keeper:
    """Stand-in for a tournament's process: its dispatcher runs at the third call of `poll`, and then the process ends.

    Args:
        folder: folder that it runs in.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._looks = 0
        self.dispatcher: subprocess.Popen[bytes] | None = None

    def poll(self) -> int | None:
        """Return the exit status of the process; None while it runs."""
        self._looks += 1
        if self._looks == 3:
            command = [sys.executable, "-c", WAITS, "referee.cluster.dispatcher"]
            self.dispatcher = subprocess.Popen(command, cwd=self._folder, stdin=subprocess.PIPE)
        return None if self.dispatcher is None or self.dispatcher.poll() is None else 0


class Hosts:
    """Stand-in for a farm of one host, which has printed nothing at the first look."""

    def __init__(self, keeper: Keeper) -> None:
        self.running = {KEEPER: keeper}
        self.frozen = ""
        self._printed = iter(("", "starting"))

    def start_tournament(self, file: Path, *options: str) -> None:
        """Do nothing: the tournament runs."""

    def printed(self, _host: str) -> str:
        """Return what a host has printed by now."""
        return next(self._printed, "connected as one, with 1 table\n")

    def freeze(self, host: str) -> None:
        """Note which host is frozen."""
        self.frozen = host


def test_troubles_wait_for_what_they_come_over(tmp_path: Path) -> None:
    """A dispatcher that does not run yet is killed once it runs; a host is frozen once it has printed its name."""
    keeper = Keeper(tmp_path)
    hosts = Hosts(keeper)
    endured = Endured(cast(Farm, hosts), tmp_path / "cup.toml")
    endured.run([Trouble(after=0, what="freeze", host="host1"), Trouble(after=0, what="dispatcher")])
    assert hosts.frozen == "host1"
    assert keeper.dispatcher is not None
    keeper.dispatcher.communicate()
    assert keeper.dispatcher.returncode == -signal.SIGKILL


@pytest.mark.parametrize("hosts", [1, 2, 4])
def test_troubles_come_before_the_last_match_is_closed(hosts: int) -> None:
    """This holds with two entrants, and even with one host: each failure hits a host that exists."""
    chosen = argparse.Namespace(seed=1, entrants=2, rounds=3, hosts=hosts)
    found = list(troubles(chosen))
    assert max(trouble.after for trouble in found) < chosen.rounds
    assert {trouble.host for trouble in found if trouble.what == "freeze"} <= {f"host{n + 1}" for n in range(hosts)}
