"""The pages of the organiser: tournaments, rulings, authors, the machine, the log, and everything as one archive."""

from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus

from twisted.internet.defer import maybeDeferred
from twisted.internet.threads import deferToThread

from ...errors import RefereeError
from ..guarded_routes import GuardedRoutes, Visit
from ..http import flow, sent, sent_on
from ..sessions import SiteRole
from .service import OrganiserService, seen_by

HOME = "/organiser"
_TOURNAMENT, _AUTHORS = f"{HOME}/tournaments/<name>", f"{HOME}/authors"
_NEWEST = 20
"""Actions on the first page."""
FindMatches = Callable[[str], Sequence[tuple[str, Sequence[str]]]]
"""Returns the newest matches of a tournament, each with names by seat."""


class OrganiserPages:
    """Lets organisers see how things stand, and decide."""

    def __init__(self, service: OrganiserService, matches: FindMatches) -> None:
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
                lambda visit: visit.page("organiser/queue", lines=seen_by(visit.person, service.queue())),
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
            return self._home(visit.coded(HTTPStatus.NOT_FOUND), "There is no such tournament.")
        form, matches = visit.form.fields, self._matches(name)
        return visit.page("organiser/tournament", shown=shown, form=form, matches=matches, told=told)

    async def _authors(self, visit: Visit, told: str = "", token: str = "") -> bytes:
        authors = await deferToThread(self._service.authors)
        return visit.page("organiser/authors", authors=authors, form=visit.form.fields, told=told, token=token)

    async def _archive(self, visit: Visit) -> bytes:
        request = visit.request
        sent(request, "application/x-tar", b"")
        request.setHeader("Content-Disposition", 'attachment; filename="contest.tar"')
        if request.method != b"HEAD":
            await flow(request, self._service.archive(visit.person.name))
        return b""

    async def _change(self, act: Callable[..., object], visit: Visit, name: str, *about: str) -> bytes:
        """Do something with a tournament, now or later; show it again with the reason if that is refused."""
        try:
            await maybeDeferred(act, visit.person.name, name, *about)
        except RefereeError as error:
            return self._tournament(visit.coded(HTTPStatus.CONFLICT), name, str(error))
        return sent_on(visit.request, HOME)

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
            return await self._authors(visit.coded(HTTPStatus.CONFLICT), str(error))
        return await self._authors(visit, token=token)

    async def _shut_out(self, visit: Visit) -> bytes:
        try:
            await deferToThread(self._service.shut_out, visit.person.name, visit.form.text("name"))
        except RefereeError as error:
            return await self._authors(visit.coded(HTTPStatus.CONFLICT), str(error))
        return sent_on(visit.request, _AUTHORS)
