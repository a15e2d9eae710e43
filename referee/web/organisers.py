"""The pages and the API for organisers; both have the same rights, and log every action in the same file."""

# Every action exists twice, as a form and as an address for programs, and both call Organising. The answer to a form is
# a redirect, so that reloading the next page can't repeat the action.

from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from msgspec import Struct
from twisted.internet.defer import maybeDeferred
from twisted.internet.threads import deferToThread

from ..errors import RefereeError
from ..tournament.rulings import STOP
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
"""Most actions that the first page shows."""
FindMatches = Callable[[str], Sequence[tuple[str, Sequence[str]]]]
"""Name of a tournament -> its newest matches, each with the names by seat."""


class OrganiserState(Struct, frozen=True, kw_only=True):
    """The state of a contest, for its organiser."""

    tournaments: Sequence[TournamentLine]
    machine: Machine


class ProcessList(Struct, frozen=True, kw_only=True):
    """The processes and hosts that play matches."""

    processes: Sequence[ProcessLine]


class AuthorList(Struct, frozen=True, kw_only=True):
    """The authors of a contest."""

    authors: Sequence[AuthorLine]


class Log(Struct, frozen=True, kw_only=True):
    """The actions of organisers."""

    actions: Sequence[LoggedAction]
    """Actions, the latest first."""


class RulingRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ruling of an organiser in a tournament."""

    kind: str
    """`withdraw`, `disqualify`, `reinstate`; `replay`, `void`, `award`; `stop`, `freeze`, `lift`."""
    subject: str = ""
    """Entrant or match that the ruling is about; empty for a ruling on the whole tournament."""
    to: str = ""
    """Entrant who is awarded the match."""
    reason: str
    """Reason of the ruling; everybody can read it."""


class AuthorRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Request to add an author."""

    name: str
    renew: bool = False
    """True to replace the token of an author who has one."""


class ShutOutRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Request to make an author's token invalid."""

    name: str


class OrganiserApi:
    """Answers the programs of organisers."""

    def __init__(self, service: Organising) -> None:
        self._service = service

    def register(self, routes: ApiRoutes) -> None:
        """Register the addresses."""
        for path, answer in (
            (API, self._contest),
            (AUTHORS_API, self._authors),
            (HOSTS_API, self._hosts),
            (LOG_API, self._log),
        ):
            routes.answers("GET", path, ORGANISER, answer)
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
        ruling = read_request(request, RulingRequest)
        about = ruling.kind, ruling.subject, ruling.to, ruling.reason
        await deferToThread(self._service.rule, person.name, name, *about)
        return await self._contest()

    async def _add_author(self, person: Person, request: Any) -> NewAuthor:
        author = read_request(request, AuthorRequest)
        token = await deferToThread(self._service.add_author, person.name, author.name, may_renew=author.renew)
        return NewAuthor(name=author.name, token=token)

    async def _shut_out(self, person: Person, request: Any) -> AuthorList:
        await deferToThread(self._service.shut_out, person.name, read_request(request, ShutOutRequest).name)
        return await self._authors()


class OrganiserPages:
    """The pages on which organisers see the state of their contest and act on it."""

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
            (f"{_TOURNAMENT}/reject", self._reject),
            (f"{HOME}/announce", self._announce),
            (f"{HOME}/take-back", self._take_back),
            (_AUTHORS, self._add_author),
            (f"{_AUTHORS}/shut-out", self._shut_out),
        ):
            routes.does(SiteRole.ORGANISER, path, do)

    def _home(self, visit: Visit, problem: str = "") -> bytes:
        service = self._service
        return visit.page(
            "organiser/home",
            tournaments=service.tournaments(),
            machine=service.machine(),
            processes=service.processes(),
            queue=len(service.queue()),
            actions=service.actions()[:_NEWEST],
            announcements=service.notices.announcements(),
            form=visit.form.fields,
            problem=problem,
        )

    def _tournament(self, visit: Visit, name: str, problem: str = "") -> bytes:
        shown = next((line for line in self._service.tournaments() if line.name == name), None)
        if shown is None:
            return self._home(visit.set_code(HTTPStatus.NOT_FOUND), "There is no such tournament.")
        form, matches = visit.form.fields, self._matches(name)
        appeals = self._service.notices.appeals(name)
        return visit.page(
            "organiser/tournament", shown=shown, form=form, matches=matches, appeals=appeals, problem=problem
        )

    async def _authors(self, visit: Visit, problem: str = "", token: str = "") -> bytes:
        authors = await deferToThread(self._service.authors)
        return visit.page("organiser/authors", authors=authors, form=visit.form.fields, problem=problem, token=token)

    async def _archive(self, visit: Visit) -> bytes:
        request = visit.request
        send(request, "application/x-tar", b"")
        request.setHeader("Content-Disposition", 'attachment; filename="contest.tar"')
        if request.method != b"HEAD":
            await flow(request, self._service.archive(visit.person.name))
        return b""

    async def _change(self, act: Callable[..., object], visit: Visit, name: str, *about: str) -> bytes:
        """Act on a tournament; if the action is refused, show the tournament's page again with the reason."""
        try:
            await maybeDeferred(act, visit.person.name, name, *about)
        except RefereeError as error:
            return self._tournament(visit.set_code(HTTPStatus.CONFLICT), name, str(error))
        return redirect(visit.request, HOME)

    async def _rule(self, visit: Visit, name: str) -> bytes:
        kind, subject, to, reason = map(visit.form.text, ("kind", "subject", "to", "reason"))
        to = to if kind == "award" else ""
        if kind == STOP and not visit.form.text("confirm"):
            text = f"Confirm that {name} is to end for good: nothing undoes it."
            return self._tournament(visit.set_code(HTTPStatus.CONFLICT), name, text)
        rule: Callable[..., object] = partial(deferToThread, self._service.rule)  # type: ignore[call-arg]  # the arguments follow
        return await self._change(rule, visit, name, kind, subject, to, reason)

    async def _reject(self, visit: Visit, name: str) -> bytes:
        notices = self._service.notices
        author, match, reason = map(visit.form.text, ("author", "match", "reason"))
        try:
            notices.reject(visit.person.name, author, match, reason)
        except RefereeError as error:
            return self._tournament(visit.set_code(HTTPStatus.CONFLICT), name, f"{error}.")
        return redirect(visit.request, f"{HOME}/tournaments/{name}")

    def _announce(self, visit: Visit) -> bytes:
        return self._notify(visit, self._service.notices.announce, visit.form.text("text"))

    def _take_back(self, visit: Visit) -> bytes:
        return self._notify(visit, self._service.notices.take_back, visit.form.text("at"))

    def _notify(self, visit: Visit, act: Callable[[str, str], None], text: str) -> bytes:
        try:
            act(visit.person.name, text)
        except RefereeError as error:
            return self._home(visit.set_code(HTTPStatus.CONFLICT), f"{error}.")
        return redirect(visit.request, HOME)

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
