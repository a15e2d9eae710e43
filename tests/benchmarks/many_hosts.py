"""Measures the growth of the coordinator's time and memory for a match, in a million simulated matches on 1000 hosts.

Hosts and attempts are managed by the product's own code. A stand-in replaces the process that speaks to Dask. It
answers each match after the time that one of a real tournament took, on a clock that is moved by hand.
"""

import argparse
import heapq
import itertools
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.cluster import admission
from referee.cluster.cluster_host import Attempt, ClusterHost
from referee.cluster.messages import (
    HostAnswer,
    KnownHosts,
    PlayedMatch,
    RunAnswer,
    SeenHost,
    ShippedJob,
    encode_message,
)
from referee.settings import RunTerms
from referee.tournament.hosts import Calibration

DURATIONS_S = (0.9, 1.1, 1.4, 1.6, 1.9, 2.3, 2.4, 2.8, 3.7, 5.2, 8.1, 21.0)
"""Durations of matches of a class of students; long ones are rare."""
LOOK_S = 0.5
"""Time between two reports of all hosts, as in the real process."""
CALIBRATION = Calibration(tables=1, wall_ms=9.0, processor_ms=9.0)
WELCOME, PLAYED = encode_message(RunAnswer(calibration=CALIBRATION)), encode_message(PlayedMatch(record=b""))
JOB: Any = SimpleNamespace(
    seats=("a", "b"),
    terms=SimpleNamespace(time=SimpleNamespace(per_move_ms=1000, start_ms=10_000), come_back_s=0.0),
)
"""The parts of a match's job that the measured code reads."""
PARTS = 10


class StandIn:
    """Stand-in for the process that speaks to Dask, on a clock of its own."""

    def __init__(self, *_: Any) -> None:
        self.now_s = 0.0
        self._coming: list[tuple[float, int, Callable[[HostAnswer], None], bytes]] = []
        self._count = itertools.count()
        self._durations = itertools.cycle(DURATIONS_S)

    def ask(self, _address: str, call: str, _message: Any, on_answer: Callable[[HostAnswer], None]) -> int:
        """Plan an answer for later."""
        number = next(self._count)
        takes_s = next(self._durations) if call == "play" else 0.0
        heapq.heappush(self._coming, (self.now_s + takes_s, number, on_answer, PLAYED if takes_s else WELCOME))
        return number

    def go_on(self, until_s: float) -> None:
        """Give all answers that are due by a time."""
        while self._coming and self._coming[0][0] <= until_s:
            self.now_s, number, on_answer, data = heapq.heappop(self._coming)
            on_answer(HostAnswer(number=number, data=data))
        self.now_s = until_s


class Simulated:
    """A tournament that always has another match to play.

    Args:
        count: how many hosts.
        folder: is not used.
    """

    def __init__(self, count: int, folder: Path) -> None:
        nobody = SimpleNamespace(note=lambda *_, **__: None, tell=lambda *_: None)
        services: Any = SimpleNamespace(observers=nobody, sealer=SimpleNamespace(public=""))
        limits = SimpleNamespace(memory_mib=512)
        around: Any = SimpleNamespace(folder=folder, hidden=(), limits=limits, terms=RunTerms())
        plan = admission.ClusterPlan(address="", keys=None, tournament="cup", game="q")
        names = [f"process{number}" for number in range(count)]
        self.hosts = admission.Hosts(Clock(), plan, around, services, names, self._fill, lambda *_: None)
        self.wire: Any = self.hosts.dispatcher
        self.seen = KnownHosts(hosts=tuple(SeenHost(name=f"h{n}", address=f"a{n}", tables=1) for n in range(count)))
        self.left = self.played = self.open = 0

    def play(self, matches: int) -> None:
        """Play a number of further matches."""
        self.left += matches
        until = self.played + matches
        while self.played < until:
            self.hosts.take_report(self.seen)
            self.wire.go_on(self.wire.now_s + LOOK_S)

    def _fill(self) -> None:
        while self.left and self.open < self.hosts.choice.room:
            self.left, self.open = self.left - 1, self.open + 1
            Deferred.fromCoroutine(self.hosts.wait_for_host(None, ())).addCallback(self._given)

    def _given(self, host: ClusterHost) -> None:
        followed: Any = SimpleNamespace(is_begun=True, stage=0, job=JOB, lag_ms=0.0)
        attempt = Attempt(ShippedJob(run="", match=f"cup-{self.left:07}", job=b"", programs=()), followed)
        attempt.outcome.addCallback(self._over)
        self.hosts.give(host, attempt)

    def _over(self, _outcome: object) -> None:
        self.open, self.played = self.open - 1, self.played + 1
        self._fill()


def main(arguments: list[str]) -> int:
    """Play the matches, and print a line for each tenth of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks many_hosts", description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--matches", type=int, default=1_000_000)
    chosen = parser.parse_args(arguments)
    print("  matches | us of processor time a match | MiB of memory at most")
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(admission, "DispatcherLink", StandIn):
        simulated = Simulated(chosen.hosts, Path(folder))
        for _ in range(PARTS):
            begun = time.process_time()
            simulated.play(chosen.matches // PARTS)
            each_us = 1e6 * (time.process_time() - begun) / (chosen.matches // PARTS)
            memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{simulated.played:9} | {each_us:28.0f} | {memory_mib:21.0f}", flush=True)
    return 0
