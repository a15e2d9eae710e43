"""Announcements and appeals follow from the log of actions, and are the same after a restart."""

from pathlib import Path

import pytest

from referee.errors import BadRequest
from referee.web.contest import intake
from referee.web.contest.intake import ActionLog
from referee.web.contest.notices import MOST_OPEN, Notices


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder; each action in it has a time of its own."""
    times = (f"2026-11-01T10:{at // 60:02}:{at % 60:02}+00:00" for at in range(3600))
    monkeypatch.setattr(intake, "wall_clock", lambda: next(times))
    return tmp_path


def notices(folder: Path) -> Notices:
    """Return the notices in a folder's log."""
    return Notices(ActionLog(folder), lambda: None)


def test_announcements_are_shown_until_they_are_taken_back(folder: Path) -> None:
    """The newest comes first; a site that starts again shows the same."""
    changes = list[int]()
    before = Notices(ActionLog(folder), lambda: changes.append(1))
    for text in ("one", "two", "three"):
        before.announce("ann", f" {text} ")
    before.take_back("ann", before.announcements()[1].at)
    assert [each.text for each in before.announcements()] == ["three", "one"]
    assert notices(folder).announcements() == before.announcements()
    assert len(changes) == 4
    with pytest.raises(BadRequest, match="not shown any more"):
        before.take_back("ann", "1999-01-01T00:00:00Z")


@pytest.mark.parametrize("text", ["", "  ", "a\nb", "a\u202eb", "x" * 501])
def test_a_text_is_one_line(folder: Path, text: str) -> None:
    """Everybody reads these texts, so empty or long texts, several lines and invisible characters are refused."""
    said = notices(folder)
    with pytest.raises(BadRequest, match="one line"):
        said.announce("ann", text)
    with pytest.raises(BadRequest, match="one line"):
        said.appeal("ada", "cup-00001", text)
    assert (said.announcements(), said.appeals("cup")) == ([], [])


def test_an_appeal_is_answered_by_a_ruling_or_a_rejection(folder: Path) -> None:
    """A ruling on the match answers all appeals about it; a rejection the one of its author."""
    said = notices(folder)
    for author, match in (("ada", "cup-00001"), ("bob", "cup-00001"), ("ada", "cup-00002"), ("ada", "league-00001")):
        said.appeal(author, match, "the board was wrong")
    with pytest.raises(BadRequest, match="already"):
        said.appeal("ada", "cup-00001", "once more")
    said.record("ann", "replay", "cup-00001 in cup", "power cut")
    said.record("ann", "withdraw", "ada in cup", "her wish")
    said.reject("ann", "ada", "cup-00002", "the record shows it")
    assert [(appeal.author, appeal.match, appeal.answer) for appeal in said.appeals("cup")] == [
        ("ada", "cup-00001", "replay, ruled by ann: power cut"),
        ("bob", "cup-00001", "replay, ruled by ann: power cut"),
        ("ada", "cup-00002", "rejected by ann: the record shows it"),
    ]
    with pytest.raises(BadRequest, match="there is no unanswered appeal of ada about cup-00002"):
        said.reject("ann", "ada", "cup-00002", "again")
    waiting = said.find_appeal("ada", "league-00001")
    assert waiting is not None
    assert waiting.answer is None
    assert notices(folder).appeals("cup") == said.appeals("cup")


def test_an_author_has_few_open_appeals(folder: Path) -> None:
    """Other authors are not affected by this limit."""
    said = notices(folder)
    for number in range(MOST_OPEN):
        said.appeal("ada", f"cup-{number:05}", "no")
    with pytest.raises(BadRequest, match=f"{MOST_OPEN} of your appeals are unanswered"):
        said.appeal("ada", "cup-99999", "no")
    said.appeal("bob", "cup-99999", "no")
