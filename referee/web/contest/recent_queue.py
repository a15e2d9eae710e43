"""What waits in a contest, looked up once for hundreds of people: in a large tournament it has thousands of lines."""

from collections.abc import Callable, Sequence
from math import inf

from ..organisers.service import QueueLine, seen_by
from ..sessions import Person, SiteRole

RECENT_S = 0.25
"""How long a look at the queue is good for: less than those who are told of changes wait between two of them."""


class RecentQueue:
    """The queue as it was a moment ago.

    Args:
        queue: returns what waits, of everybody.
        now: monotonic seconds.
    """

    def __init__(self, queue: Callable[[], Sequence[QueueLine]], now: Callable[[], float]) -> None:
        self._queue = queue
        self._now = now
        self._looked = -inf
        self._lines: Sequence[QueueLine] = ()
        self._of_author: dict[str | None, list[QueueLine]] = {}
        """Lines by author; of None those that are everybody's."""

    def show(self, person: Person) -> list[QueueLine]:
        """Return what somebody is shown of it, as seen_by has it."""
        if self._now() - self._looked >= RECENT_S:
            self._looked, self._lines, self._of_author = self._now(), self._queue(), {}
            for line in self._lines:
                self._of_author.setdefault(line.author, []).append(line)
        if person.role is SiteRole.ORGANISER:
            return seen_by(person, self._lines)
        return [*self._of_author.get(person.name, ()), *self._of_author.get(None, ())]
