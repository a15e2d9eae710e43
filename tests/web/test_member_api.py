"""Answers to programs of people who may sign in."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.web.author_service import REQUESTS_A_MINUTE

from .sites import PAYLOAD, Answer, TestSite


def asked(contest: TestSite, name: str, path: str, body: Any = None) -> Answer:
    """Return the answer to a person's program."""
    method, data = ("GET", b"") if body is None else ("POST", msgspec.json.encode(body))
    bearer = f"Bearer {contest.tokens[name]}"
    return contest.visitor().ask(method, path, data, authorization=bearer, content_type="application/json")


def test_an_author_asks_for_a_practice_match(contest: TestSite) -> None:
    """The author gets the state of all its own matches, and nothing of others'; a refusal has a remedy."""
    body = {"tournament": "cup", "version": 1, "opponent": "house:greedy"}
    answer = asked(contest, "ada", "/api/practice", body)
    assert (answer.status, msgspec.json.decode(answer.body)["waiting"]) == (200, {"3": PAYLOAD})
    assert contest.practice.asked == [("ada", *map(str, body.values()))]
    refused = asked(contest, "ada", "/api/practice", body | {"tournament": ""})
    assert (refused.status, msgspec.json.decode(refused.body)) == (409, {"error": PAYLOAD, "remedy": PAYLOAD})


def test_of_the_queue_an_author_is_told_its_own(contest: TestSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting entries of others change not a byte, on the page as well; organisers see all."""
    monkeypatch.setattr(contest.sessions, "form_token", lambda _cookie: "same")
    ada = contest.signed_in("ada")
    before = [asked(contest, "ada", "/api/queue").body, ada.ask("GET", "/author/queue").body]
    others = contest.organisers.queue()[1]
    contest.organisers.more_waits += [replace(others, what="more", why="other"), others]
    assert before == [asked(contest, "ada", "/api/queue").body, ada.ask("GET", "/author/queue").body]
    assert [line["author"] for line in msgspec.json.decode(before[0])["lines"]] == ["ada", None, None]
    assert len(msgspec.json.decode(asked(contest, "ann", "/api/queue").body)["lines"]) == 6


def test_requests_are_counted(contest: TestSite) -> None:
    """Requests of one person are counted together; a minute later there may be more."""
    for _ in range(REQUESTS_A_MINUTE):
        assert asked(contest, "ann", "/api/organiser").status == 200
    assert asked(contest, "ann", "/api/queue").status == 429
    assert asked(contest, "ada", "/api/queue").status == 200
    contest.clock.advance(60)
    assert asked(contest, "ann", "/api/queue").status == 200
