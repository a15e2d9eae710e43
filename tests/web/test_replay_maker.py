"""Pages of matches are made in a process of its own: what it costs is charged, and its end is no end of the site."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from twisted.internet.defer import maybeDeferred
from twisted.internet.task import Clock

from referee.app.replay_worker import PageAnswer
from referee.pages.replays import NOTES, ReplayNotes, page_path
from referee.pages.summary import MatchNotes
from referee.web import replay_maker
from referee.web.rate_limit import TooOften
from referee.web.replay_maker import ReplayMaker
from referee.web.workshop import SECONDS_A_MINUTE

from .looking import Visitor

GOLDEN = Path(__file__).parents[1] / "golden" / "illegal-move.jsonl"


@pytest.fixture
def noted() -> list[tuple[str, Any]]:
    """Return a list of the logged messages."""
    return []


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch, noted: list[tuple[str, Any]]) -> Iterator[ReplayMaker]:
    """Yield a maker of pages that works in this thread."""
    monkeypatch.setattr(replay_maker, "deferToThread", maybeDeferred)
    made = ReplayMaker(Clock().seconds, lambda event, **facts: noted.append((event, facts)))
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a tournament with one match, whose page is made on request."""
    notes = ReplayNotes(report="../report.html", site="", matches={"cup-1": MatchNotes()})
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / NOTES).write_bytes(msgspec.json.encode(notes))
    (tmp_path / "cup-1.jsonl").write_bytes(GOLDEN.read_bytes())
    return tmp_path


def make(maker: ReplayMaker, folder: Path, match: str) -> Any:
    """Let a page be made, and return the outcome."""
    results: list[Any] = []
    maybeDeferred(maker.make, Visitor(), folder, match).addBoth(results.append)
    return getattr(results[0], "value", None)


def test_a_process_that_was_killed_is_started_again(
    maker: ReplayMaker, folder: Path, noted: list[tuple[str, Any]]
) -> None:
    """A page that is not public is refused and logged; the next one is made by the same process, or by another."""
    make(maker, folder, "../secret")
    assert noted == [("replay-failed", {"match": "../secret", "error": "'../secret'"})]
    assert maker.process is not None
    first = maker.process.pid
    assert make(maker, folder, "cup-1") is None
    assert maker.process.pid == first
    page = page_path(folder, "cup-1")
    text = page.read_bytes()
    page.unlink()
    maker.process.kill()
    maker.process.wait()
    make(maker, folder, "cup-1")
    assert page.read_bytes() == text
    assert len(noted) == 1


def test_who_asks_for_many_pages_waits(maker: ReplayMaker, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the other process counts, so that one visitor does not keep it busy."""
    answer = msgspec.json.encode(PageAnswer(SECONDS_A_MINUTE + 1)).decode()
    monkeypatch.setattr(replay_maker, "_COMMAND", ("sh", "-c", f"while read line; do echo '{answer}'; done"))
    assert make(maker, folder, "cup-1") is None
    assert isinstance(make(maker, folder, "cup-1"), TooOften)
