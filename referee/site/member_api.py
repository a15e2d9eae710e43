"""What the pages show to those who may sign in, as JSON: for their programs, which bring a token with each request.

What authors have handed in, and their matches, are told by the service of submissions.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from klein import Klein
from msgspec import Struct
from twisted.internet.threads import deferToThread

from ..errors import RemediableError
from ..net.http_messages import Reply, bearer_of, refusal
from ..submissions.api import REQUESTS_A_MINUTE
from ..submissions.authors import Pace, TooOften
from ..submissions.challenges import Challenge, PracticeRules
from .answers import replied
from .api_requests import RequestRefused, read_request
from .authors.practice import PracticeDesk
from .organisers.desk import AuthorLine, Deed, Machine, OrganiserDesk, ProcessLine, QueueLine, TournamentLine, seen_by
from .sessions import Person, Sessions, SiteRole

PRACTICE, QUEUE, ORGANISER = "/api/practice", "/api/queue", "/api/organiser"
AUTHORS, HOSTS, LOG = f"{ORGANISER}/authors", f"{ORGANISER}/hosts", f"{ORGANISER}/log"


class PracticeState(Struct, frozen=True, kw_only=True):
    """The practice matches of an author."""

    rules: Sequence[PracticeRules]
    """By which may be played; none, if the organiser allows no practice matches."""
    challenges: Sequence[Challenge]
    """The latest first."""
    waiting: Mapping[int, str]
    """Number of a challenge that is not over -> why it waits, or that it is played."""


class PracticeRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A practice match that an author asks for."""

    tournament: str
    """By whose rules."""
    version: int
    """That plays."""
    opponent: str
    """`house:NAME`, or the number of another version of the author's."""


class Queue(Struct, frozen=True, kw_only=True):
    """What waits."""

    lines: Sequence[QueueLine]


class OrganiserState(Struct, frozen=True, kw_only=True):
    """How a contest stands, for its organiser."""

    tournaments: Sequence[TournamentLine]
    machine: Machine


class ProcessList(Struct, frozen=True, kw_only=True):
    """What plays matches."""

    processes: Sequence[ProcessLine]


class AuthorList(Struct, frozen=True, kw_only=True):
    """The authors of a contest."""

    authors: Sequence[AuthorLine]


class Log(Struct, frozen=True, kw_only=True):
    """What was done."""

    deeds: Sequence[Deed]
    """The last first."""


Answer = Callable[[Person, Any], Awaitable[Struct]]
"""Returns what somebody is answered; takes the request, too. Whatever is refused is a RemediableError."""


class MemberApi:
    """Answers programs of those who may sign in.

    Args:
        sessions: tells whose a token is.
        desk: the organiser's.
        practice: the authors' practice matches.
        now: monotonic seconds.
    """

    def __init__(
        self, sessions: Sessions, desk: OrganiserDesk, practice: PracticeDesk, now: Callable[[], float]
    ) -> None:
        self._sessions = sessions
        self._desk = desk
        self._practice = practice
        self._requests = Pace("requests", REQUESTS_A_MINUTE, now)

    def register(self, app: Klein) -> None:
        """Register the addresses."""
        author, organiser = (SiteRole.AUTHOR,), (SiteRole.ORGANISER,)
        self._answers(app, "GET", PRACTICE, author, self._practised)
        self._answers(app, "POST", PRACTICE, author, self._challenge)
        self._answers(app, "GET", QUEUE, author + organiser, self._queue)
        self._answers(app, "GET", ORGANISER, organiser, self._contest)
        self._answers(app, "GET", AUTHORS, organiser, self._authors)
        self._answers(app, "GET", HOSTS, organiser, self._hosts)
        self._answers(app, "GET", LOG, organiser, self._log)

    def _answers(self, app: Klein, method: str, path: str, roles: Sequence[SiteRole], answer: Answer) -> None:
        """Register what answers those of some roles at an address."""
        methods = ["GET", "HEAD"] if method == "GET" else [method]

        @app.route(path, methods=methods, endpoint=f"{method} {path}")
        async def _answer(request: Any) -> bytes:
            try:
                found = await answer(self._person(request, roles), request)
            except RequestRefused as error:
                return replied(request, refusal(error.code, error.what, error.remedy))
            except TooOften as error:
                return replied(request, refusal(HTTPStatus.TOO_MANY_REQUESTS, error.what, error.remedy))
            except RemediableError as error:
                return replied(request, refusal(HTTPStatus.CONFLICT, error.what, error.remedy))
            return replied(request, Reply(body=msgspec.json.encode(found)))

    def _person(self, request: Any, roles: Sequence[SiteRole]) -> Person:
        """Return who asks.

        Raises:
            RequestRefused: nobody of these roles.
            TooOften: that somebody asks.
        """
        person = self._sessions.named(bearer_of(request.requestHeaders) or "")
        if person is None or person.role not in roles:
            text = f"no token of an {' or '.join(roles)}"
            raise RequestRefused(HTTPStatus.UNAUTHORIZED, text, "send it: Authorization: Bearer TOKEN")
        self._requests.count(f"{person.role} {person.name}")
        return person

    async def _practised(self, person: Person, _request: Any) -> PracticeState:
        waiting = {each.number: why for each, why in self._practice.waiting() if each.author == person.name}
        challenges = self._practice.challenges(person.name)
        return PracticeState(rules=self._practice.rules(), challenges=challenges, waiting=waiting)

    async def _challenge(self, person: Person, request: Any) -> PracticeState:
        asked = read_request(request, PracticeRequest)
        await self._practice.challenge(person.name, asked.tournament, str(asked.version), asked.opponent)
        return await self._practised(person, request)

    async def _queue(self, person: Person, _request: Any) -> Queue:
        return Queue(lines=seen_by(person, self._desk.queue()))

    async def _contest(self, _person: Person, _request: Any) -> OrganiserState:
        return OrganiserState(tournaments=self._desk.tournaments(), machine=self._desk.machine())

    async def _hosts(self, _person: Person, _request: Any) -> ProcessList:
        return ProcessList(processes=self._desk.processes())

    async def _authors(self, _person: Person, _request: Any) -> AuthorList:
        return AuthorList(authors=await deferToThread(self._desk.authors))

    async def _log(self, _person: Person, _request: Any) -> Log:
        return Log(deeds=self._desk.deeds())
