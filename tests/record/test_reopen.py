"""Taking up a record whose referee died: wherever it was cut off, the match goes on from there, or is refused."""

from pathlib import Path

import pytest

from referee.match.machine import Match, Phase
from referee.plugins import load
from referee.record.audit.match import audit
from referee.record.key import Sealer
from referee.record.reader import RecordError
from referee.record.resume import Resumption, reopen

from .records import SEALER, Story, record_of, tell

FIND = load().game
STORIES = ("clean", "acknowledged", "illegal move", "dealt, acknowledged", "void")


def finished(story: Story, path: Path) -> None:
    """Feed a reopened match the events of its story that it has not had, and write them."""
    resumed = reopen(path, FIND, SEALER)
    if resumed.match.result is not None:
        return
    had = len(audit(path, FIND, is_strict=False).transitions)
    assert resumed.last_ms == (story.steps[had - 1][0].at_ms if had else 0.0)
    for event, commands in story.steps[had:]:
        assert resumed.match.handle(event) == commands
        resumed.writer.write_transition(event, commands)
    _end(resumed)


def _end(resumed: Resumption) -> None:
    match = resumed.match
    assert match.result is not None
    resumed.writer.end(match)
    resumed.writer.close()


@pytest.mark.parametrize("name", STORIES)
def test_a_match_goes_on_wherever_its_record_was_cut(tmp_path: Path, name: str) -> None:
    """Cut behind any line, whole or torn, the record is finished and says what the undisturbed one says."""
    story, lines = tell(name), record_of(name).splitlines(keepends=True)
    for count in range(1, len(lines)):
        for torn in (b"", lines[count][: len(lines[count]) // 2], lines[count][:-1]):
            path = tmp_path / f"{count}-{len(torn)}.jsonl"
            path.write_bytes(b"".join(lines[:count]) + torn)
            finished(story, path)
            record = audit(path, FIND, keys=[SEALER.public])
            assert [step.event for step in record.transitions] == [event for event, _ in story.steps]
            assert record.result is not None
            assert record.result.result == story.match.result


def test_the_match_is_as_it_was(tmp_path: Path) -> None:
    """Phase, turn and open requests are those of the moment; the programs are those of the header."""
    path = tmp_path / "m.jsonl"
    tell("unfinished").write(path)
    resumed = reopen(path, FIND, SEALER)
    expected: Match = tell("unfinished").match
    assert resumed.match.phase is expected.phase is not Phase.OVER
    assert (resumed.match.turn, resumed.match.open_requests) == (expected.turn, expected.open_requests)
    assert resumed.match.state == expected.state
    assert resumed.programs == ()
    resumed.writer.close()


@pytest.mark.forges
def test_what_cannot_be_taken_up(tmp_path: Path) -> None:
    """A finished record, another key's, a changed one and none at all are refused, and stay as they are."""
    path = tmp_path / "m.jsonl"
    whole, begun = record_of("clean"), b"".join(record_of("dealt").splitlines(keepends=True)[:6])
    for data, sealer, problem in (
        (whole, SEALER, "found one that is sealed"),
        (begun, Sealer.new(), "the one at hand"),
        (begun.replace(b'"turn":1', b'"turn":2', 1), SEALER, "expected"),
        (begun.replace(b'"locked_seed":"', b'"locked_seed":"0', 1), SEALER, "expected a line whose hash is"),
        (b"", SEALER, "expected a header"),
    ):
        path.write_bytes(data)
        with pytest.raises(RecordError, match=problem):
            reopen(path, FIND, sealer)
        assert path.read_bytes() == data
