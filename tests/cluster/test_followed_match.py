"""A match that a host plays: its lines are stored, sent to spectators, and judged at its end."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from referee.cluster.cluster_host import Attempt, patience_s
from referee.cluster.followed_match import FollowedMatch, find_longest_lag_ms
from referee.cluster.messages import HOSTS_REPORT_S, ShippedJob
from referee.observers import MatchTransition, Observer, Observers
from referee.record.reader import read_record
from referee.settings import RunTerms

from ..net.jobs.making import SEALER
from ..net.jobs.played import JOB, record_of

RECORD = record_of()
STEPS = RECORD.count(b'"kind":"step"')
OTHER_GAME = RECORD.splitlines(keepends=True)[0].replace(b'"quincy"', b'"chess"')
PATIENCE_S = patience_s(JOB)
HALF = RECORD[: len(RECORD) // 2].rpartition(b"\n")[0] + b"\n"


class Watching(Observer):
    """Keeps the lines that it is sent."""

    def __init__(self) -> None:
        self.lines: list[int] = []

    def on_match_advanced(self, step: MatchTransition) -> None:
        """Store the line."""
        self.lines.append(step.line)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder of records, some of which are not valid."""
    with TemporaryDirectory() as name:
        yield Path(name)


def followed(folder: Path, *observers: Observer) -> FollowedMatch:
    """Return a match whose first half has arrived."""
    found = FollowedMatch(JOB, folder, Observers(*observers), RunTerms())
    found.take_lines(0, HALF)
    return found


@pytest.mark.parametrize("watching", [(), (Watching(),)], ids=["nobody looks on", "somebody does"])
def test_what_has_come_is_kept_and_told(tmp_path: Path, watching: tuple[Watching, ...]) -> None:
    """Spectators get every step once; the progress of the match is known with and without spectators."""
    match = followed(tmp_path, *watching)
    assert match.received == HALF
    assert match.is_begun
    assert not match.is_over
    match.end(RECORD)
    judged = match.judge()
    match.remote.seal(judged.result, judged.end, SEALER).close()
    assert [watch.lines for watch in watching] == [list(range(1, STEPS + 1))] * len(watching)
    assert read_record(match.remote.path).is_sealed
    assert [event for event, _ in judged.unusual] == ["match-opened", "match-ended"]


@pytest.mark.parametrize("watching", [(), (Watching(),)], ids=["nobody looks on", "somebody does"])
@pytest.mark.parametrize(
    ("come", "steps"), [(HALF, HALF.count(b'"kind":"step"')), (RECORD, 0), (b"garbage\n", 0), (OTHER_GAME, 0)]
)
def test_a_match_whose_host_is_lost_is_void(
    folder: Path, come: bytes, steps: int, watching: tuple[Watching, ...]
) -> None:
    """Its record up to then is kept; files that were not judged, and lines of no record, are put aside."""
    match = FollowedMatch(JOB, folder, Observers(*watching), RunTerms())
    match.take_lines(0, come)
    match.void("its host is gone", SEALER)
    record = read_record(match.remote.path)
    assert record.is_sealed
    assert record.result is not None
    assert record.result.result.void == "its host is gone"
    assert len(record.transitions) == steps + 1


def test_a_match_stands_still_of_which_nothing_comes(folder: Path) -> None:
    """It is given up after the longest time that one step may take, unless it waits for a table."""
    match, shipped, most = (
        followed(folder),
        ShippedJob(run="", match=JOB.match, job=b"", programs=()),
        int(PATIENCE_S / HOSTS_REPORT_S),
    )
    attempt = Attempt(shipped, match)
    assert not any(attempt.check_stalled(is_its_turn=False) for _ in range(2 * most))
    stalled = [attempt.check_stalled(is_its_turn=True) for _ in range(most + 3)]
    assert stalled.index(True) in (most, most + 1)


def test_a_match_that_goes_on_does_not_stand_still(folder: Path) -> None:
    """This holds however slow the match is."""
    match = FollowedMatch(JOB, folder, Observers(), RunTerms())
    attempt, looks = (
        Attempt(ShippedJob(run="", match=JOB.match, job=b"", programs=()), match),
        int(PATIENCE_S / HOSTS_REPORT_S),
    )
    for line in RECORD.splitlines(keepends=True)[:20]:
        match.take_lines(match.size, line)
        assert not any(attempt.check_stalled(is_its_turn=True) for _ in range(looks // 4))


@pytest.mark.parametrize(
    ("record", "lag_ms"),
    [(b"", 0.0), (b'{"lag_ms":1.5,"a":1}\n{"lag_ms":12}\n{"lag_ms":-3.0}\n{"lag_ms":1e9}', 12.0)],
)
def test_the_longest_lag(record: bytes, lag_ms: float) -> None:
    """It is found in the lines of the record, as far as they have one."""
    assert find_longest_lag_ms(record) == lag_ms
