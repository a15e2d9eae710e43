"""The Atom feed: the latest results and announcements, as a reader of feeds sees them."""

import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from referee.web import feed
from referee.web.contest_json import Announcement
from referee.web.feed import MOST, FeedEntry, list_announced, list_results, make_feed

from .organisers.test_pages import match
from .sites import PAYLOAD, REPORT, TestSite
from .test_match_pages import GOLDEN

ATOM = "{http://www.w3.org/2005/Atom}"


def test_results_lead_to_their_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The feed has only results whose replay is public; an id never changes."""
    folder = tmp_path / "cup"
    (folder / "replays").mkdir(parents=True)
    (folder / "replays/cup-1.html").touch()
    report = replace(REPORT, entries=[match(number, 1, (0, 1), ("ada", "bob")) for number in (1, 2, 3)])
    (entry,) = list_results(folder, report)
    monkeypatch.setattr(feed, "has_replay", lambda _, name: name != "cup-3")
    shutil.copy(GOLDEN / "clean.jsonl", folder / "cup-2.jsonl")
    on_request, _ = list_results(folder, report)
    assert on_request.title.startswith("cup-2: "), "a replay that is made when somebody asks for it"
    assert (entry.id, entry.title) == ("urn:referee:5eed", "cup-1: ada beat bob; 99 : 0")
    assert entry.address == "tournaments/cup/replays/cup-1.html"


def test_the_newest_come_first_and_texts_stay_texts() -> None:
    """Their number is bounded."""
    said = [Announcement(at=f"2026-11-01T10:{at:02}:00Z", by="ann", text=f"{at} {PAYLOAD}\x00") for at in range(60)]
    parsed = ET.fromstring(make_feed(PAYLOAD, list_announced(said)))
    titles = [entry.findtext(f"{ATOM}title") or "" for entry in parsed.iter(f"{ATOM}entry")]
    assert len(titles) == MOST
    assert titles[0] == f"59 {PAYLOAD}\\x00".replace("\u202e", "\\u202e")
    assert parsed.findtext(f"{ATOM}updated") == "2026-11-01T10:59:00Z"
    ids = [entry.findtext(f"{ATOM}id") for entry in parsed.iter(f"{ATOM}entry")]
    assert len(set(ids)) == MOST


def test_the_site_sends_it(contest: TestSite) -> None:
    """Everybody gets it, with a type that feed readers know; links are relative to it."""
    answer = contest.visitor().ask("GET", "/feed.atom")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/atom+xml; charset=utf-8")
    links = [link.get("href") or "" for link in ET.fromstring(answer.body).iter(f"{ATOM}link")]
    assert links
    assert not any(link.startswith(("/", "http")) for link in links)
    assert isinstance(next(iter(list_announced([])), None), FeedEntry | None)
