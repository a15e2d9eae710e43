"""A contest while it is hosted: tournaments that come each day."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from twisted.internet.task import Clock

from referee.plugins import load
from referee.web.contest import hosting
from referee.web.contest.contest_file import CONTEST, read_contest, write_example
from referee.web.contest.hosting import LOOK_AHEAD_S, HostedContest
from referee.web.contest.intake import Intake
from referee.web.contest.practice import RefereeProgram
from referee.web.contest.tournament_runs import RunState
from referee.web.submissions.store import Store


class Calendar:
    """Stand-in for datetime with a time of day that a test sets."""

    at = datetime.now(UTC)

    @classmethod
    def now(cls, _zone: object) -> datetime:
        """Return it."""
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
    """It is on the first page once, with an address of its own."""
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
