"""A contest while it is hosted: tournaments that come each day."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from twisted.internet.task import Clock

from referee.app.tournaments.requests import frozen_path
from referee.plugins import load
from referee.web.contest import hosting
from referee.web.contest.contest_file import CONTEST, read_contest, write_example
from referee.web.contest.hosting import LOOK_AHEAD_S, HostedContest
from referee.web.contest.intake import Intake
from referee.web.contest.practice import RefereeProgram
from referee.web.contest.publishing import LOOK_S
from referee.web.contest.tournament_runs import RunState
from referee.web.submissions.store import Store


class Calendar:
    """Stand-in for datetime with a time of day that a test sets."""

    at = datetime.now(UTC)

    @classmethod
    def now(cls, _zone: object) -> datetime:
        """Return this time."""
        return cls.at


@pytest.fixture
def daily(tmp_path: Path) -> Iterator[tuple[Clock, HostedContest]]:
    """Return a contest whose tournament is played daily, from an hour from now on, and its clock."""
    write_example(tmp_path)
    start = datetime.now(UTC) + timedelta(hours=1)
    text = f'[[tournaments]]\nfile = "cup.toml"\nevery = "day"\nstart = {start.isoformat(timespec="seconds")}'
    (tmp_path / CONTEST).write_text(text)
    contest, clock, store = read_contest(tmp_path, load()), Clock(), Store(tmp_path / "submissions")
    intake = Intake(clock, contest, store, (), lambda *_, **__: None, tmp_path / "key")
    yield clock, HostedContest(clock, contest, RefereeProgram(("/bin/true",), ()), intake, lambda *_, **__: None)
    store.close()


def test_the_next_day_s_tournament_is_announced_when_its_time_has_come(
    daily: tuple[Clock, HostedContest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is on the first page once, with its own address."""
    clock, hosted = daily
    monkeypatch.setattr(hosting, "datetime", Calendar)
    hosted.begin()
    assert len(hosted.runs) == 1
    Calendar.at = datetime.now(UTC) + timedelta(hours=2)
    for _ in range(2):
        clock.advance(LOOK_AHEAD_S)
    assert [run.state for run in hosted.runs.values()] == [RunState.WAITING] * 2
    first, second = hosted.card().tournaments
    assert first.start is not None
    assert second.start == (datetime.fromisoformat(first.start) + timedelta(days=1)).isoformat()
    assert second.name.startswith("cup-")


def test_frozen_standings_stay_as_they_were(
    daily: tuple[Clock, HostedContest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No report is made, and no match is shown that is played, until the freeze is lifted."""
    clock, hosted = daily
    (run,) = hosted.runs.values()
    made = list[str]()
    monkeypatch.setattr(hosted.publisher, "make_report", lambda name, *_: made.append(name))
    run.folder.mkdir(parents=True)
    record = run.folder / f"{run.scheduled.name}.jsonl"
    record.touch()
    names = {"match": "m", "names": ["a", "b"], "round": 1, "table": 1, "event": "match-opened"}
    frozen_path(run.folder).touch()
    run.take(msgspec.json.encode({**names, "match": "hidden"}))
    hosted.publisher.begin()
    (card,) = hosted.card().tournaments
    assert (card.state, card.open_matches, card.played) == ("standings are frozen", [], 0)
    assert card.coming is not None
    assert "lifts the freeze" in card.coming.why
    assert (hosted.live.state.tables, made) == ([], [])
    run.state = RunState.OVER
    assert not hosted.is_over(run.scheduled.name), "the files of all matches are not public yet"
    frozen_path(run.folder).unlink()
    run.take(msgspec.json.encode(names))
    clock.advance(LOOK_S)
    assert made == [run.scheduled.name]
    assert [table.match for table in hosted.live.state.tables] == ["m"]
    assert hosted.is_over(run.scheduled.name)
    assert hosted.card().tournaments[0].state.startswith("is over")
    hosted.publisher.stop()
    record.unlink()  # only its length was looked at
