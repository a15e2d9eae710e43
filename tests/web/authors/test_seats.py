"""The seat of an author who plays in person: who may use it, and what its page can do."""

import re

import pytest

from referee.web.person.seat import Act

from ..sites import Browser, TestSite

SEAT = "/author/practice/7"


def token_of(browser: Browser) -> str:
    """Return the token that the seat's page sends with each request."""
    found = re.search(r'data-form-token="(\w+)"', browser.ask("GET", f"{SEAT}/seat").body.decode())
    assert found is not None
    return found[1]


def test_an_author_plays_in_person(contest: TestSite) -> None:
    """The request leads to the seat, whose page follows the match."""
    ada = contest.signed_in("ada")
    asked = {"tournament": "cup", "version": "1", "opponent": "house:dag", "plays": "person"}
    assert ada.fill_in("/author/practice", "/author/practice", **asked).headers["location"] == f"{SEAT}/seat"
    assert contest.practice.asked == [("ada", "cup", None, "house:dag")]
    page = ada.ask("GET", f"{SEAT}/seat")
    assert b"You are <b>ada</b>" in page.body
    assert (page.headers["cache-control"], b"unsafe" in page.body) == ("no-store", False)
    assert b"data: {}" in ada.stream(f"{SEAT}/events").value()


@pytest.mark.parametrize(
    ("query", "what", "done"),
    [
        ("turn=2&at=1&option=row+1", "touch", [Act(what="touch", turn=2, at=1, option="row 1")]),
        ("turn=2&at=0", "hand-in", [Act(what="hand-in", turn=2, at=0, option="")]),
        ("turn=x&at=0", "undo", []),
        ("turn=%C2%B2&at=0", "undo", []),
        ("at=0", "undo", []),
        (f"turn={'9' * 30}&at=0", "undo", []),
        ("", "undo", []),
        (f"turn=1&at=0&option={'x' * 100}", "touch", []),
        ("turn=1&at=0", "x" * 101, []),
    ],
)
def test_what_the_page_does(contest: TestSite, query: str, what: str, done: list[Act]) -> None:
    """Each action needs the page's token, and unknown actions are refused."""
    ada = contest.signed_in("ada")
    form = {"content_type": "application/x-www-form-urlencoded"}
    for token, status in (("", 403), ("0" * 64, 403), (token_of(ada), 200)):
        answer = ada.ask("POST", f"{SEAT}/{what}?{query}", f"form_token={token}".encode(), **form)
        assert (answer.status, contest.practice.own_seat.done) == (status, done if status == 200 else [])
    assert answer.body == b"{}"


def test_who_signs_out_looks_on_no_more(contest: TestSite) -> None:
    """The page asks the author to sign in."""
    ada = contest.signed_in("ada")
    ada.fill_in("/author", "/sign-out")
    assert contest.practice.left == ["ada"]
    assert ada.ask("GET", f"{SEAT}/events").headers["location"].startswith("/sign-in?back=")
