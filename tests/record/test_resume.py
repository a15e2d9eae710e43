"""Matches are resumed from their records: one by one, or all that a tournament had open."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from referee.match.machine import Match, Phase
from referee.plugins import find_game, load
from referee.record.audit.match import audit
from referee.record.key import Sealer
from referee.record.reader import RecordError
from referee.record.resume import TORN, Recovery, Resumption, check_no_others, recover, reopen
from referee.record.tournament_record import read_tournament, record_path
from referee.tournament.match_context import MatchContext, MatchEntry

from .records import SEALER, Story, record_of, tell
from .tournaments import Organiser, cup

FIND = load().game
STORIES = ("clean", "acknowledged", "illegal move", "dealt, acknowledged", "void")


def finished(story: Story, path: Path) -> None:
    """Feed the remaining events of its story to a reopened match, and write them."""
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
    """Cut after any line, whole or torn, the record is finished with the same content as the undisturbed one."""
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
    """Phase, turn and open requests are those at the crash; the programs are those of the header."""
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
    """A finished record, another key's, a changed one and a missing one are refused, and not changed."""
    path = tmp_path / "m.jsonl"
    whole, begun = record_of("clean"), b"".join(record_of("dealt").splitlines(keepends=True)[:6])
    for data, sealer, problem in (
        (whole, SEALER, "found one that is sealed"),
        (begun, Sealer.new(), "the referee's key"),
        (begun.replace(b'"turn":1', b'"turn":2', 1), SEALER, "expected"),
        (begun.replace(b'"locked_seed":"', b'"locked_seed":"0', 1), SEALER, "expected a line whose hash is"),
        (b"", SEALER, "expected a header"),
    ):
        path.write_bytes(data)
        with pytest.raises(RecordError, match=problem):
            reopen(path, FIND, sealer)
        assert path.read_bytes() == data


@pytest.fixture
def played(tmp_path: Path) -> tuple[MatchContext, MatchEntry]:
    """Return the context and the result of a match whose record is sealed, but not yet in the tournament's record."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        context = organiser.recorder.open(organiser.due()[0])
        return context, organiser.record_match(context)


def path_in(folder: Path, context: MatchContext) -> Path:
    """Return the path of a match's record."""
    return folder / f"{context.fixture.match}.jsonl"


def recovered(folder: Path, context: MatchContext, sealer: Sealer = SEALER) -> Recovery:
    """Recover a single match."""
    return recover(folder, {context.fixture.match: context}, find_game, sealer)


def test_what_is_sealed_is_over(tmp_path: Path, played: tuple[MatchContext, MatchEntry]) -> None:
    """Its result is read from its record."""
    context, entry = played
    assert recovered(tmp_path, context) == Recovery(over=[entry])


def test_of_what_was_never_begun_nothing_is_known(tmp_path: Path, played: tuple[MatchContext, MatchEntry]) -> None:
    """There is no record."""
    path_in(tmp_path, played[0]).unlink()
    assert recovered(tmp_path, played[0]) == Recovery()


@pytest.mark.forges
def test_wherever_the_referee_died_the_match_goes_on(tmp_path: Path, played: tuple[MatchContext, MatchEntry]) -> None:
    """Cut after or within any line, it is put aside without its first line, and resumed without its seal."""
    context, _entry = played
    path = path_in(tmp_path, context)
    lines = path.read_bytes().splitlines(keepends=True)
    for count in (0, 1, 2, len(lines) // 2, len(lines) - 1):
        for rest in (b"", lines[count][:20], lines[count][:-1]):
            path.write_bytes(b"".join(lines[:count]) + rest)
            recovery = recovered(tmp_path, context)
            assert recovery.over == []
            assert list(recovery.open) == ([context.fixture.match] if count else [])
            for resumed in recovery.open.values():
                resumed.writer.close()
            assert path.exists() == bool(count)
            if not count:
                assert path.with_suffix(TORN).read_bytes() == rest


def test_a_record_that_a_dying_worker_still_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: tuple[MatchContext, MatchEntry]
) -> None:
    """Everything counts that the worker writes until then.

    If it keeps the file open, an error says so after a while.
    """
    path, pauses = path_in(tmp_path, played[0]), list[float]()
    *lines, _result, _seal = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    worker = path.open("ab", buffering=0)
    fcntl.flock(worker, fcntl.LOCK_EX)

    def _pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("time.sleep", _pause)
    with pytest.raises(BlockingIOError, match="another referee writes this record"):
        recovered(tmp_path, played[0])
    assert sum(pauses) == pytest.approx(5)

    def _die(_seconds: float) -> None:
        worker.write(lines[-1])
        worker.close()

    monkeypatch.setattr("time.sleep", _die)
    resumed = recovered(tmp_path, played[0]).open[played[0].fixture.match]
    resumed.writer.close()
    assert resumed.writer.count >= len(lines)


def _other_match(path: Path, _context: MatchContext) -> None:
    path.write_bytes(record_of("clean"))


def _changed(path: Path, _context: MatchContext) -> None:
    path.write_bytes(path.read_bytes().replace(b'"at_ms":', b'"at_ms":1', 1))


def _folder(path: Path, _context: MatchContext) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path, _context: MatchContext) -> None:
    path.unlink()
    os.mkfifo(path)


def _another_keys(path: Path, context: MatchContext) -> None:
    path.unlink()
    with Organiser(path.parent / "aside", cup(), Random(2), Sealer.new()) as organiser:
        organiser.record_match(context)
    (path.parent / "aside" / path.name).rename(path)


def _other_opening(path: Path, _context: MatchContext) -> None:
    path.unlink()
    with Organiser(path.parent / "aside", cup(), Random(2)) as organiser:
        organiser.record_match(organiser.recorder.open(organiser.due()[0]))
    next((path.parent / "aside").glob("cup-*.jsonl")).rename(path)


@pytest.mark.forges
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (_other_match, "line 0: expected the match that was opened with line"),
        (_other_opening, "line 0: expected the match that was opened with line"),
        (_changed, "expected a line whose hash is"),
        (_folder, "expected a file"),
        (_pipe, "expected a file"),
        (_another_keys, "line 0: expected key"),
    ],
)
def test_what_does_not_hold_is_not_gone_on_with(
    tmp_path: Path,
    played: tuple[MatchContext, MatchEntry],
    change: Callable[[Path, MatchContext], None],
    complaint: str,
) -> None:
    """These are records of another match, opening or key, a changed record, and a path that is not a file."""
    context, _entry = played
    change(path_in(tmp_path, context), context)
    with pytest.raises(RecordError, match=complaint):
        recovered(tmp_path, context)


@pytest.mark.forges
def test_records_that_the_tournament_does_not_tell_of_are_named(
    tmp_path: Path, played: tuple[MatchContext, MatchEntry]
) -> None:
    """They may belong to another run, so the tournament is not resumed."""
    contexts = read_tournament(record_path(tmp_path, "cup")).contexts
    assert list(contexts) == [played[1].match]
    check_no_others(tmp_path, "cup", contexts)
    (tmp_path / "other-00009.jsonl").touch()
    check_no_others(tmp_path, "cup", contexts)
    (tmp_path / "cup-00009.jsonl").touch()
    with pytest.raises(RecordError, match=r"cup-00009\.jsonl: expected only matches that the record of cup"):
        check_no_others(tmp_path, "cup", contexts)
