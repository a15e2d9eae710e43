"""A match that somebody without the key has played: its record is held against the job, and sealed, or made void."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from referee.match.commands import Result
from referee.net.jobs.acceptance import HandedOut
from referee.net.jobs.messages import Stepped
from referee.net.jobs.remote_match import RemoteMatch
from referee.observers import MatchStep, Observer, Observers
from referee.plugins import find_game
from referee.record.audit.audit import audit
from referee.record.reader import RecordError, read_record
from referee.record.recovery import TORN

from .making import SEALER
from .played import JOB, Played

HANDED_OUT = HandedOut(process="")


class Watching(Observer):
    """Keeps the steps that it is told of."""

    def __init__(self) -> None:
        self.steps: list[MatchStep] = []

    def match_stepped(self, step: MatchStep) -> None:
        """Keep one."""
        self.steps.append(step)


def followed(folder: Path, told: list[Stepped]) -> tuple[RemoteMatch, Watching]:
    """Return a match that was followed, and who was told of it."""
    watching = Watching()
    match = RemoteMatch(JOB, folder, Observers(watching), HANDED_OUT)
    for stepped in told:
        match.take(stepped)
    return match, watching


def audited(path: Path) -> Result:
    """Audit a record, and return its result."""
    line = audit(path, find_game, keys=(SEALER.public,)).result
    assert line is not None
    return line.result


def test_a_record_is_sealed_that_is_what_was_asked_for(tmp_path: Path) -> None:
    """Observers see every step as if it had been played here, positions included; the record audits."""
    played = Played(tmp_path)
    match, watching = followed(tmp_path, played.told)
    with closing(match.sealed(played.end(), SEALER)) as writer:
        writer.sync()
    assert (match.report.result, match.report.head) == (played.match.result, played.writer.result_head)
    assert [(step.line, step.hash) for step in watching.steps] == [(told.line, told.hash) for told in played.told]
    assert watching.steps[-1].position == played.match.state
    record = read_record(match.path)
    assert record.is_sealed
    assert audited(match.path) == played.match.result


@pytest.mark.parametrize(
    ("header", "told", "head"),
    [
        ({"is_fixed": False}, None, None),
        ({"programs": ["house:other", "cmd:1"]}, None, None),
        ({"referee": "0.0"}, None, None),
        ({"context": None}, None, None),
        ({}, slice(0, -1), None),
        ({}, None, "0" * 64),
    ],
    ids=["no fixed deal", "other programs", "another version", "no match of the tournament", "a step more", "a head"],
)
def test_another_record_is_not_sealed(
    tmp_path: Path, header: dict[str, Any], told: slice | None, head: str | None
) -> None:
    """Its worker is not believed: neither what the first line says, nor more or less than what was told."""
    played = Played(tmp_path, header=header)
    match, _ = followed(tmp_path, played.told[told or slice(None)])
    ended = played.end()
    with pytest.raises(RecordError):
        match.sealed(head or ended, SEALER)
    assert not read_record(match.path).is_sealed


def test_lines_are_told_one_by_one(tmp_path: Path) -> None:
    """A gap is an error."""
    played = Played(tmp_path, 3)
    played.writer.close()
    with pytest.raises(RecordError, match="line 3 to be told of"):
        followed(tmp_path, [played.told[0], played.told[2]])


@pytest.mark.parametrize("steps", [1, 5, 8])
def test_a_match_whose_worker_dies_is_void(tmp_path: Path, steps: int) -> None:
    """It is on record as far as it came, told or not; nobody is blamed, and the reason stands there."""
    played = Played(tmp_path, steps)
    played.writer.close()
    with played.path.open("ab") as file:
        file.write(b'{"n":')  # it died while it wrote
    match, _ = followed(tmp_path, played.told[:1])
    match.voided("worker 1 is gone: signal SIGKILL", SEALER)
    record = read_record(match.path)
    assert record.is_sealed
    assert len(record.steps) == steps + 1
    result = audited(match.path)
    assert (result, result.void, result.fouls) == (match.report.result, "worker 1 is gone: signal SIGKILL", ())
    assert match.voiding is not None
    assert match.voiding.hash == record.chain.lines[-3].hash


@pytest.mark.parametrize("left", [None, b"", b'{"n":0,'])
def test_a_match_that_was_not_begun_is_void_as_well(tmp_path: Path, left: bytes | None) -> None:
    """Its record says so, and what there was of a first line is put aside."""
    match, _ = followed(tmp_path, [])
    if left is not None:
        match.path.write_bytes(left)
    match.voided("worker 1 is gone: signal SIGKILL", SEALER)
    record = read_record(match.path)
    assert record.is_sealed
    assert record.header.context == JOB.context
    assert audited(match.path) == match.report.result
    assert match.path.with_suffix(TORN).exists() == (left is not None)


@pytest.mark.parametrize("has_result", [False, True])
def test_a_match_that_was_over_counts(tmp_path: Path, has_result: bool) -> None:  # noqa: FBT001  # of a table
    """That its worker died before it could say so changes nothing."""
    played = Played(tmp_path)
    if has_result:
        played.end()
    played.writer.close()
    match, _ = followed(tmp_path, played.told)
    match.voided("worker 1 is gone: signal SIGKILL", SEALER)
    assert match.voiding is None
    assert match.report.result == played.match.result
    assert read_record(match.path).is_sealed
