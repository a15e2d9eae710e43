"""What organisers see and do, for their programs: as on their pages, with the same rights and in the same log."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from twisted.internet.threads import deferToThread

from ..guarded_routes import ORGANISER, ApiRoutes, read_request
from ..sessions import Person
from ..signing_up import NewAuthor
from .service import AuthorLine, LoggedAction, Machine, OrganiserService, ProcessLine, TournamentLine

HOME = "/api/organiser"
AUTHORS, HOSTS, LOG = f"{HOME}/authors", f"{HOME}/hosts", f"{HOME}/log"
SHUT_OUT, TOURNAMENT = f"{AUTHORS}/shut-out", f"{HOME}/tournaments/<name>"
START, PAUSE, RULE = f"{TOURNAMENT}/start", f"{TOURNAMENT}/pause", f"{TOURNAMENT}/rule"


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

    actions: Sequence[LoggedAction]
    """The last first."""


class RulingRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that an organiser decides about a tournament."""

    kind: str
    """`withdraw`, `disqualify`, `reinstate`; `replay`, `void`, `award`; `stop`."""
    subject: str = ""
    """The entrant or the match that it is about; of `stop`, empty."""
    to: str = ""
    """The entrant that a match is awarded to."""
    reason: str
    """For everybody to read."""


class AuthorRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Somebody who is let in."""

    name: str
    renew: bool = False
    """Whether somebody who has a token is given another one."""


class ShutOutRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An author who is let in no more."""

    name: str


class OrganiserApi:
    """Answers organisers' programs."""

    def __init__(self, service: OrganiserService) -> None:
        self._service = service

    def register(self, routes: ApiRoutes) -> None:
        """Register the addresses."""
        for path, tell in ((HOME, self._contest), (AUTHORS, self._authors), (HOSTS, self._hosts), (LOG, self._log)):
            routes.answers("GET", path, ORGANISER, tell)
        for path, act in (
            (START, partial(self._change, self._service.start)),
            (PAUSE, partial(self._change, self._service.pause)),
            (RULE, self._rule),
            (AUTHORS, self._add_author),
            (SHUT_OUT, self._shut_out),
        ):
            routes.answers("POST", path, ORGANISER, act)

    async def _contest(self, *_: Any) -> OrganiserState:
        return OrganiserState(tournaments=self._service.tournaments(), machine=self._service.machine())

    async def _hosts(self, *_: Any) -> ProcessList:
        return ProcessList(processes=self._service.processes())

    async def _authors(self, *_: Any) -> AuthorList:
        return AuthorList(authors=await deferToThread(self._service.authors))

    async def _log(self, *_: Any) -> Log:
        return Log(actions=self._service.actions())

    async def _change(
        self, act: Callable[[str, str], None], person: Person, _request: Any, name: str
    ) -> OrganiserState:
        act(person.name, name)
        return await self._contest()

    async def _rule(self, person: Person, request: Any, name: str) -> OrganiserState:
        asked = read_request(request, RulingRequest)
        about = asked.kind, asked.subject, asked.to, asked.reason
        await deferToThread(self._service.rule, person.name, name, *about)
        return await self._contest()

    async def _add_author(self, person: Person, request: Any) -> NewAuthor:
        asked = read_request(request, AuthorRequest)
        token = await deferToThread(self._service.add_author, person.name, asked.name, may_renew=asked.renew)
        return NewAuthor(name=asked.name, token=token)

    async def _shut_out(self, person: Person, request: Any) -> AuthorList:
        await deferToThread(self._service.shut_out, person.name, read_request(request, ShutOutRequest).name)
        return await self._authors()
