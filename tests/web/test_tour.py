"""A whole contest in a browser, as an author, an organiser and a visitor go through it."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..hosted import hosting, shown_until
from ..pages.browser import Page, start_browser
from .tour import HOSTILE, Tour


@pytest.fixture
def tour(tmp_path: Path) -> Iterator[Tour]:
    """Return a contest that is not hosted yet, and a browser."""
    (tmp_path / "profile").mkdir()
    driver = start_browser(tmp_path / "profile")
    yield Tour(tmp_path, Page(driver))
    driver.quit()


@pytest.mark.long
def test_three_people_go_through_a_contest(tour: Tour) -> None:
    """From a broken program to a final that was paused, ruled on and followed on a phone. No text runs as a script."""
    with hosting(tour.contest, signal.SIGTERM, says=None) as site:
        tour.goes_on(site)
        assert "waits for its time" in tour.visitor().text("#tournament-final")
        failed = tour.hand_in(tour.broken, "failed")
        assert f"oops {HOSTILE}" in failed.text(".steps .facts")
        assert tour.alive() == []
        assert "How to fix it" in failed.texts(".steps dt")
        assert "plays" in tour.hand_in(tour.mended, "passed").text("#state")
        assert "place" in tour.practise().text("#live td a")

        tour.decide("start")
        live = tour.visitor("live")
        live.wait_until(
            "document.querySelector('.board svg') && document.querySelector('.lines')?.innerText.includes('ada')"
        )
        assert live.run("return document.documentElement.scrollWidth") == 390
        match = live.text(".table .facts").split()[0]
        shown_until(site, lambda final: match not in {each["match"] for each in final["open_matches"]})
        tour.decide("pause")
        reason = f"the wire broke {HOSTILE}"
        assert reason in tour.award(match, reason).text(".actions")
        assert tour.alive() == []
        tour.decide("start")
        shown_until(site, lambda final: final["state"] == "is over")

        assert tour.visitor().text("#tournament-final .badge") == "over"
        report = tour.visitor("tournaments/final/report.html")
        assert reason in report.text("main")
        assert tour.alive() == []
        report.follow("header a[href*='verify.html']")
        report.wait_until("document.querySelector('#verified dt')")
        assert report.texts("#verified dt")[0] == "holds"
        assert report.texts("#verified dd")[1].endswith(": the head that the page names")
        replay = tour.visitor(f"tournaments/final/replays/{match}.html")
        assert "ada was expelled in turn" in replay.text(".expulsion h2")
        replay.follow("a[href^='verify.html']")
        replay.wait_until("document.querySelector('#verified dt')")
        assert replay.texts("#verified dt")[0] == "holds"

        matches = tour.author("author/matches")
        matches.run("document.querySelector('th > button').click()")
        assert matches.texts("[aria-sort=ascending]") == ["Match"]
        matches.follow("tr:has(td .failed) a")
        assert "crashed" in matches.text("#expelled")
        assert f"I give up {HOSTILE}" in matches.text("[aria-labelledby=printed]")
        assert tour.alive() == []
        assert matches.complaints() == []
