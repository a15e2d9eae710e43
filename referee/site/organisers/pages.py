"""The pages of the organiser: tournaments, rulings, authors, the machine, the log, and everything as one archive."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from twisted.internet.defer import maybeDeferred
from twisted.internet.threads import deferToThread

from ...errors import RefereeError
from ...pages.desk_pages import DeskPages
from ..answers import HTML, sent, sent_on
from ..doors import Doors, Visit
from ..flow import flow
from ..person_streams import PersonStreams, followed
from ..sessions import SiteRole
from .desk import OrganiserDesk, seen_by

HOME = "/organiser"
_TOURNAMENT, _AUTHORS = f"{HOME}/tournaments/<name>", f"{HOME}/authors"
_NEWEST = 20
"""Deeds on the first page."""
FindMatches = Callable[[str], Sequence[tuple[str, Sequence[str]]]]
"""Returns the newest matches of a tournament, each with names by seat."""


class OrganiserPages:
    """Lets organisers see how things stand, and decide."""

    def __init__(self, desk: OrganiserDesk, pages: DeskPages, streams: PersonStreams, matches: FindMatches) -> None:
        self._desk = desk
        self._pages = pages
        self._streams = streams
        self._matches = matches

    def register(self, doors: Doors) -> None:
        """Register the addresses."""
        shows, does = doors.shows, doors.does
        shows(SiteRole.ORGANISER, HOME)(self._home)
        shows(SiteRole.ORGANISER, _TOURNAMENT)(self._tournament)
        shows(SiteRole.ORGANISER, _AUTHORS)(self._authors)
        shows(SiteRole.ORGANISER, f"{HOME}/queue")(self._queue)
        shows(SiteRole.ORGANISER, f"{HOME}/hosts")(self._hosts)
        shows(SiteRole.ORGANISER, f"{HOME}/events")(self._events)
        shows(SiteRole.ORGANISER, f"{HOME}/log")(self._log)
        shows(SiteRole.ORGANISER, f"{HOME}/contest.tar")(self._archive)
        does(SiteRole.ORGANISER, f"{_TOURNAMENT}/start")(self._start)
        does(SiteRole.ORGANISER, f"{_TOURNAMENT}/pause")(self._pause)
        does(SiteRole.ORGANISER, f"{_TOURNAMENT}/rule")(self._rule)
        does(SiteRole.ORGANISER, _AUTHORS)(self._add_author)
        does(SiteRole.ORGANISER, f"{_AUTHORS}/shut-out")(self._shut_out)

    async def _home(self, visit: Visit, told: str = "") -> bytes:
        desk = self._desk
        return self._page(
            visit,
            "organiser/home",
            tournaments=desk.tournaments(),
            machine=desk.machine(),
            processes=desk.processes(),
            queue=len(desk.queue()),
            deeds=desk.deeds()[:_NEWEST],
            told=told,
        )

    async def _tournament(self, visit: Visit, name: str, told: str = "") -> bytes:
        shown = next((line for line in self._desk.tournaments() if line.name == name), None)
        if shown is None:
            visit.request.setResponseCode(HTTPStatus.NOT_FOUND)
            return await self._home(visit, "There is no such tournament.")
        form, matches = visit.form.fields, self._matches(name)
        return self._page(visit, "organiser/tournament", shown=shown, form=form, matches=matches, told=told)

    async def _authors(self, visit: Visit, told: str = "", token: str = "") -> bytes:
        authors = await deferToThread(self._desk.authors)
        return self._page(visit, "organiser/authors", authors=authors, form=visit.form.fields, told=told, token=token)

    async def _queue(self, visit: Visit) -> bytes:
        return self._page(visit, "organiser/queue", lines=seen_by(visit.person, self._desk.queue()))

    async def _hosts(self, visit: Visit) -> bytes:
        return self._page(visit, "organiser/hosts", lines=self._desk.processes())

    async def _events(self, visit: Visit) -> Any:
        return await followed(visit, self._streams)

    async def _log(self, visit: Visit) -> bytes:
        return self._page(visit, "organiser/log", deeds=self._desk.deeds())

    async def _archive(self, visit: Visit) -> bytes:
        request = visit.request
        sent(request, "application/x-tar", b"")
        request.setHeader("Content-Disposition", 'attachment; filename="contest.tar"')
        if request.method != b"HEAD":
            await flow(request, self._desk.archive(visit.person.name))
        return b""

    async def _start(self, visit: Visit, name: str) -> bytes:
        return await self._done(visit, name, self._desk.start, visit.person.name, name)

    async def _pause(self, visit: Visit, name: str) -> bytes:
        return await self._done(visit, name, self._desk.pause, visit.person.name, name)

    async def _done(self, visit: Visit, name: str, act: Callable[..., object], *args: Any) -> bytes:
        """Do something with a tournament, now or later; show it again with the reason if that is refused."""
        try:
            await maybeDeferred(act, *args)
        except RefereeError as error:
            return await self._tournament(_refused(visit), name, str(error))
        return sent_on(visit.request, HOME)

    async def _rule(self, visit: Visit, name: str) -> bytes:
        form = visit.form
        kind, to = form.text("kind"), form.text("to") if form.text("kind") == "award" else ""
        about = form.text("subject"), to, form.text("reason")
        return await self._done(visit, name, deferToThread, self._desk.rule, visit.person.name, name, kind, *about)

    async def _add_author(self, visit: Visit) -> bytes:
        name, may_renew = visit.form.text("name"), bool(visit.form.text("renew"))
        try:
            token = await deferToThread(self._desk.add_author, visit.person.name, name, may_renew=may_renew)
        except RefereeError as error:
            return await self._authors(_refused(visit), str(error))
        return await self._authors(visit, token=token)

    async def _shut_out(self, visit: Visit) -> bytes:
        try:
            await deferToThread(self._desk.shut_out, visit.person.name, visit.form.text("name"))
        except RefereeError as error:
            return await self._authors(_refused(visit), str(error))
        return sent_on(visit.request, _AUTHORS)

    def _page(self, visit: Visit, name: str, **values: Any) -> bytes:
        return sent(visit.request, HTML, self._pages.page(name, visit.person.name, visit.form_token, **values).encode())


def _refused(visit: Visit) -> Visit:
    visit.request.setResponseCode(HTTPStatus.CONFLICT)
    return visit
