"""Which worker plays which match, and what observers are sent about the workers."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.errors import RefereeError
from referee.net.jobs import messages, workers
from referee.net.jobs.messages import Alive, MatchEnded, MatchFailed, SharedSettings, pack_frame
from referee.net.jobs.workers import FROZEN_LOOKS, LOOK_S, MOST_CRASHES, Workers, count_names
from referee.observers import Observers
from referee.programs.confining import Confinement
from referee.record.reader import read_record
from referee.record.writer import RecordWriter
from referee.settings import RunTerms

from ..wires import fired
from .making import SEALER
from .played import JOB, Played


class Standing:
    """Stand-in for a worker; it sends what the test wants."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pid = 1
        self.playing: dict[str, Any] = {}
        self.why = ""
        self.silent_looks = self.matches = 0
        self.gone: Deferred[None] = Deferred()
        self.courses: list[Deferred[Any]] = []
        self.killed: list[str] = []

    def kill(self, why: str) -> None:
        """Store the reason."""
        self.killed.append(why)

    def play(self, _match: Any) -> "Deferred[Any]":
        """Play for as long as the test wants."""
        self.courses.append(Deferred())
        return self.courses[-1]


def begun(
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
    folder: Path = Path("logs"),
    synced: Callable[[RecordWriter], Any] | None = None,
) -> tuple[Workers, list[Standing]]:
    """Return the workers of a tournament that has two, and their stand-ins.

    Args:
        monkeypatch: pytest's.
        clock: of the tournament.
        folder: of the records.
        synced: returns a Deferred that fires when the disk has a record.
    """
    made: list[Standing] = []

    def _started(_reactor: Any, number: int, *_: Any) -> Any:
        made.append(Standing(number))
        return made[-1]

    monkeypatch.setattr(workers, "WorkerProcess", _started)
    monkeypatch.setattr(workers, "replace", lambda settings, **_: settings)
    note: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    commits = SimpleNamespace(sync=synced)
    services: Any = SimpleNamespace(commits=commits, sealer=SEALER, observers=SimpleNamespace(note=note))
    settings: Any = SimpleNamespace(folder=folder, terms=RunTerms(), groups=None)
    return Workers(clock, 2, settings, services, [str(number) for number in range(count_names(2))]), made


def test_workers_are_told_with_their_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observers also get the time since the last sign of life."""
    clock = Clock()
    found, made = begun(monkeypatch, clock)
    made[1].playing["cup-00001"] = None
    clock.pump([1.0] * 3)
    made[0].silent_looks = 0
    told = [(each.name, each.state, each.tables, each.matches, each.silent_s) for each in found.processes()]
    assert told == [("worker 1", "plays", None, (), 0.0), ("worker 2", "plays", None, ("cup-00001",), 3.0)]


def test_the_worker_that_has_least_to_do_plays_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match counts for its worker from when it is assigned until its result has come."""
    found, made = begun(monkeypatch, Clock())
    played = [Deferred.fromCoroutine(found.play(JOB)) for _ in range(4)]
    assert [worker.matches for worker in made] == [len(worker.courses) for worker in made] == [2, 2]
    errors = [fired(playing.addErrback(lambda failure: failure.type)) for playing in played]
    for playing in made[1].courses:
        playing.callback(MatchFailed(match=JOB.match, why="no"))
    assert errors == [[], [RefereeError], [], [RefereeError]]
    played.append(Deferred.fromCoroutine(found.play(JOB)))
    assert [(worker.matches, len(worker.courses)) for worker in made] == [(2, 2), (1, 3)]


def test_a_match_is_through_once_the_disk_has_its_seal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So the tournament's record never has a result that could be lost."""
    on_disk, written = Deferred[None](), list[RecordWriter]()

    def _synced(writer: RecordWriter) -> "Deferred[None]":
        written.append(writer)
        return on_disk

    found, made = begun(monkeypatch, Clock(), tmp_path, _synced)
    playing = fired(Deferred.fromCoroutine(found.play(JOB)))
    played = Played(tmp_path)
    made[0].courses[0].callback(MatchEnded(match=JOB.match, head=played.end()))
    (writer,) = written
    assert (playing, read_record(played.path).is_sealed, writer.file.closed) == ([], True, False)
    on_disk.callback(None)
    assert writer.file.closed
    assert [sealed.result for sealed in playing] == [played.match.result]


def test_a_worker_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watcher counts the looks that found no sign of life."""
    clock = Clock()
    _, made = begun(monkeypatch, clock)
    clock.pump([LOOK_S] * (FROZEN_LOOKS - 1))
    made[0].silent_looks = 0
    assert [worker.killed for worker in made] == [[], []]
    clock.advance(LOOK_S)
    assert [worker.killed for worker in made] == [[], ["it reported nothing for 30 s"]]


def test_another_worker_takes_the_place_of_one_that_dies_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """If workers crash one after the other, somebody has to look. While any worker is left, it plays."""
    found, made = begun(monkeypatch, Clock())
    for death in range(1, MOST_CRASHES):
        made[-1].gone.callback(None)
        assert (len(made), made[-1].number) == (2 + death, 2)
    made[-1].gone.callback(None)
    assert (len(made), [state.name for state in found.processes()]) == (1 + MOST_CRASHES, ["worker 1"])
    made[0].why = "worker 1 is gone: so it was"
    made[0].gone.callback(None)
    errors = fired(Deferred.fromCoroutine(found.play(JOB)).addErrback(lambda failure: str(failure.value)))
    assert errors[0].startswith("all workers have ended; the last reason: worker 1 is gone: so it was; ")


NONSENSE = b"\0\0\0\1\xc1"


@pytest.mark.parametrize(("said", "why"), [(pack_frame([Alive()]), None), (NONSENSE, "its report is not valid: ")])
def test_whatever_a_worker_says_it_lives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: bytes, why: str | None
) -> None:
    """A worker that sends nonsense is killed."""
    killed = list[str]()
    helper = SimpleNamespace(pid=1, write=lambda _: None, kill=killed.append)
    monkeypatch.setattr(messages, "HelperProcess", lambda *_: helper)
    worker = workers.WorkerProcess(None, 1, SharedSettings.of(tmp_path, Confinement(), RunTerms()), Observers())
    worker.silent_looks = 7
    worker.take_data(said)
    assert worker.silent_looks == 0
    assert [text.startswith(str(why)) for text in killed] == ([] if why is None else [True])
