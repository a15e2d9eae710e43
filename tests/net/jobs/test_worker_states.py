"""Which worker plays what, and how workers are, as observers are told."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.net.jobs import workers
from referee.net.jobs.messages import MatchFailed
from referee.net.jobs.workers import Workers, WorkersFail

from ..wires import fired
from .played import JOB


class Standing:
    """What stands in for a worker: it says what the test has it say."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pid = 1
        self.playing: dict[str, Any] = {}
        self.why = ""
        self.silent_looks = self.matches = 0
        self.gone: Deferred[None] = Deferred()
        self.courses: list[Deferred[Any]] = []

    def play(self, _match: Any) -> "Deferred[Any]":
        """Play for as long as the test likes."""
        self.courses.append(Deferred())
        return self.courses[-1]


def begun(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> tuple[Workers, list[Standing]]:
    """Return the workers of a tournament that has two, and what stands in for them."""
    made: list[Standing] = []

    def _started(_reactor: Any, number: int, *_: Any) -> Any:
        made.append(Standing(number))
        return made[-1]

    monkeypatch.setattr(workers, "WorkerProcess", _started)
    monkeypatch.setattr(workers, "replace", lambda settings, **_: settings)
    note: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    services: Any = SimpleNamespace(commits=1, sealer=None, observers=SimpleNamespace(note=note))
    settings: Any = SimpleNamespace(folder=Path("logs"), durability=None, groups=None)
    return Workers(clock, 2, settings, services, ["one", "two"]), made


def test_workers_are_told_with_their_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how long each has said nothing."""
    clock = Clock()
    found, made = begun(monkeypatch, clock)
    made[1].playing["cup-00001"] = None
    clock.pump([1.0] * 3)
    made[0].silent_looks = 0
    told = [(each.name, each.state, each.tables, each.matches, each.silent_s) for each in found.processes()]
    assert told == [("worker 1", "plays", None, (), 0.0), ("worker 2", "plays", None, ("cup-00001",), 3.0)]


def test_the_worker_that_has_least_to_do_plays_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matches are counted from when one is handed out until something has come of it."""
    found, made = begun(monkeypatch, Clock())
    played = [Deferred.fromCoroutine(found.play(JOB)) for _ in range(4)]
    assert [worker.matches for worker in made] == [len(worker.courses) for worker in made] == [2, 2]
    errors = [fired(course.addErrback(lambda failure: failure.type)) for course in played]
    for course in made[1].courses:
        course.callback(MatchFailed(match=JOB.match, why="no"))
    assert errors == [[], [WorkersFail], [], [WorkersFail]]
    played.append(Deferred.fromCoroutine(found.play(JOB)))
    assert [(worker.matches, len(worker.courses)) for worker in made] == [(2, 2), (1, 3)]
