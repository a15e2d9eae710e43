"""How workers are, as observers are told."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.net.jobs import workers
from referee.net.jobs.workers import Workers


def test_workers_are_told_with_their_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how long each has said nothing."""
    made = []

    def _started(_reactor: Any, number: int, *_: Any) -> Any:
        made.append(SimpleNamespace(number=number, pid=1, playing={}, why="", silent_looks=0, gone=Deferred()))
        return made[-1]

    monkeypatch.setattr(workers, "WorkerProcess", _started)
    monkeypatch.setattr(workers, "replace", lambda settings, **_: settings)
    clock = Clock()
    note: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    services: Any = SimpleNamespace(commits=1, sealer=None, observers=SimpleNamespace(note=note))
    found = Workers(clock, 2, cast("Any", None), services, ["one", "two"])
    made[1].playing["cup-00001"] = None
    clock.pump([1.0] * 3)
    made[0].silent_looks = 0
    told = [(each.name, each.state, each.tables, each.matches, each.silent_s) for each in found.processes()]
    assert told == [("worker 1", "plays", None, (), 0.0), ("worker 2", "plays", None, ("cup-00001",), 3.0)]
