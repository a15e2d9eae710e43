"""Signing up: in a browser and by a program, how often one may try, and what is refused."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from twisted.internet.defer import Deferred, maybeDeferred

from referee.web import signing_up
from referee.web.contest_json import SignUp

from .sites import PAYLOAD, Answer, Browser, TestSite

JSON = {"content_type": "application/json"}
PLACE = "/api/sign-up"


def asked(browser: Browser, **fields: Any) -> Answer:
    """Return the answer to a program that sends these fields."""
    return browser.ask("POST", PLACE, msgspec.json.encode(fields), **JSON)


def test_who_signs_up_gets_a_token_once_and_is_signed_in(contest: TestSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """This works in a browser without scripts; no address has the token."""
    monkeypatch.setattr(contest.sign_up, "sign_up", lambda *_: contest.tokens["bob"])
    ada = contest.signed_in("ada")
    before = ada.cookies["session"]
    shown = ada.fill_in("/sign-up", "/sign-up", name="bob", invitation="code")
    assert (shown.status, shown.headers["cache-control"]) == (200, "no-store")
    assert contest.tokens["bob"].encode() in shown.body
    assert b">bob<" in ada.ask("GET", "/author").body
    assert contest.tokens["bob"].encode() not in ada.ask("GET", "/sign-up").body
    ada.cookies["session"] = before
    assert ada.ask("GET", "/author").status == 303, "who was signed in before is not any more"


def test_what_is_refused_can_be_mended(contest: TestSite) -> None:
    """The form keeps its text, and nothing in it is active."""
    shown = contest.visitor().fill_in("/sign-up", "/sign-up", name=PAYLOAD, invitation="wrong")
    assert (shown.status, b'role="alert">&lt;script&gt;' in shown.body, b'value="wrong"' in shown.body) == (
        403,
        True,
        True,
    )
    assert b"<script>alert" not in shown.body
    stranger = contest.visitor().ask(
        "POST", "/sign-up", b"name=eve&invitation=code", content_type="application/x-www-form-urlencoded"
    )
    assert (stranger.status, contest.sign_up.asked) == (403, [])


def test_a_program_signs_up(contest: TestSite) -> None:
    """An error says what is wrong, and what to do."""
    made = asked(contest.visitor(), name="eve", invitation="code")
    assert (made.status, msgspec.json.decode(made.body)) == (201, {"name": "eve", "token": "token" * 9})
    refused = asked(contest.visitor(), name="eve", invitation="wrong")
    assert (refused.status, msgspec.json.decode(refused.body)) == (403, {"error": PAYLOAD, "remedy": PAYLOAD})


HOSTILE = {
    "no type": (b'{"name":"eve","invitation":"code"}', "text/plain", 415),
    "a form's type": (b"name=eve&invitation=code", "application/x-www-form-urlencoded", 415),
    "no JSON": (b"{", "application/json", 400),
    "no UTF-8": (b'{"name":"\xff"}', "application/json", 400),
    "deep": (b"[" * 9_000, "application/json", 400),
    "another name": (b'{"name":7}', "application/json", 400),
    "another field": (b'{"name":"eve","invitation":"code","role":"organiser"}', "application/json", 400),
    "long": (b'{"name":"' + b"e" * 20_000 + b'"}', "application/json", 400),
}


@pytest.mark.parametrize(("body", "content_type", "status"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_request_makes_no_author(contest: TestSite, body: bytes, content_type: str, status: int) -> None:
    """Another site's page can't make a browser send one."""
    assert contest.visitor().ask("POST", PLACE, body, content_type=content_type).status == status
    assert contest.sign_up.asked == []


def test_who_is_refused_stops_nobody_behind_the_same_address(contest: TestSite) -> None:
    """Hundreds of wrong invitations, in browsers and by programs: a right one is accepted, and guessing fails."""
    for number in range(signing_up.REFUSED_OF_ADDRESS):
        assert asked(contest.visitor(), name=f"eve{number}", invitation="wrong").status == 403
    for number in range(200):
        assert asked(contest.visitor(), name="mallory", invitation=f"wrong{number}").status == 429
        assert asked(contest.visitor(), name=f"eve{number}", invitation="code").status == 201
    wrong = contest.visitor().fill_in("/sign-up", "/sign-up", name="eve", invitation="wrong")
    assert (wrong.status, b"try again in" in wrong.body) == (429, True)
    assert contest.visitor().fill_in("/sign-up", "/sign-up", name="eve", invitation="code").status == 200
    assert asked(Browser(contest.site, "10.0.0.2"), name="mallory", invitation="wrong").status == 403
    contest.clock.advance(60)
    assert asked(contest.visitor(), name="mallory", invitation="wrong").status == 403


def test_wrong_names_that_wait_stop_nobody(contest: TestSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are hundreds from one address at once: requests of its neighbours wait after them, and are accepted."""
    calls: list[Callable[[], object]] = []

    def _later(function: Callable[..., str], *args: str) -> Deferred[str]:
        done: Deferred[str] = Deferred()
        calls.append(lambda: maybeDeferred(function, *args).chainDeferred(done))
        return done

    monkeypatch.setattr(signing_up, "deferToThread", _later)
    for number in range(signing_up.NEW_OF_ADDRESS + 1):
        contest.visitor().begin("POST", PLACE, msgspec.json.encode({"name": f"eve{number}"}), **JSON)
    right = contest.visitor().begin("POST", PLACE, msgspec.json.encode({"name": "eve", "invitation": "code"}), **JSON)
    while calls:
        calls.pop(0)()
    assert b" 201 " in right.value()


def test_nobody_takes_all_names_at_once(contest: TestSite) -> None:
    """One address may take hundreds, then one every few seconds, so that its neighbours need not wait for an hour."""
    for number in range(signing_up.NEW_OF_ADDRESS):
        assert asked(contest.visitor(), name=f"eve{number}", invitation="code").status == 201
    refused = asked(contest.visitor(), name="eve", invitation="code")
    assert (refused.status, msgspec.json.decode(refused.body)["remedy"]) == (429, "try again in 12 s")
    assert asked(Browser(contest.site, "10.0.0.2"), name="eve", invitation="code").status == 201
    contest.clock.advance(12)
    assert asked(contest.visitor(), name="eve", invitation="code").status == 201


@pytest.mark.parametrize(("mode", "field"), [(SignUp.OPEN, b"name"), (SignUp.INVITATION, b"invitation")])
def test_a_code_is_asked_for_where_one_is_needed(contest: TestSite, mode: SignUp, field: bytes) -> None:
    """If nobody may sign up, the page has no form."""
    for contest.sign_up.mode in SignUp:
        shown = contest.visitor().ask("GET", "/sign-up").body
        is_asked = mode is contest.sign_up.mode or (field == b"name" and contest.sign_up.mode is not SignUp.CLOSED)
        assert (b'name="' + field + b'"' in shown) == is_asked
