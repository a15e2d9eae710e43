"""Signing up as an author of a contest."""

from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from twisted.internet.task import Clock

from referee.net.links.tokens import add_tokens
from referee.plugins import load
from referee.web import signing_up as new_authors
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.intake import Intake
from referee.web.contest.organising import Organising
from referee.web.contest_json import SignUp
from referee.web.http import RequestRefused
from referee.web.signing_up import NewAuthors
from referee.web.submissions.store import Store

from ..submissions.receptions import archive

Office = Callable[[SignUp], NewAuthors]


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    """Return the example's authors: ada, the organiser Ann, and carl, who was an author once."""
    write_example(tmp_path)
    add_tokens(tmp_path / "authors.toml", ["ada"], may_renew=False)
    add_tokens(tmp_path / "organisers.toml", ["Ann"], may_renew=False)
    store = Store(tmp_path / "submissions")
    store.hand_in("carl", archive(), "2026-11-01T10:00:00Z")
    yield Intake(Clock(), read_contest(tmp_path, load()), store, (), lambda *_, **__: None, tmp_path / "key")
    store.close()


@pytest.fixture
def office(intake: Intake, tmp_path: Path) -> Office:
    """Return the sign-up of a contest whose file says who may join."""
    contest = read_contest(tmp_path, load())
    return lambda mode: NewAuthors(replace(contest, sign_up=mode), intake)


def refusal(office: NewAuthors, name: str, invitation: str = "") -> HTTPStatus | None:
    """Return the status of a refusal; None: the person became an author."""
    try:
        office.sign_up(name, invitation)
    except RequestRefused as error:
        return error.code
    return None


def test_a_token_is_the_author_s(office: Office, intake: Intake) -> None:
    """It works at once, and the organiser is notified."""
    token = office(SignUp.OPEN).sign_up("eve", "")
    assert intake.authors.find_name(token) == "eve"
    (action,) = intake.actions.newest()
    assert (action.by, action.what, action.about) == ("eve", "sign up", "as an author")


def test_an_invitation_is_one_that_holds(office: Office, intake: Intake, tmp_path: Path) -> None:
    """It may be used until it is renewed; another person's token is no invitation."""
    file = tmp_path / "invitations.toml"
    code = add_tokens(file, ["monday"], may_renew=False)["monday"]
    mine = office(SignUp.INVITATION).sign_up("eve", code)
    assert intake.actions.newest()[0].about == "as an author, by the invitation monday"
    assert refusal(office(SignUp.INVITATION), "dan", code) is None
    add_tokens(file, ["monday"], may_renew=True)
    for wrong in (code, mine, "monday", "", "x" * 9_000):
        assert refusal(office(SignUp.INVITATION), "fay", wrong) is HTTPStatus.FORBIDDEN
    assert refusal(office(SignUp.CLOSED), "fay", code) is HTTPStatus.FORBIDDEN


TAKEN = ["ada", "Ada", "ADA", "ann", "Carl", "car1", "carI", "greedy", "ldasg", "Dag", "random"]
BAD = [
    "",
    " eve",
    "-eve",
    "eve\n",
    "e" * 21,
    "../eve",
    "eve/",
    "e v e",
    "\u0435ve",
    "\u202eeve",
    "<b>",
    "e\0",
    "eve.toml",
]


@pytest.mark.parametrize("name", TAKEN + BAD)
def test_names_are_plain_and_of_one(office: Office, intake: Intake, name: str) -> None:
    """A name must not be that of an author, organiser, house player or entrant, past or present, nor look like it."""
    assert refusal(office(SignUp.OPEN), name) is HTTPStatus.CONFLICT
    assert (intake.authors.names(), intake.actions.newest()) == (["ada"], [])


def test_authors_are_bounded(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """An organiser can still add more."""
    monkeypatch.setattr(new_authors, "MOST_AUTHORS", 2)
    assert [refusal(office(SignUp.OPEN), name) for name in ("eve", "fay")] == [None, HTTPStatus.CONFLICT]


def test_who_is_let_in_meanwhile_stays(office: Office, intake: Intake, monkeypatch: pytest.MonkeyPatch) -> None:
    """This also holds if two people sign up with one name at the same time."""
    monkeypatch.setattr(intake.authors, "names", list)
    before = intake.authors.find_hash("ada")
    assert refusal(office(SignUp.OPEN), "ada") is HTTPStatus.CONFLICT
    assert intake.authors.find_hash("ada") == before


def test_the_name_of_somebody_shut_out_is_free_only_if_nothing_was_handed_in(office: Office, intake: Intake) -> None:
    """Versions that were handed in stay with their author."""
    nobody = cast("Any", None)
    organising = Organising(intake.store.root.parent, {}, intake, nobody, lambda: 0.0, lambda _: None, nobody)
    token = office(SignUp.OPEN).sign_up("eve", "")
    intake.store.hand_in("eve", archive(), "2026-11-01T10:00:00Z")
    for name in ("ada", "eve"):
        organising.shut_out("ann", name)
    assert intake.authors.find_name(token) is None
    assert [refusal(office(SignUp.OPEN), name) for name in ("ada", "eve")] == [None, HTTPStatus.CONFLICT]
    assert [action.what for action in organising.actions()] == ["sign up", "shut out", "shut out", "sign up"]
