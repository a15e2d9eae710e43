"""What the pages show to those who may sign in, as JSON: for their programs, which bring a token with each request.

What authors have handed in, and their matches, are told by the service of submissions; what organisers see and do, by
organisers/api.py.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from .authors.practice import PracticeService
from .guarded_routes import AUTHOR, ORGANISER, ApiRoutes, read_request
from .organisers.service import QueueLine, seen_by
from .sessions import Person
from .submissions.challenges import Challenge, PracticeRules

PRACTICE, QUEUE = "/api/practice", "/api/queue"


class PracticeState(Struct, frozen=True, kw_only=True):
    """The practice matches of an author."""

    rules: Sequence[PracticeRules]
    """By which may be played; none, if the organiser allows no practice matches."""
    challenges: Sequence[Challenge]
    waiting: Mapping[str, str]
    """Number of a challenge that is not over -> why it waits, or that it is played."""


class PracticeRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A practice match that an author asks for."""

    tournament: str
    version: int
    opponent: str
    """`house:NAME`, or the number of another version of the author's."""


class Queue(Struct, frozen=True, kw_only=True):
    """What waits, up to a bound; all of an author's own."""

    lines: Sequence[QueueLine]


class MemberApi:
    """Answers programs of those who may sign in.

    Args:
        queue: returns what waits, of everybody.
        practice: the authors' practice matches.
    """

    def __init__(self, queue: Callable[[], Sequence[QueueLine]], practice: PracticeService) -> None:
        self._queue = queue
        self._practice = practice

    def register(self, routes: ApiRoutes) -> None:
        """Register the addresses."""
        routes.answers("GET", PRACTICE, AUTHOR, self._practised)
        routes.answers("POST", PRACTICE, AUTHOR, self._challenge)
        routes.answers("GET", QUEUE, AUTHOR + ORGANISER, self._waiting)

    async def _practised(self, person: Person, _request: Any) -> PracticeState:
        service, name = self._practice, person.name
        waiting = {str(challenge.number): why for challenge, why in service.waiting() if challenge.author == name}
        return PracticeState(rules=service.rules(), challenges=service.challenges(name), waiting=waiting)

    async def _challenge(self, person: Person, request: Any) -> PracticeState:
        asked = read_request(request, PracticeRequest)
        await self._practice.challenge(person.name, asked.tournament, str(asked.version), asked.opponent)
        return await self._practised(person, request)

    async def _waiting(self, person: Person, _request: Any) -> Queue:
        return Queue(lines=seen_by(person, self._queue()))
