"""Sessions: who gets in, for how long, and how often somebody may try."""

from pathlib import Path

import pytest
from twisted.internet.task import Clock

from referee.net.links.tokens import add_tokens
from referee.site import sessions as own
from referee.site.sessions import Person, Sessions, SiteRole
from referee.submissions.authors import Authors, TooOften


class KnownPeople:
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
def people(tmp_path: Path) -> KnownPeople:
    """Return sessions."""
    return KnownPeople(tmp_path)


def test_a_token_signs_in_whose_it_is(people: KnownPeople) -> None:
    """Each time with another cookie, which nobody can have chosen."""
    assert people.sessions.who(people.enter(people.ada)) == Person(SiteRole.AUTHOR, "ada")
    assert people.sessions.who(people.enter(people.ann)) == Person(SiteRole.ORGANISER, "ann")
    assert people.enter(people.ada) != people.enter(people.ada)
    for wrong in ("", "x", people.ada[:-1], people.ada.upper()):
        assert people.enter(wrong) == ""
    assert people.sessions.who("") is None


@pytest.mark.parametrize(
    ("steps", "is_in"),
    [
        ([own.IDLE_S], True),
        ([own.IDLE_S + 1], False),
        ([own.IDLE_S] * 6, True),
        ([own.IDLE_S] * 6 + [1], False),
    ],
)
def test_sessions_end(people: KnownPeople, steps: list[float], *, is_in: bool) -> None:
    """Those that nobody uses, and those that are old."""
    cookie = people.enter(people.ada)
    for step in steps:
        people.clock.advance(step)
        person = people.sessions.who(cookie)
    assert (person is not None) == is_in


def test_a_session_ends_with_its_token(people: KnownPeople) -> None:
    """And when somebody signs out."""
    first, second = people.enter(people.ada), people.enter(people.ann)
    add_tokens(people.file, ["ada"], may_renew=True)
    assert people.sessions.who(first) is None
    assert people.sessions.who(second) is not None
    people.sessions.sign_out(second)
    assert people.sessions.who(second) is None


@pytest.mark.parametrize("token", ["x{}", "x"])
def test_wrong_tokens_are_counted_and_a_right_one_gets_in(people: KnownPeople, token: str) -> None:
    """However many wrong ones came from its address: a whole class may be behind it."""
    for number in range(own.WRONG_OF_ADDRESS):
        assert people.enter(token.format(number)) == ""
    for number in range(200):
        with pytest.raises(TooOften, match="more than 60 tokens of nobody from your address a minute"):
            people.enter(token.format(f"next {number}"))
        assert people.sessions.who(people.enter(people.ada)) is not None
    assert people.enter(token.format("other"), "10.0.0.2") == ""
    people.clock.advance(60 / own.WRONG_OF_ADDRESS)
    assert people.enter(token.format("last")) == ""


def test_nobody_has_many_sessions(people: KnownPeople, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more, and the oldest ends; those of others stay."""
    monkeypatch.setattr(own, "SESSIONS_OF_PERSON", 2)
    other = people.enter(people.ann)
    cookies = [people.enter(people.ada) for _ in range(3)]
    assert [people.sessions.who(cookie) is not None for cookie in (other, *cookies)] == [True, False, True, True]


def test_a_form_is_for_one_cookie(people: KnownPeople) -> None:
    """What was shown to another is worth nothing."""
    token = people.sessions.form_token("one")
    assert [people.sessions.is_own_form(cookie, token) for cookie in ("one", "two", "")] == [True, False, False]
    assert not people.sessions.is_own_form("one", "")
