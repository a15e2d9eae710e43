"""An organiser's pages and actions, in a browser without scripts."""

import re
from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from referee.pages.tournament_json import ReportedMatch

from ..sites import PAYLOAD, REPORT, Browser, TestSite


def match(number: int, round_: int, entrants: Sequence[int], names: Sequence[str]) -> ReportedMatch:
    """Return a match that its first seat has won by 99."""
    plain = {
        "fixture": {
            "match": f"cup-{number}",
            "number": number,
            "round": round_,
            "table": "final",
            "leg": 0,
            "attempt": 0,
            "entrants": entrants,
        },
        "names": names,
        "void": None,
        "ranking": [[0], [1]],
        "scores": [99, 0],
        "fouls": [],
        "reason": "q.end.finished",
        "turns": 9,
        "used_ms": [1, 1],
        "head": "5eed",
        "result": f"{names[0]} beat {names[1]}; 99 : 0",
        "counts": True,
    }
    return msgspec.convert(plain, ReportedMatch)


def test_an_announcement_is_made_and_taken_back(contest: TestSite) -> None:
    """An announcement that is not one line is refused, and its text stays in the form."""
    ann = contest.signed_in("ann")
    assert ann.fill_in("/organiser", "/organiser/announce", text="lunch at one").status == 303
    (said,) = contest.organisers.notices.announcements()
    assert (said.by, said.text) == ("ann", "lunch at one")
    refused = ann.fill_in("/organiser", "/organiser/announce", text="x" * 501)
    assert (refused.status, b"one line of 1 to 500" in refused.body, b"x" * 501 in refused.body) == (409, True, True)
    assert ann.fill_in("/organiser", "/organiser/take-back", at=said.at).status == 303
    assert contest.organisers.notices.announcements() == []


def test_an_appeal_is_seen_and_rejected(contest: TestSite) -> None:
    """It is on the page of its tournament, and is rejected with a reason for the author."""
    ann, notices = contest.signed_in("ann"), contest.organisers.notices
    notices.appeal("ada", "cup-7", PAYLOAD.replace("\u202e", ""))
    place = "/organiser/tournaments/cup"
    assert b"Reject the appeal of ada" in ann.ask("GET", place).body
    answer = ann.fill_in(place, f"{place}/reject", author="ada", match="cup-7", reason="the record shows it")
    assert answer.status == 303
    appeal = notices.find_appeal("ada", "cup-7")
    assert appeal is not None
    assert appeal.answer == "rejected by ann: the record shows it"
    assert b"Reject the appeal" not in ann.ask("GET", place).body


def test_what_is_asked_is_done_by_who_asks(contest: TestSite) -> None:
    """Actions are done with forms, each with its token."""
    ann = contest.signed_in("ann")
    place = "/organiser/tournaments/cup"
    assert ann.fill_in("/organiser", f"{place}/start").headers["location"] == "/organiser"
    ruling = {"subject": " cup-00001 ", "to": "bob", "reason": "power cut "}
    for kind in ("award", "void"):
        assert ann.fill_in(place, f"{place}/rule", kind=kind, **ruling).status == 303
    stopping = {"kind": "stop", "reason": "power cut"}
    unconfirmed = ann.fill_in(place, f"{place}/rule", **stopping)
    assert (unconfirmed.status, b"nothing undoes it" in unconfirmed.body) == (409, True)
    assert ann.fill_in(place, f"{place}/rule", **stopping, confirm="yes").status == 303
    assert contest.organisers.asked == [
        ("ann", "start", "cup"),
        ("ann", "cup", "award", "cup-00001", "bob", "power cut"),
        ("ann", "cup", "void", "cup-00001", "", "power cut"),
        ("ann", "cup", "stop", "", "", "power cut"),
    ]


def test_matches_to_rule_on_are_offered(contest: TestSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list has open matches, then the last ones that ended, with their players; any other name can be typed."""
    ended = [match(number, 1, [0, 1], ["bob", PAYLOAD]) for number in range(1, 103)]
    monkeypatch.setattr("tests.web.sites.REPORT", replace(REPORT, entries=ended))
    shown = contest.signed_in("ann").ask("GET", "/organiser/tournaments/cup").body.decode()
    offered = re.findall(r'<option value="(cup-\d+)">([^<]*)', shown)
    assert [name for name, _ in offered] == ["cup-4", *(f"cup-{number}" for number in range(102, 2, -1))]
    assert all("bob" in names and "&lt;script" in names for _, names in offered)
    monkeypatch.setattr("tests.web.sites.REPORT", None)
    assert contest.signed_in("ann").ask("GET", "/organiser/tournaments/cup").body.count(b'<option value="cup-') == 1


def test_what_is_refused_is_told(contest: TestSite) -> None:
    """The tournament's page says why."""
    ann = contest.signed_in("ann")
    contest.organisers.is_refusing = True
    answer = ann.fill_in("/organiser", "/organiser/tournaments/cup/pause")
    assert (answer.status, b'role="alert">&lt;script&gt;' in answer.body) == (409, True)
    nowhere = ann.ask("GET", "/organiser/tournaments/none")
    assert (nowhere.status, b"There is no such tournament" in nowhere.body) == (404, True)


def test_a_token_is_shown_once(contest: TestSite) -> None:
    """It is in the answer that makes it, which nobody stores, and in no address."""
    ann = contest.signed_in("ann")
    shown = ann.fill_in("/organiser/authors", "/organiser/authors", name=PAYLOAD)
    assert (shown.status, shown.headers["cache-control"], b"token" * 9 in shown.body) == (200, "no-store", True)
    assert b"token" * 9 not in ann.ask("GET", "/organiser/authors").body
    ann.fill_in("/organiser/authors", "/organiser/authors", name="eve", renew="yes")
    assert contest.organisers.asked == [("ann", "add", PAYLOAD.strip()), ("ann", "renew", "eve")]


def test_an_author_is_shut_out(contest: TestSite) -> None:
    """There is a button for it; an unknown author can't be shut out."""
    ann = contest.signed_in("ann")
    place = "/organiser/authors"
    assert ann.fill_in(place, f"{place}/shut-out", name="eve").headers["location"] == place
    refused = ann.fill_in(place, f"{place}/shut-out")
    assert (refused.status, b'role="alert">&lt;script&gt;' in refused.body) == (409, True)
    assert contest.organisers.asked == [("ann", "shut out", "eve")]


def test_everything_is_one_file(contest: TestSite) -> None:
    """It comes in parts, down to the last one."""
    ann = contest.signed_in("ann")
    answer = ann.ask("GET", "/organiser/contest.tar")
    assert (answer.body, answer.headers["content-type"]) == (b"ab", "application/x-tar")
    assert ann.ask("HEAD", "/organiser/contest.tar").status == 200
    assert contest.organisers.asked == [("ann", "archive")]


def test_a_session_over_tls_is_for_tls_alone(contest: TestSite) -> None:
    """Its cookie has a name that browsers let no other place set, is sent over TLS only, and no script sees it."""
    ann = Browser(contest.site, is_secure=True)
    ann.sign_in(contest.tokens["ann"])
    assert set(ann.cookies) == {"__Host-session", "__Host-visitor"}
    assert all("; Path=/; Secure; HttpOnly; SameSite=strict" in cookie for cookie in ann.set_cookies)
    assert ann.ask("GET", "/organiser").status == 200
    plain = Browser(contest.site)
    plain.sign_in(contest.tokens["ann"])
    assert all("; Path=/; HttpOnly; SameSite=strict" in cookie for cookie in plain.set_cookies)
    plain.cookies["session"] = ann.cookies["__Host-session"] + "x"
    assert plain.ask("GET", "/organiser").headers["location"].startswith("/sign-in?back=")


def test_signing_in_renews_and_signing_out_ends(contest: TestSite) -> None:
    """A cookie that somebody else had set is worthless afterwards; a copy ends with its session."""
    ann = contest.visitor()
    ann.cookies["session"] = "chosen"
    ann.sign_in(contest.tokens["ann"])
    assert ann.cookies["session"] != "chosen"
    thief = contest.visitor()
    thief.cookies["session"] = "chosen"
    assert thief.ask("GET", "/organiser").status == 303
    thief.cookies["session"] = ann.cookies["session"]
    assert thief.ask("GET", "/organiser").status == 200
    assert ann.fill_in("/organiser", "/sign-out").headers["location"] == "/"
    assert (ann.cookies["session"], thief.ask("GET", "/organiser").status) == ("", 303)
