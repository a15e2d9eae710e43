"""An open page whose session has ended: the form is kept, and the author comes back to it."""

import re
from html import unescape
from urllib.parse import urlencode

import pytest

from referee.web.sessions import IDLE_S

from .authors.test_pages import hand_in
from .sites import Answer, Browser, TestSite
from .submissions.receptions import archive

REASON = "the wire broke <b>twice</b>"
RULE = "/organiser/tournaments/cup/rule"
FIELD = re.compile(r'<input [^>]*name="([^"]*)" [^>]*?value="([^"]*)"')


def fields_of(page: Answer) -> dict[str, str]:
    """Return the fields that a page fills in itself."""
    return {name: unescape(value) for name, value in FIELD.findall(page.body.decode())}


def expired(contest: TestSite, name: str, page: str) -> tuple[Browser, str]:
    """Return a visitor whose session ended after a page was opened, and the token of its forms."""
    browser = contest.signed_in(name)
    token = fields_of(browser.ask("GET", page))["form_token"]
    contest.clock.advance(IDLE_S + 1)
    return browser, token


def sent(browser: Browser, path: str, **fields: str) -> Answer:
    """Submit a form as it is."""
    body = urlencode(fields).encode()
    return browser.ask("POST", path, body, content_type="application/x-www-form-urlencoded")


def test_what_was_written_is_sent_once_its_author_has_signed_in(contest: TestSite) -> None:
    """A wrong token loses nothing. The form is shown before it is sent."""
    ann, token = expired(contest, "ann", "/organiser/tournaments/cup")
    ruling = {"kind": "void", "subject": "cup-00001", "to": "", "reason": REASON}
    asked = sent(ann, RULE, form_token=token, **ruling)
    assert (asked.status, b"Your text is kept" in asked.body) == (401, True)
    again = sent(ann, "/sign-in", **fields_of(asked), token="wrong")
    assert again.status == 401
    shown = sent(ann, "/sign-in", **fields_of(again), token=contest.tokens["ann"])
    assert (shown.status, "the wire broke &lt;b&gt;twice" in shown.body.decode()) == (200, True)
    assert contest.organisers.asked == []
    assert sent(ann, RULE, **fields_of(shown)).status == 303
    assert contest.organisers.asked == [("ann", "cup", "void", "cup-00001", "", REASON)]


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_a_form_of_somebody_else_is_not_kept(contest: TestSite, token: str) -> None:
    """Another site has no form token of this browser, so nothing of its forms is sent later."""
    ann, _ = expired(contest, "ann", "/organiser")
    asked = sent(ann, RULE, form_token=token, kind="void", reason=REASON)
    assert (asked.status, b"nothing was done" in asked.body, REASON in fields_of(asked).values()) == (401, True, False)


def test_who_hands_in_is_asked_to_sign_in_and_comes_back(contest: TestSite) -> None:
    """A program is not kept, which the page says."""
    ada, token = expired(contest, "ada", "/author")
    asked = hand_in(ada, archive(), token)
    assert (asked.status, b"nothing was done" in asked.body) == (401, True)
    after = sent(ada, "/sign-in", **fields_of(asked), token=contest.tokens["ada"])
    assert (after.status, after.headers["location"]) == (303, "/author")
    assert hand_in(ada, archive()).status == 303


@pytest.mark.parametrize(
    ("name", "path", "after"),
    [
        ("ada", "/author/matches?x=1", "/author/matches?x=1"),
        ("ann", "/organiser/tournaments/cup", "/organiser/tournaments/cup"),
        ("ann", "/author/matches", "/organiser"),
    ],
)
def test_a_page_is_come_back_to(contest: TestSite, name: str, path: str, after: str) -> None:
    """A visitor that signs in on the way comes back to the page, if that role may see it."""
    browser = contest.visitor()
    page = browser.ask("GET", browser.ask("GET", path).headers["location"])
    answer = sent(browser, "/sign-in", **fields_of(page), token=contest.tokens[name])
    assert (answer.status, answer.headers["location"]) == (303, after)


@pytest.mark.parametrize(
    "back", ["//other.host", "http://other.host", "/author//other.host\r\nX: y", "/authority", "/author/<script>"]
)
def test_nobody_is_led_away(contest: TestSite, back: str) -> None:
    """A link to the sign-in page can name any place to go back to, but only places of this site are used."""
    browser = contest.visitor()
    page = fields_of(browser.ask("GET", "/sign-in"))
    answer = sent(browser, "/sign-in", **{**page, "back": back}, token=contest.tokens["ada"])
    assert (answer.status, answer.headers["location"]) == (303, "/author")
    answer = sent(contest.visitor(), "/sign-in", **{**page, "action": back}, token=contest.tokens["ada"])
    assert b"other.host" not in answer.body
