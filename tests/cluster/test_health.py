"""A host whose timers are late takes no matches until it is well."""

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock

from referee.cluster.dask_worker import DaskWorker
from referee.cluster.host import WINDOW_S, Health, Host
from referee.cluster.host_run import HostSettings
from referee.settings import SandboxMode
from referee.tournament.hosts import Calibration


@pytest.mark.parametrize(
    ("stalls", "is_well"),
    [
        ([(0.0, 0.9)], True),
        ([(0.0, 60.0)], False),
        ([(0.0, 0.6), (2.0, 2.6)], False),
        ([(0.0, 0.6), (WINDOW_S + 0.1, WINDOW_S + 0.7)], True),
        ([(number / 2, number / 2 + 0.24) for number in range(20)], True),
        ([(0.0, 0.9), (0.0, 0.9)], True),
    ],
    ids=["one", "frozen", "two", "long ago", "many short ones", "told by two runs"],
)
def test_who_stood_still_for_long_is_not_well(stalls: list[tuple[float, float]], *, is_well: bool) -> None:
    """The state is reported once."""
    told: list[bool] = []
    health = Health(told.append)
    for begin, end in stalls:
        health.note_stall(begin, end)
    assert (health.is_well, told) == (is_well, [] if is_well else [False])


def test_a_host_is_well_again_when_its_timers_keep_time() -> None:
    """No timer may have been late for a while. A delay too small to make a host sick can still keep it sick."""
    told: list[bool] = []
    health = Health(told.append)
    health.note_stall(0.0, 2.0)
    health.note_stall(8.0, 8.5)
    for now in (2.0 + WINDOW_S, 8.4 + WINDOW_S, 8.5 + WINDOW_S):
        health.look(now)
    assert told == [False, True]
    assert health.is_well


def test_a_host_rests_while_its_timers_slip(tmp_path: Path) -> None:
    """The organiser and Dask are notified, and the others take its matches."""
    said: list[str] = []
    rests: list[bool] = []
    unused: Any = None
    calibration = Calibration(tables=1, wall_ms=9.0, processor_ms=9.0)
    settings = HostSettings(folder=tmp_path, hidden=(), sandbox=SandboxMode.OFF, calibration=calibration)
    host, now = Host(Clock(), "a", settings, unused, said.append, rests.append), time.monotonic()
    host.health.note_stall(now - 2.0, now)
    assert (rests, len(said)) == ([True], 1)
    host.health.look(now + WINDOW_S)
    assert (rests, len(said)) == ([True, False], 2)


def test_a_host_that_drains_takes_nothing_again(tmp_path: Path) -> None:
    """A host that only rests takes as many matches as before when it has rested."""
    tables: list[int] = []

    class _Worker:
        async def set_resources(self, **resources: int) -> None:
            tables.append(resources["tables"])

    async def _rest_and_drain() -> None:
        worker = DaskWorker("tcp://127.0.0.1:1", None, "a", 2, tmp_path, lambda text: None)
        worker.loop, worker.worker = asyncio.get_running_loop(), _Worker()
        for change in (partial(worker.rest, is_resting=True), partial(worker.rest, is_resting=False), worker.drain):
            change()
            await asyncio.sleep(0)  # called in Dask's loop,
            await asyncio.sleep(0)  # where it waits for the scheduler
        worker.rest(is_resting=False)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(_rest_and_drain())
    assert tables == [0, 2, 0, 0]
