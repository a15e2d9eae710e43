"""Sessions: who gets in, for how long, and how often one may try."""

from pathlib import Path

import pytest
from twisted.internet.task import Clock

from referee.net.links.tokens import add_tokens
from referee.web import sessions as own
from referee.web.rate_limit import TooOften
from referee.web.sessions import Person, SessionFile, Sessions, SiteRole, TokenFile


class KnownPeople:
    """Sessions with an author and an organiser, at a time that the test sets.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.file = folder / "authors.toml"
        organisers = folder / "organisers.toml"
        self.ada = add_tokens(self.file, ["ada"], may_renew=False)["ada"]
        self.ann = add_tokens(organisers, ["ann"], may_renew=False)["ann"]
        known = {SiteRole.AUTHOR: TokenFile(self.file), SiteRole.ORGANISER: TokenFile(organisers)}
        self.known = known
        self.kept = folder / "sessions.json"
        self.noted = list[str]()
        self.sessions = self.restart()

    def restart(self, clock: Clock | None = None, later_s: float = 0.0) -> Sessions:
        """Return the sessions of a new process, whose own clock starts at 0.

        Args:
            clock: clock of the new process.
            later_s: seconds by which the process begins later, by the time of day.
        """
        clock = clock or self.clock
        file = SessionFile(self.kept, lambda event, **_: self.noted.append(event))
        return Sessions(self.known, clock.seconds, file, lambda: 1e9 + self.clock.seconds() + later_s)

    def enter(self, token: str, address: str = "10.0.0.1") -> str:
        """Sign in; return the cookie, which is empty for an unknown token."""
        return self.sessions.sign_in(token, address) or ""


@pytest.fixture
def people(tmp_path: Path) -> KnownPeople:
    """Return sessions."""
    return KnownPeople(tmp_path)


def test_a_token_signs_in_whose_it_is(people: KnownPeople) -> None:
    """Each sign-in gives another cookie, which nobody can choose."""
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
    """Unused and old sessions end."""
    cookie = people.enter(people.ada)
    for step in steps:
        people.clock.advance(step)
        person = people.sessions.who(cookie)
    assert (person is not None) == is_in


def test_a_session_ends_with_its_token(people: KnownPeople) -> None:
    """It also ends at signing out."""
    first, second = people.enter(people.ada), people.enter(people.ann)
    add_tokens(people.file, ["ada"], may_renew=True)
    assert people.sessions.who(first) is None
    assert people.sessions.who(second) is not None
    people.sessions.sign_out(second)
    assert people.sessions.who(second) is None


@pytest.mark.parametrize("token", ["x{}", "x"])
def test_wrong_tokens_are_counted_and_a_right_one_gets_in(people: KnownPeople, token: str) -> None:
    """This holds however many wrong tokens came from its address, because a whole class may share it."""
    for number in range(own.WRONG_OF_ADDRESS):
        assert people.enter(token.format(number)) == ""
    for number in range(200):
        with pytest.raises(TooOften, match="more than 60 wrong tokens from your address a minute"):
            people.enter(token.format(f"next {number}"))
        assert people.sessions.who(people.enter(people.ada)) is not None
    assert people.enter(token.format("other"), "10.0.0.2") == ""
    people.clock.advance(60 / own.WRONG_OF_ADDRESS)
    assert people.enter(token.format("last")) == ""


def test_nobody_has_many_sessions(people: KnownPeople, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one more, the oldest ends; those of others stay."""
    monkeypatch.setattr(own, "SESSIONS_OF_PERSON", 2)
    other = people.enter(people.ann)
    cookies = [people.enter(people.ada) for _ in range(3)]
    assert [people.sessions.who(cookie) is not None for cookie in (other, *cookies)] == [True, False, True, True]


def test_a_form_is_for_one_cookie(people: KnownPeople) -> None:
    """A form that was shown to another cookie is worthless."""
    token = people.sessions.form_token("one")
    assert [people.sessions.is_own_form(cookie, token) for cookie in ("one", "two", "")] == [True, False, False]
    assert not people.sessions.is_own_form("one", "")


def test_sessions_and_forms_outlive_the_process(people: KnownPeople) -> None:
    """They have the same age by the time of day. A session is over after signing out, or with a renewed token."""
    cookies = [people.enter(people.ada), people.enter(people.ann), people.enter(people.ada)]
    token = people.sessions.form_token(cookies[0])
    people.sessions.sign_out(cookies[2])
    after = people.restart(Clock(), later_s=own.IDLE_S - 1)
    assert [after.who(cookie) for cookie in cookies] == [
        Person(SiteRole.AUTHOR, "ada"),
        Person(SiteRole.ORGANISER, "ann"),
        None,
    ]
    assert after.is_own_form(cookies[0], token)
    assert people.restart(Clock(), later_s=own.IDLE_S + 1).who(cookies[0]) is None
    add_tokens(people.file, ["ada"], may_renew=True)
    after = people.restart(Clock())
    assert [after.who(cookie) is None for cookie in cookies[:2]] == [True, False]


def test_a_session_that_is_used_is_not_forgotten(people: KnownPeople) -> None:
    """The file has its last use, at most a minute late."""
    cookie = people.enter(people.ada)
    for _ in range(3):
        people.clock.advance(own.IDLE_S / 2)
        assert people.sessions.who(cookie)
    assert people.restart(Clock(), later_s=own.IDLE_S - own.KEEP_S).who(cookie)


def test_who_reads_the_file_has_no_session(people: KnownPeople) -> None:
    """The file has no cookie, and only its owner can read it."""
    cookie = people.enter(people.ada)
    assert cookie not in people.kept.read_text()
    assert people.kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"secret": "x", "sessions": {"a": {}}}'])
def test_a_file_that_can_t_be_read_signs_nobody_in(people: KnownPeople, data: bytes) -> None:
    """It is replaced at the next sign-in; if it can't be written, that is reported."""
    people.kept.write_bytes(data)
    people.sessions = people.restart()
    cookie = people.enter(people.ada)
    assert people.restart(Clock()).who(cookie)
    people.kept.unlink()
    people.kept.mkdir()
    assert people.sessions.who(people.enter(people.ann))
    assert people.noted == ["sessions-not-kept"]
