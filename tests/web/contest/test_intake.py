"""Events for signed-in people who follow a page."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from twisted.internet.task import Clock

from referee.plugins import load
from referee.web.contest.contest_file import read_contest, write_example
from referee.web.contest.intake import Intake
from referee.web.contest.queue import waiting_checks
from referee.web.members import make_members
from referee.web.sessions import Person, SiteRole
from referee.web.submissions.store import Store

from ..looking import Visitor
from ..submissions.receptions import archive


class Checking:
    """A contest whose authors follow the queue of checks.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        write_example(folder)
        self.clock, self.store = Clock(), Store(folder / "submissions")
        contest, note = read_contest(folder, load()), lambda *_, **__: None
        intake = Intake(self.clock, contest, self.store, (), note, folder / "key")
        self.checks = intake.checks
        organising: Any = SimpleNamespace(queue=lambda: list(waiting_checks(self.checks)), processes=list)
        nobody = cast("Any", None)
        self.streams = make_members(self.clock, contest, intake, organising, nobody, nobody, None, note).streams

    def follow(self, role: SiteRole, name: str) -> Visitor:
        """Return a person who follows the events."""
        visitor = Visitor()
        self.streams.add(Person(role, name), visitor)
        return visitor

    def told(self, visitor: Visitor) -> bool:
        """Return whether a person got an event."""
        visitor.events()
        self.clock.pump([0.5] * 3)
        return bool(visitor.events())

    def hand_in(self, author: str) -> None:
        """Let an author hand in."""
        self.checks.add(author, self.store.hand_in(author, archive(), "2026-11-01T10:00:00Z")[0])


@pytest.fixture
def checking(tmp_path: Path) -> Iterator[Checking]:
    """Return a contest in which ada's version waits for bob's."""
    found = Checking(tmp_path)
    found.hand_in("bob")
    found.checks.current = found.checks.queue.pending.pop()
    found.hand_in("ada")
    yield found
    found.streams.close_all()
    found.store.close()


def test_authors_follow_their_place_in_the_queue(checking: Checking) -> None:
    """An author gets an event when an earlier check ends, and none for later ones."""
    ada, bob = checking.follow(SiteRole.AUTHOR, "ada"), checking.follow(SiteRole.AUTHOR, "bob")
    checking.hand_in("carl")
    assert [checking.told(person) for person in (ada, bob)] == [False, False]
    checking.checks.current = None
    assert checking.told(ada)


def test_organisers_follow_all_of_it(checking: Checking) -> None:
    """They get events about the versions of all authors."""
    ann = checking.follow(SiteRole.ORGANISER, "ann")
    assert not checking.told(ann)
    checking.hand_in("carl")
    assert checking.told(ann)
