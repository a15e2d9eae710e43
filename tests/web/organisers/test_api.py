"""Organisers' actions by programs."""

from typing import Any

import msgspec

from ..sites import PAYLOAD, Answer, TestSite

HOME = "/api/organiser"
RULING = {"kind": "award", "subject": "cup-00001", "to": "bob", "reason": "power cut"}
STOP = {"kind": "stop", "reason": "power cut"}


def asked(contest: TestSite, path: str, body: Any, content_type: str = "application/json") -> Answer:
    """Return the answer to a program of ann."""
    bearer = f"Bearer {contest.tokens['ann']}"
    return contest.visitor().ask(
        "POST", path, msgspec.json.encode(body), authorization=bearer, content_type=content_type
    )


def test_actions_are_those_of_the_pages(contest: TestSite) -> None:
    """They are in the name of the token's owner. A new token is shown once, and a refusal has a reason."""
    for path, body in (
        ("tournaments/cup/start", {}),
        ("tournaments/cup/pause", {}),
        ("tournaments/cup/rule", RULING),
        ("tournaments/cup/rule", STOP),
        ("authors", {"name": "eve"}),
        ("authors/shut-out", {"name": "eve"}),
    ):
        assert asked(contest, f"{HOME}/{path}", body).status == 200
    assert contest.organisers.asked == [
        ("ann", "start", "cup"),
        ("ann", "pause", "cup"),
        ("ann", "cup", "award", "cup-00001", "bob", "power cut"),
        ("ann", "cup", "stop", "", "", "power cut"),
        ("ann", "add", "eve"),
        ("ann", "shut out", "eve"),
    ]
    assert msgspec.json.decode(asked(contest, f"{HOME}/authors", {"name": "eve"}).body)["token"] == "token" * 9
    contest.organisers.is_refusing = True
    refused = asked(contest, f"{HOME}/tournaments/cup/pause", {})
    assert (refused.status, msgspec.json.decode(refused.body)["error"]) == (409, PAYLOAD)


def test_a_session_does_nothing_there(contest: TestSite) -> None:
    """Another site's page could make a browser send it. A form is refused, too, and so is another type of body."""
    ann = contest.signed_in("ann")
    body = msgspec.json.encode(RULING)
    path = f"{HOME}/tournaments/cup/rule"
    assert ann.ask("POST", path, body, content_type="application/json").status == 401
    assert asked(contest, path, RULING, "text/plain").status == 415
    assert asked(contest, path, {**RULING, "by": "bob"}).status == 400
    assert contest.organisers.asked == []
