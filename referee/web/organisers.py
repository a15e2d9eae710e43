"""What organisers see and do: on pages, and the same for their programs, with the same rights and in the same log."""

from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from msgspec import Struct
from twisted.internet.defer import maybeDeferred
from twisted.internet.threads import deferToThread

from ..errors import RefereeError
from .contest.intake import LoggedAction
from .contest.organising import AuthorLine, Machine, Organising, ProcessLine, TournamentLine
from .contest.queue import select_lines
from .guarded_routes import ORGANISER, ApiRoutes, GuardedRoutes, Visit, read_request
from .http import flow, redirect, send
from .sessions import Person, SiteRole
from .signing_up import NewAuthor

API = "/api/organiser"
AUTHORS_API, HOSTS_API, LOG_API = f"{API}/authors", f"{API}/hosts", f"{API}/log"
SHUT_OUT_API, TOURNAMENT_API = f"{AUTHORS_API}/shut-out", f"{API}/tournaments/<name>"
START_API, PAUSE_API, RULE_API = f"{TOURNAMENT_API}/start", f"{TOURNAMENT_API}/pause", f"{TOURNAMENT_API}/rule"
HOME = "/organiser"
_TOURNAMENT, _AUTHORS = f"{HOME}/tournaments/<name>", f"{HOME}/authors"
_NEWEST = 20
"""Actions on the first page."""
FindMatches = Callable[[str], Sequence[tuple[str, Sequence[str]]]]
"""Returns the newest matches of a tournament, each with names by seat."""


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
    """True to replace the token of an author who has one."""


class ShutOutRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An author who is let in no more."""

    name: str


class OrganiserApi:
    """Answers organisers' programs."""

    def __init__(self, service: Organising) -> None:
        self._service = service

    def register(self, routes: ApiRoutes) -> None:
        """Register the addresses."""
        for path, tell in (
            (API, self._contest),
            (AUTHORS_API, self._authors),
            (HOSTS_API, self._hosts),
            (LOG_API, self._log),
        ):
            routes.answers("GET", path, ORGANISER, tell)
        for path, act in (
            (START_API, partial(self._change, self._service.start)),
            (PAUSE_API, partial(self._change, self._service.pause)),
            (RULE_API, self._rule),
            (AUTHORS_API, self._add_author),
            (SHUT_OUT_API, self._shut_out),
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


class OrganiserPages:
    """Lets organisers see how things stand, and decide."""

    def __init__(self, service: Organising, matches: FindMatches) -> None:
        self._service = service
        self._matches = matches

    def register(self, routes: GuardedRoutes) -> None:
        """Register the addresses."""
        service = self._service
        for path, show in (
            (HOME, self._home),
            (_TOURNAMENT, self._tournament),
            (_AUTHORS, self._authors),
            (
                f"{HOME}/queue",
                lambda visit: visit.page("organiser/queue", lines=select_lines(visit.person, service.queue())),
            ),
            (f"{HOME}/hosts", lambda visit: visit.page("organiser/hosts", lines=service.processes())),
            (f"{HOME}/log", lambda visit: visit.page("organiser/log", actions=service.actions())),
            (f"{HOME}/contest.tar", self._archive),
        ):
            routes.shows(SiteRole.ORGANISER, path, show)
        for path, do in (
            (f"{_TOURNAMENT}/start", partial(self._change, service.start)),
            (f"{_TOURNAMENT}/pause", partial(self._change, service.pause)),
            (f"{_TOURNAMENT}/rule", self._rule),
            (_AUTHORS, self._add_author),
            (f"{_AUTHORS}/shut-out", self._shut_out),
        ):
            routes.does(SiteRole.ORGANISER, path, do)

    def _home(self, visit: Visit, told: str = "") -> bytes:
        service = self._service
        return visit.page(
            "organiser/home",
            tournaments=service.tournaments(),
            machine=service.machine(),
            processes=service.processes(),
            queue=len(service.queue()),
            actions=service.actions()[:_NEWEST],
            told=told,
        )

    def _tournament(self, visit: Visit, name: str, told: str = "") -> bytes:
        shown = next((line for line in self._service.tournaments() if line.name == name), None)
        if shown is None:
            return self._home(visit.set_code(HTTPStatus.NOT_FOUND), "There is no such tournament.")
        form, matches = visit.form.fields, self._matches(name)
        return visit.page("organiser/tournament", shown=shown, form=form, matches=matches, told=told)

    async def _authors(self, visit: Visit, told: str = "", token: str = "") -> bytes:
        authors = await deferToThread(self._service.authors)
        return visit.page("organiser/authors", authors=authors, form=visit.form.fields, told=told, token=token)

    async def _archive(self, visit: Visit) -> bytes:
        request = visit.request
        send(request, "application/x-tar", b"")
        request.setHeader("Content-Disposition", 'attachment; filename="contest.tar"')
        if request.method != b"HEAD":
            await flow(request, self._service.archive(visit.person.name))
        return b""

    async def _change(self, act: Callable[..., object], visit: Visit, name: str, *about: str) -> bytes:
        """Do something with a tournament, now or later; show it again with the reason if that is refused."""
        try:
            await maybeDeferred(act, visit.person.name, name, *about)
        except RefereeError as error:
            return self._tournament(visit.set_code(HTTPStatus.CONFLICT), name, str(error))
        return redirect(visit.request, HOME)

    async def _rule(self, visit: Visit, name: str) -> bytes:
        kind, subject, to, reason = map(visit.form.text, ("kind", "subject", "to", "reason"))
        to = to if kind == "award" else ""
        rule: Callable[..., object] = partial(deferToThread, self._service.rule)  # type: ignore[call-arg]  # the rest comes
        return await self._change(rule, visit, name, kind, subject, to, reason)

    async def _add_author(self, visit: Visit) -> bytes:
        name, may_renew = visit.form.text("name"), bool(visit.form.text("renew"))
        try:
            token = await deferToThread(self._service.add_author, visit.person.name, name, may_renew=may_renew)
        except RefereeError as error:
            return await self._authors(visit.set_code(HTTPStatus.CONFLICT), str(error))
        return await self._authors(visit, token=token)

    async def _shut_out(self, visit: Visit) -> bytes:
        try:
            await deferToThread(self._service.shut_out, visit.person.name, visit.form.text("name"))
        except RefereeError as error:
            return await self._authors(visit.set_code(HTTPStatus.CONFLICT), str(error))
        return redirect(visit.request, _AUTHORS)
