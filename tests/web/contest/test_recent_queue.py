"""The queue that many people are told of: looked up once for all of them, and what each is shown of it."""

import pytest
from twisted.internet.task import Clock

from referee.web.contest.queue import RECENT_S, QueueLine, RecentQueue, seen_by
from referee.web.event_streams import LOOK_S
from referee.web.sessions import Person, SiteRole

PEOPLE = [Person(SiteRole.AUTHOR, "ada"), Person(SiteRole.AUTHOR, "eve"), Person(SiteRole.ORGANISER, "ada")]


def line(author: str | None, what: str) -> QueueLine:
    """Return something that waits."""
    return QueueLine(what=what, author=author, why="", since=None, until=None, waits_for_organiser=False)


@pytest.mark.parametrize("person", PEOPLE)
def test_each_is_shown_what_is_its_own(person: Person) -> None:
    """In the order of the queue, as on the page that shows it."""
    lines = [line("ada", "1"), line(None, "2"), line("bob", "3"), line("ada", "4"), line(None, "5")]
    assert RecentQueue(lambda: lines, Clock().seconds).show(person) == seen_by(person, lines)


def test_it_is_looked_up_once_for_all() -> None:
    """And again by the time they are told of changes next."""
    clock, looks = Clock(), list[int]()

    def look_up() -> list[QueueLine]:
        looks.append(1)
        return [line(None, str(len(looks)))]

    queue = RecentQueue(look_up, clock.seconds)
    for look in (1, 2, 3):
        for number in range(200):
            assert [shown.what for shown in queue.show(Person(SiteRole.AUTHOR, f"a{number}"))] == [str(look)]
        clock.advance(LOOK_S)
    assert RECENT_S < LOOK_S
