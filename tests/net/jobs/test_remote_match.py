"""A match that a worker has played without the key: its record is sealed, or the match is void."""

from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from referee.match.commands import Result
from referee.net.jobs.messages import Advanced
from referee.net.jobs.remote_match import RemoteMatch
from referee.observers import MatchTransition, Observer, Observers
from referee.observers.metrics import Metrics
from referee.plugins import find_game
from referee.record.audit.match import audit
from referee.record.reader import RecordError, read_record
from referee.record.resume import TORN
from referee.settings import Durability

from .making import SEALER
from .played import ALL, JOB, Played

WHY = "worker 1 is gone: signal SIGKILL"


class Watching(Observer):
    """Keeps the transitions that it is sent."""

    def __init__(self) -> None:
        self.steps: list[MatchTransition] = []

    def on_match_advanced(self, step: MatchTransition) -> None:
        """Store the transition."""
        self.steps.append(step)


def followed(
    folder: Path, told: list[Advanced], *others: Observer, durability: Durability = Durability.MATCH
) -> tuple[RemoteMatch, Watching]:
    """Return a match that is followed, and its observer."""
    watching = Watching()
    match = RemoteMatch(JOB, folder, durability, Observers(watching, *others).notify_transition)
    for stepped in told:
        match.take(stepped)
    return match, watching


def audited(path: Path) -> Result:
    """Audit a record, and return its result."""
    line = audit(path, find_game, keys=(SEALER.public,)).result
    assert line is not None
    return line.result


@pytest.mark.parametrize("is_followed", [False, True])
def test_a_record_is_sealed_as_its_worker_has_written_it(tmp_path: Path, is_followed: bool) -> None:  # noqa: FBT001  # of a table
    """Observers get each transition with its position, as if it was played here, and the record passes its audit."""
    played = Played(tmp_path)
    match, watching = followed(tmp_path, played.told if is_followed else [])
    with closing(match.check_and_seal(played.end(), SEALER)) as writer:
        writer.sync()
    assert (match.played.result, match.played.head) == (played.match.result, played.writer.sealed_head)
    told = played.told if is_followed else []
    assert [(step.line, step.hash) for step in watching.steps] == [(each.line, each.hash) for each in told]
    assert [step.position for step in watching.steps[-1:]] == [played.match.state] * is_followed
    assert read_record(match.path).is_sealed
    assert audited(match.path) == played.match.result


@pytest.mark.parametrize(("is_over", "head"), [(True, "0" * 64), (False, None)])
def test_a_record_is_not_sealed_that_ends_otherwise(tmp_path: Path, is_over: bool, head: str | None) -> None:  # noqa: FBT001  # of a table
    """Its last line is not the one that the worker reports, or it is a transition."""
    played = Played(tmp_path)
    ended = played.end() if is_over else played.writer.head
    played.writer.close()
    match, _ = followed(tmp_path, [])
    with pytest.raises(RecordError, match="expected the result whose hash is"):
        match.check_and_seal(head or ended, SEALER)
    assert not read_record(match.path).is_sealed


def test_lines_are_told_one_by_one(tmp_path: Path) -> None:
    """A gap between lines is an error."""
    played = Played(tmp_path, 3)
    played.writer.close()
    with pytest.raises(RecordError, match="line 2 to be reported"):
        followed(tmp_path, [played.told[0], played.told[2]])


@pytest.mark.parametrize("steps", [1, 5, 8])
def test_a_match_whose_worker_dies_is_void(tmp_path: Path, steps: int) -> None:
    """The record has all lines up to then, reported or not. Nobody is blamed, and the result has the reason."""
    played = Played(tmp_path, steps)
    played.writer.close()
    with played.path.open("ab") as file:
        file.write(b'{"n":')  # the worker crashed while it wrote
    match, _ = followed(tmp_path, played.told[:1])
    match.void(WHY, SEALER)
    record = read_record(match.path)
    assert record.is_sealed
    assert len(record.transitions) == steps + 1
    result = audited(match.path)
    assert (result, result.void, result.fouls) == (match.played.result, WHY, ())


@pytest.mark.parametrize(
    ("steps", "told", "lines", "end"), [(0, 0, 1, "void"), (5, 0, 6, "void"), (5, 2, 6, "void"), (ALL, -3, 0, "played")]
)
def test_what_a_dead_worker_did_not_tell_is_told(tmp_path: Path, steps: int, told: int, lines: int, end: str) -> None:
    """Observers get each line of the record once, so exactly one match is over for them, and none is running."""
    reports: list[Advanced] = []
    if steps:
        played = Played(tmp_path, steps)
        played.writer.close()
        reports = played.told
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    match, watching = followed(tmp_path, reports[:told], metrics)
    match.void(WHY, SEALER)
    for step in match.unreported:
        watching.on_match_advanced(step)
        metrics.on_match_advanced(step)
    hashes = [line.hash for line in read_record(match.path).chain.lines[1:-2]]
    assert [(step.line, step.hash) for step in watching.steps] == list(enumerate(hashes, 1))
    assert len(hashes) == (lines or len(reports))
    assert registry.get_sample_value("referee_matches_running") == 0
    assert registry.get_sample_value("referee_matches_total", {"game": "quincy", "end": end}) == 1


@pytest.mark.parametrize("left", [None, b"", b'{"n":0,'])
def test_a_match_that_was_not_begun_is_void_as_well(tmp_path: Path, left: bytes | None) -> None:
    """Its record says so, and an incomplete first line is put aside."""
    match, _ = followed(tmp_path, [], durability=Durability.TURN)
    if left is not None:
        match.path.write_bytes(left)
    match.void(WHY, SEALER)
    record = read_record(match.path)
    assert record.is_sealed
    assert (record.header.context, record.header.durability) == (JOB.context, "turn")
    assert audited(match.path) == match.played.result
    assert match.path.with_suffix(TORN).exists() == (left is not None)


@pytest.mark.parametrize("has_result", [False, True])
def test_a_match_that_was_over_counts(tmp_path: Path, has_result: bool) -> None:  # noqa: FBT001  # of a table
    """It does not matter that its worker crashed before it could report the end."""
    played = Played(tmp_path)
    if has_result:
        played.end()
    played.writer.close()
    match, _ = followed(tmp_path, played.told)
    match.void(WHY, SEALER)
    assert match.unreported == []
    assert match.played.result == played.match.result
    assert read_record(match.path).is_sealed
