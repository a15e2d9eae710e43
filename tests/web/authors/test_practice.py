"""An author's page about practice matches, with scripts and without."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.web.person.browser import seat_page
from referee.web.submissions.challenges import PracticeRules
from referee.web.submissions.store import CheckOutcome

from ...pages.browser import Page, start_browser
from ..services import StandInSeat
from ..sites import NOW, PAYLOAD, TestSite
from ..submissions.receptions import archive


def test_an_author_asks_for_a_practice_match(contest: TestSite) -> None:
    """That is possible once a version has passed.

    A refusal has a remedy, and the list shows the state of each match.
    """
    ada = contest.signed_in("ada")
    page = ada.ask("GET", "/author/practice").body
    assert (
        b"None of your versions has passed its check yet" in page,
        b"Request the match" in page,
        b"Play it yourself" in page,
    ) == (1, 0, 1)
    contest.store.hand_in("ada", archive(), NOW)
    contest.store.conclude("ada", 1, CheckOutcome(passed=True), NOW)
    asked = {"tournament": "cup", "version": "1", "opponent": "house:dag"}
    assert ada.fill_in("/author/practice", "/author/practice", **asked).headers["location"] == "/author/practice"
    refused = ada.fill_in("/author/practice", "/author/practice")
    assert (refused.status, refused.body.count(b'role="alert"')) == (409, 1)
    assert contest.practice.asked == [("ada", "cup", "1", "house:dag")]
    assert b"not played: " in refused.body


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Page]:
    """Yield a browser."""
    (tmp_path / "profile").mkdir()
    driver = start_browser(tmp_path / "profile")
    yield Page(driver)
    driver.quit()


def test_only_house_players_that_play_by_the_rules_are_offered(
    contest: TestSite, browser: Page, tmp_path: Path
) -> None:
    """Without a script, the first choice fits most tournaments; with it, the others can't be chosen."""
    rules = [
        PracticeRules(tournament="cup", game="Quincy", houses=["greedy", "search"]),
        PracticeRules(tournament="league", game="The Q game", houses=["dag", "greedy", "ldasg"]),
    ]
    contest.practice.rules = lambda: rules  # type: ignore[method-assign]
    path = tmp_path / "practice.html"
    path.write_bytes(contest.signed_in("ada").ask("GET", "/author/practice").body)
    browser.open(path)
    assert browser.texts("#opponent option") == ["greedy", "dag", "ldasg", "search"]
    assert browser.texts("#opponent option:enabled") == ["greedy", "search"]
    browser.select("tournament", "league")
    browser.run("document.getElementById('tournament').dispatchEvent(new Event('change'))")
    assert browser.texts("#opponent option:enabled") == ["greedy", "dag", "ldasg"]


def test_a_seat_without_a_script_says_so(browser: Page, tmp_path: Path) -> None:
    """It has no button that does nothing; the table can still be left."""
    path = tmp_path / "seat.html"
    seat: Any = StandInSeat()
    path.write_text(seat_page(seat, number="3", top="../../../"))
    browser.run_scripts(may_run=False)
    browser.visit(path.as_uri())
    seen = (
        "return [...document.querySelectorAll('main button, noscript')].filter((part) => part.getClientRects().length)"
    )
    assert browser.run(f"{seen}.map((part) => part.textContent)") == [
        "To play, allow this page to run JavaScript.",
        "Leave the table",
    ]


def test_a_seat_is_taken_or_given_up(contest: TestSite) -> None:
    """The list has both until the match is over; a refusal is shown."""
    ada = contest.signed_in("ada")
    page = ada.ask("GET", "/author/practice").body
    assert all(b"/author/practice/3/" + action in page for action in (b"seat", b"give-up"))
    assert page.count(b"; cancelled ") == 1
    given_up = ada.fill_in("/author/practice", "/author/practice/3/give-up")
    assert given_up.headers["location"] == "/author/practice"
    assert contest.practice.asked == [("ada", "give up", "3")]
    refused = ada.fill_in("/author/practice", "/author/practice/2/give-up")
    assert (refused.status, refused.body.count(b'role="alert"')) == (409, 1)


def test_a_contest_without_practice_says_so(contest: TestSite) -> None:
    """The page has no form for it."""
    contest.practice.rules = list  # type: ignore[method-assign]
    page = contest.signed_in("ada").ask("GET", "/author/practice").body
    assert (b"allows no practice matches" in page, b"<select" in page) == (True, False)


def test_a_replay_is_its_authors_alone(contest: TestSite) -> None:
    """Other numbers in the address lead to nothing."""
    assert contest.signed_in("ada").ask("GET", "/author/practice/7/replay").body == b"<p>replay</p>"
    for name, number in (("ada", "2"), ("ada", "x"), ("bob", "7")):
        assert contest.signed_in(name).ask("GET", f"/author/practice/{number}/replay").status == 404
    assert PAYLOAD not in contest.signed_in("bob").ask("GET", "/author/practice/7/replay").body.decode()


def test_what_waits_says_why_and_until_when(contest: TestSite) -> None:
    """An author sees its own and the common entries; the organiser sees all, with their authors."""
    ada, bob, ann = (
        contest.signed_in(name).ask("GET", path).body.decode()
        for name, path in (("ada", "/author/queue"), ("bob", "/author/queue"), ("ann", "/organiser/queue"))
    )
    assert [page.count('<th scope="row">') for page in (ada, bob, ann)] == [3, 3, 4]
    assert [("ada&#39;s" in page, "bob&#39;s" in page) for page in (ada, bob, ann)] == [(1, 0), (0, 1), (1, 1)]
    for page, who in ((ada, "until the organiser starts it"), (ann, "until you start it")):
        assert all(text in page for text in ('<time datetime="2026-11-01T10:00:00Z">', "within a minute", who))
