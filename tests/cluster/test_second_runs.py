"""A program that fails in mid-match on a host: when the match is played once more elsewhere, and what counts then."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from referee.cluster.acceptance import HandedOut, accepted_bytes
from referee.cluster.cluster_host import ClusterHost, Lost
from referee.cluster.followed import REFUSED, Followed
from referee.cluster.messages import NotBegun, PlayedMatch, ShippedJob
from referee.cluster.second_runs import Counting, SecondRuns
from referee.match import events as e
from referee.net.jobs.job import MatchJob
from referee.net.matches.runner import MatchPaused
from referee.observers import Observers

from ..net.jobs.making import LAUNCH, job_of
from ..net.jobs.played import JOB, Lie, record_of
from .test_replays import FakeHosts

SHIPPED = ShippedJob(run="", match=JOB.match, job=b"", programs=("p", "q"))
FIRST = ClusterHost("first", "")
TURN = 3
"""In which the first seat fails."""
MOVED: dict[str, Any] = {"action": "add", "domino": [0, 0], "square": [2, 2]}


def crashed(move: e.MoveReceived) -> e.SeatEvent:
    """End the program instead of its move."""
    return e.ProgramExited(seat=move.seat, at_ms=move.at_ms, status="exit status 1")


def late(move: e.MoveReceived) -> e.SeatEvent:
    """Let the deadline pass instead of its move."""
    at_ms = move.sent_ms + JOB.terms.time.per_move_ms + JOB.terms.lag_margin_ms + 50.0
    return e.DeadlinePassed(seat=move.seat, at_ms=at_ms, sent_ms=move.sent_ms, lag_ms=0.0, pending="")


def garbled(move: e.MoveReceived) -> e.SeatEvent:
    """Play what breaks a rule instead of its move."""
    return replace(move, move={"action": "nothing"}, frame="")


def failed(move: e.MoveReceived) -> Any:
    """Let the referee fail instead of its move."""
    return e.RefereeFailed(at_ms=move.at_ms, detail="no disk")


def played(lie: Lie = lambda move: move, turn: int = TURN) -> PlayedMatch:
    """Return what a host sends of a match."""
    return PlayedMatch(record=record_of(lie=lie, turn=turn), printed={0: b"no module named late"})


FAILED = {"crashed": played(crashed), "late": played(late), "garbled": played(garbled)}
WHOLE = played()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder of records, none of which is sealed."""
    with TemporaryDirectory() as name:
        yield Path(name)


def settled(
    runs: SecondRuns, folder: Path, first: PlayedMatch, job: MatchJob = JOB, shipped: ShippedJob = SHIPPED
) -> Counting:
    """Return what counts of a match."""
    followed = Followed(job, folder, Observers(), HandedOut(process=""))
    found: list[Any] = []
    Deferred.fromCoroutine(runs.settled(shipped, Counting(FIRST, followed, first))).addBoth(found.append)
    assert isinstance(found[0], Counting), found
    return found[0]


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ("crashed", WHOLE, True),
        ("late", WHOLE, True),
        ("garbled", WHOLE, False),
        ("crashed", played(crashed, TURN + 2), True),
        ("crashed", FAILED["crashed"], False),
        ("crashed", FAILED["late"], False),
        ("crashed", played(crashed, 1), False),
        ("crashed", played(lambda move: replace(move, move=MOVED, frame=""), 1), False),
        ("crashed", None, False),
        ("crashed", PlayedMatch(record=b"nothing"), False),
    ],
    ids=[
        "goes on",
        "in time",
        "illegal",
        "fails later",
        "there too",
        "late there",
        "earlier",
        "another move",
        "alone",
        "a lie",
    ],
)
def test_what_counts(folder: Path, first: str, second: PlayedMatch | None, counts: bool) -> None:  # noqa: FBT001  # of a table
    """The second run, if it takes the same way up to the failure, and goes on there; else the first one."""
    hosts: Any = FakeHosts(folder, second)
    found = settled(SecondRuns(hosts), folder, FAILED[first])
    assert (found.host.name, found.played) == (("other", second) if counts else ("first", FAILED[first]))
    kept = sorted(path.name for path in (folder / REFUSED).glob("*"))
    assert kept == [f"{JOB.match}.first.jsonl", f"{JOB.match}.seat0.e0.stderr"] * counts
    assert [hosts.told[0].split()[0] for _ in hosts.told] == ["e0"] * counts
    found.followed.end(found.played.record)
    assert (found.followed.judged().result.fouls == ()) == (found.played is WHOLE)


@pytest.mark.parametrize(
    ("job", "shipped", "known"),
    [
        (job_of(LAUNCH, LAUNCH, game="quincy"), SHIPPED, False),
        (JOB, ShippedJob(run="", match=JOB.match, job=b"", programs=("", "q")), False),
        (JOB, SHIPPED, True),
    ],
    ids=["players draw the deal", "a house player", "it has come through a match there"],
)
def test_what_counts_at_once(folder: Path, job: MatchJob, shipped: ShippedJob, known: bool) -> None:  # noqa: FBT001  # of a table
    """What can't come out the same, or can't be the host's fault."""
    hosts: Any = FakeHosts(folder, WHOLE)
    runs = SecondRuns(hosts)
    if known:
        runs.note(FIRST, SHIPPED, accepted_bytes(JOB, WHOLE.record, HandedOut(process="")))
    assert settled(runs, folder, FAILED["crashed"], job, shipped).host is FIRST
    assert hosts.notes == []


def test_a_program_whose_failures_are_its_own_is_tried_once(folder: Path) -> None:
    """Its next matches count as they are."""
    hosts: Any = FakeHosts(folder, FAILED["crashed"])
    runs = SecondRuns(hosts)
    for _ in range(2):
        assert settled(runs, folder, FAILED["crashed"]).host is FIRST
    assert [note["counts"] for note in hosts.notes] == [False]


def test_a_second_run_is_stopped_with_the_tournament(folder: Path) -> None:
    """Nothing counts then: the match is played anew."""
    hosts: Any = FakeHosts(folder, WHOLE)
    stopped: list[str] = []
    hosts.give = lambda _host, _attempt: None
    hosts.stop = lambda host, match: stopped.append(f"{match} at {host.name}")
    followed = Followed(JOB, folder, Observers(), HandedOut(process=""))
    found: list[Any] = []
    running = Deferred.fromCoroutine(SecondRuns(hosts).settled(SHIPPED, Counting(FIRST, followed, FAILED["crashed"])))
    running.addBoth(found.append)
    running.cancel()
    assert found[0].check(MatchPaused)
    assert stopped == [f"{JOB.match} at other"]


def test_it_plays_no_more_where_it_lacks_something(folder: Path) -> None:
    """As long as it has moved elsewhere, or another host is there."""
    hosts: Any = FakeHosts(folder, WHOLE)
    hosts.starts.moved("p", "first")
    settled(SecondRuns(hosts), folder, FAILED["crashed"])
    assert set(hosts.starts.fit(("p",), ("first", "other"))) == {"other"}


@pytest.mark.parametrize("bad", [Lost(why="is gone"), NotBegun(why="takes no more matches"), played(failed)])
def test_a_second_run_that_is_lost_is_tried_elsewhere(folder: Path, bad: Any) -> None:
    """Nobody is blamed for a host that goes, either."""
    hosts: Any = FakeHosts(folder, bad)
    given: list[Any] = [bad, WHOLE]
    hosts.give = lambda _host, attempt: attempt.end(given.pop(0))
    assert settled(SecondRuns(hosts), folder, FAILED["crashed"]).played is WHOLE


def test_no_more_than_a_few_hosts_are_tried(folder: Path) -> None:
    """Whatever is the matter with them; then the match counts as it is."""
    hosts: Any = FakeHosts(folder, Lost(why="is gone"))
    assert settled(SecondRuns(hosts), folder, FAILED["crashed"]).host is FIRST
