"""Matches that are played again on another host: which ones, and what is told of them."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from referee.cluster.acceptance import HandedOut
from referee.cluster.cluster_host import Attempt, ClusterHost, Lost
from referee.cluster.messages import PlayedMatch, ShippedJob
from referee.cluster.replays import FOLDER, Replays, difference, is_drawn, is_reproducible
from referee.cluster.starts import Starts
from referee.launch import house_launch
from referee.net.jobs.job import MatchJob
from referee.record.reader import Record, record_in

from ..net.jobs.making import LAUNCH, SEALER, job_of
from ..net.jobs.played import JOB, record_of

DAG = house_launch("dag")
SURE = replace(LAUNCH, is_reproducible=True)
SHIPPED = ShippedJob(run="", match=JOB.match, job=b"", programs=("", ""))


def record_bytes(square: tuple[int, int] | None = None, **changes: Any) -> bytes:
    """Return the record of a match whose first move is another one, if a square is given, or took another time."""
    more = {} if square is None else {"move": {"action": "add", "domino": [0, 0], "square": list(square)}}
    return record_of(lie=lambda move: replace(move, **changes, **more))


def record(data: bytes) -> Record:
    """Return a record of its bytes."""
    return record_in(data, Path("cup-00001.jsonl"))


@pytest.fixture(scope="module")
def honest() -> bytes:
    """Return the record of a match."""
    return record_bytes()


@pytest.mark.parametrize(
    ("job", "is_fit"),
    [
        (job_of(DAG, DAG, number=1, drawn=None), True),
        (job_of(DAG, SURE, number=1, drawn=None), True),
        (job_of(DAG, SURE), False),
        (job_of(DAG, LAUNCH, number=1, drawn=None), False),
        (job_of(DAG, house_launch("search"), number=1, drawn=None), False),
        (job_of(DAG, "is not started", number=1, drawn=None), False),
        (job_of(DAG, None, number=1, drawn=None), False),
    ],
    ids=["house", "a program that says so", "nonces", "one that does not", "by time", "vacant", "connected"],
)
def test_what_must_come_out_the_same(job: MatchJob, is_fit: bool) -> None:  # noqa: FBT001  # of a table
    """The deal, and both programs."""
    assert is_reproducible(job) == is_fit


def test_the_lot_falls_on_a_share_of_all() -> None:
    """By the key: always on the same ones, and by another key on others."""
    names = [f"cup-{number:05}" for number in range(2000)]
    drawn = [name for name in names if is_drawn(name, SEALER, 0.03)]
    assert 20 < len(drawn) < 120
    assert drawn == [name for name in names if is_drawn(name, SEALER, 0.03)]
    assert not any(is_drawn(name, SEALER, 0.0) for name in names)


def test_times_make_no_difference(honest: bytes) -> None:
    """Moves do, and how it ended."""
    one = record(honest)
    assert difference(one, record(record_bytes(at_ms=500.0, first_byte_ms=400.0))) is None
    assert difference(one, record(record_bytes(square=(2, 2)))) == "move 1 is another one"
    assert one.result is not None
    ended = dataclasses.replace(one, result=replace(one.result, result=replace(one.result.result, scores=(9, 9))))
    assert difference(one, ended) == "it ended otherwise"


class FakeHosts:
    """A cluster of two hosts, of which the other one returns what a test says.

    Args:
        folder: of the records.
        returned: what it returns; None: it is alone.
    """

    def __init__(self, folder: Path, returned: Any) -> None:
        self.settings = SimpleNamespace(folder=folder, keep_for=None)
        self.services = SimpleNamespace(observers=SimpleNamespace(note=self._note), sealer=SEALER)
        self.returned = returned
        self.choice = self
        self.starts = Starts()
        self.told: list[str] = []
        self.aside: list[str] = []
        self.notes: list[dict[str, Any]] = []

    def other(self, than: ClusterHost, _programs: Any) -> ClusterHost | None:
        """Return the other host."""
        return None if self.returned is None or self.aside else ClusterHost("other", "")

    def handed_out(self, _host: ClusterHost) -> HandedOut:
        """Say how it is given a match."""
        return HandedOut(process="")

    def give(self, _host: ClusterHost, attempt: Attempt) -> None:
        """Play it at once."""
        attempt.end(self.returned)

    def put_aside(self, host: ClusterHost, why: str) -> None:
        """Take note."""
        self.aside.append(f"{host.name} {why}")

    def say(self, text: str, **_facts: Any) -> None:
        """Take note."""
        self.told.append(text)

    def _note(self, event: str, **facts: Any) -> None:
        self.notes.append({"event": event, **facts})


def replayed(folder: Path, honest: bytes, returned: Any, share: float = 1.0) -> FakeHosts:
    """Have a match played again, and return what came of it."""
    (folder / "away.jsonl").write_bytes(honest)
    hosts: Any = FakeHosts(folder, returned)
    job = replace(JOB, seats=tuple(replace(seat, launch=SURE) for seat in JOB.seats))
    Replays(hosts, share).consider(job, SHIPPED, ClusterHost("first", ""), folder / "away.jsonl")
    found: FakeHosts = hosts
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder of records, none of which is sealed."""
    with TemporaryDirectory() as name:
        yield Path(name)


def test_a_match_that_comes_out_the_same_is_noted(folder: Path, honest: bytes) -> None:
    """Nobody is told, and nothing is kept."""
    hosts = replayed(folder, honest, PlayedMatch(record=record_bytes(at_ms=500.0, first_byte_ms=400.0)))
    assert [(note["event"], note["differs"]) for note in hosts.notes] == [("replayed", None)]
    assert (hosts.told, hosts.aside, list((folder / FOLDER).glob("*.jsonl"))) == ([], [], [])


def test_one_that_comes_out_otherwise_is_shown(folder: Path, honest: bytes) -> None:
    """With the first move that differs, both hosts, and the other record."""
    again = record_bytes(square=(2, 2))
    hosts = replayed(folder, honest, PlayedMatch(record=again))
    assert "move 1 is another one at host first and at other" in hosts.told[0]
    assert (folder / FOLDER / "cup-00001.other.jsonl").read_bytes() == again


def test_a_host_that_lies_when_it_plays_again_is_put_aside(folder: Path, honest: bytes) -> None:
    """As if it had played first."""
    hosts = replayed(folder, honest, PlayedMatch(record=honest[:-20]))
    assert "part of a line" in hosts.aside[0]


@pytest.mark.parametrize(
    ("returned", "share"), [(None, 1.0), (Lost(why="is gone"), 1.0), (PlayedMatch(record=b""), 0.0)]
)
def test_what_is_not_played_again(folder: Path, honest: bytes, returned: Any, share: float) -> None:
    """A match on which the lot has not fallen, or for which there is no other host, or which that one loses."""
    hosts = replayed(folder, honest, returned, share)
    assert (hosts.notes, hosts.told, hosts.aside) == ([], [], [])
