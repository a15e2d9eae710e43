"""Waiting practice matches: their order, and their files in a folder."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.web.submissions import challenges
from referee.web.submissions.challenges import MAX_WAITING, Challenge, ChallengeRefused, Challenges
from referee.web.submissions.store import StoreError

from .test_store import NOW

AUTHORS = ("ada", "bob", "cyd")


def day(number: int) -> str:
    """Return a time of day."""
    return (datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=number)).isoformat()


def asked(author: str, at: str = NOW) -> Challenge:
    """Return a challenge of an author."""
    return Challenge(author=author, number=0, tournament="cup", version=1, opponent="house:dag", asked=at)


@pytest.fixture
def kept(tmp_path: Path) -> Challenges:
    """Return the practice matches of an empty folder."""
    return Challenges(tmp_path)


def order(kept: Challenges) -> list[str]:
    """Return the waiting matches in their order."""
    return [challenge.place for challenge in kept.waiting()]


def test_authors_have_turns(kept: Challenges) -> None:
    """An author who asks for much does not delay others; an author without a turn comes first."""
    for at, author in enumerate(("ada", "ada", "bob", "ada", "cyd"), 1):
        kept.add(asked(author, day(at)))
    assert order(kept) == ["ada/0001", "bob/0001", "cyd/0001", "ada/0002", "ada/0003"]
    kept.save(replace(kept.waiting()[0], begun=day(6), ended=day(7)))
    assert order(kept) == ["bob/0001", "cyd/0001", "ada/0002", "ada/0003"]
    kept.save(replace(kept.waiting()[1], begun=day(8)))
    assert order(kept) == ["cyd/0001", "bob/0001", "ada/0002", "ada/0003"], "what has begun goes on"


def test_a_folder_remembers(kept: Challenges, tmp_path: Path) -> None:
    """All matches are stored, and an unreadable file is named."""
    for author in ("ada", "bob", "ada"):
        kept.add(asked(author))
    asked_first = kept.list_own("ada")[0]
    kept.save(replace(asked_first, begun=NOW, attempts=1))
    assert kept.latest(asked_first).attempts == 1
    again = Challenges(tmp_path)
    assert (again.list_own("ada"), again.list_own("bob")) == (kept.list_own("ada"), kept.list_own("bob"))
    (tmp_path / "bob" / "0001" / "challenge.json").write_text("{")
    with pytest.raises(StoreError, match="0001"):
        Challenges(tmp_path)


def test_an_author_has_a_bound(kept: Challenges, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a limit on waiting matches, and one on stored ones."""
    for _ in range(MAX_WAITING):
        kept.add(asked("ada"))
    with pytest.raises(ChallengeRefused, match=f"{MAX_WAITING} of your practice matches are already waiting"):
        kept.add(asked("ada"))
    assert kept.add(asked("bob")).number == 1
    monkeypatch.setattr(challenges, "MAX_KEPT", 3)
    kept.save(replace(kept.waiting()[0], ended=NOW))
    kept.add(asked("ada"))
    assert [each.number for each in kept.list_own("ada")] == [2, 3, 4]
    assert not kept.folder(replace(asked("ada"), number=1)).exists()


@settings(max_examples=25)
@given(turns=st.lists(st.sampled_from(AUTHORS), min_size=1, max_size=8))
def test_nobody_is_passed_over(tmp_path_factory: pytest.TempPathFactory, turns: list[str]) -> None:
    """While an author waits, no other has two turns."""
    kept = Challenges(tmp_path_factory.mktemp("kept"))
    for at, author in enumerate(turns):
        if turns[:at].count(author) < MAX_WAITING:
            kept.add(asked(author, day(at)))
    played = list[str]()
    while waiting := kept.waiting():
        first = waiting[0]
        others = {each.author for each in waiting} - {first.author}
        for other in others:
            since = played[len(played) - played[::-1].index(other) :] if other in played else played
            assert first.author not in since
        played.append(first.author)
        kept.save(replace(first, begun=day(len(played)), ended=NOW))
