"""Sessions: who gets in, for how long, and how often somebody may try."""

from pathlib import Path

import pytest
from twisted.internet.task import Clock

from referee.net.links.tokens import add_tokens
from referee.site import sessions as own
from referee.site.sessions import Person, Sessions, SiteRole
from referee.submissions.authors import Authors, TooOften


class Desk:
    """Sessions with an author and an organiser, at a time that a test tells.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.file = folder / "authors.toml"
        organisers = folder / "organisers.toml"
        self.ada = add_tokens(self.file, ["ada"], may_renew=False)["ada"]
        self.ann = add_tokens(organisers, ["ann"], may_renew=False)["ann"]
        known = {SiteRole.AUTHOR: Authors(self.file), SiteRole.ORGANISER: Authors(organisers)}
        self.sessions = Sessions(known, self.clock.seconds)

    def enter(self, token: str, address: str = "10.0.0.1") -> str:
        """Sign in; return the cookie, empty if that is nobody's token."""
        return self.sessions.sign_in(token, address) or ""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return sessions."""
    return Desk(tmp_path)


def test_a_token_signs_in_whose_it_is(desk: Desk) -> None:
    """Each time with another cookie, which nobody can have chosen."""
    assert desk.sessions.who(desk.enter(desk.ada)) == Person(SiteRole.AUTHOR, "ada")
    assert desk.sessions.who(desk.enter(desk.ann)) == Person(SiteRole.ORGANISER, "ann")
    assert desk.enter(desk.ada) != desk.enter(desk.ada)
    for wrong in ("", "x", desk.ada[:-1], desk.ada.upper()):
        assert desk.enter(wrong) == ""
    assert desk.sessions.who("") is None


@pytest.mark.parametrize(
    ("steps", "is_in"),
    [
        ([own.IDLE_S], True),
        ([own.IDLE_S + 1], False),
        ([own.IDLE_S] * 6, True),
        ([own.IDLE_S] * 6 + [1], False),
    ],
)
def test_sessions_end(desk: Desk, steps: list[float], *, is_in: bool) -> None:
    """Those that nobody uses, and those that are old."""
    cookie = desk.enter(desk.ada)
    for step in steps:
        desk.clock.advance(step)
        person = desk.sessions.who(cookie)
    assert (person is not None) == is_in


def test_a_session_ends_with_its_token(desk: Desk) -> None:
    """And when somebody signs out."""
    first, second = desk.enter(desk.ada), desk.enter(desk.ann)
    add_tokens(desk.file, ["ada"], may_renew=True)
    assert desk.sessions.who(first) is None
    assert desk.sessions.who(second) is not None
    desk.sessions.sign_out(second)
    assert desk.sessions.who(second) is None


@pytest.mark.parametrize(
    ("limit", "token", "address"),
    [("TRIES_OF_ADDRESS", "x{}", "10.0.0.1"), ("TRIES_OF_TOKEN", "x", "10.0.{}.1")],
)
def test_tries_are_counted(desk: Desk, limit: str, token: str, address: str) -> None:
    """Those of an address, whatever it tries, and those of a token, wherever from; for a minute."""
    for number in range(getattr(own, limit)):
        assert desk.enter(token.format(number), address.format(number)) == ""
    with pytest.raises(TooOften):
        desk.enter(token.format("next"), address.format("99"))
    assert desk.enter(desk.ada, "10.9.9.9")
    desk.clock.advance(60)
    assert desk.enter(token.format("next"), address.format("99")) == ""


def test_nobody_has_many_sessions(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more, and the oldest ends; those of others stay."""
    monkeypatch.setattr(own, "SESSIONS_OF_PERSON", 2)
    other = desk.enter(desk.ann)
    cookies = [desk.enter(desk.ada) for _ in range(3)]
    assert [desk.sessions.who(cookie) is not None for cookie in (other, *cookies)] == [True, False, True, True]


def test_a_form_is_for_one_cookie(desk: Desk) -> None:
    """What was shown to another is worth nothing."""
    token = desk.sessions.form_token("one")
    assert [desk.sessions.is_own_form(cookie, token) for cookie in ("one", "two", "")] == [True, False, False]
    assert not desk.sessions.is_own_form("one", "")
