"""The pages of an author: what was handed in, what came of it, and its matches; all of it as the service tells it."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec

from ...pages.explanation_page import answers_of, spoken_in
from ...pages.verifying import verifying_link
from ..author_api import AuthorApi
from ..guarded_routes import GuardedRoutes, Visit
from ..http import link_to, replied, sent_on, top_of
from ..http_messages import Inquiry, Reply, refusal
from ..sessions import SiteRole
from ..submissions.challenges import PRACTICE

HOME, MATCHES, PRINTED = "/author", "/author/matches", "/author/printed"
_NOTHING: Mapping[str, str] = {}
_ARCHIVE, _FOLDER = "archive", "folder"
"""Fields of the form."""
TellFoul = Callable[[Any], tuple[str, Sequence[tuple[str, str]]]]
"""Returns of an explanation how the match ended for its seat, and what there is to know of its foul: label and text."""


class AuthorPages:
    """Lets authors hand in, and see what is theirs."""

    def __init__(self, api: AuthorApi, tell: TellFoul, is_shown: Callable[[str, str], bool]) -> None:
        self._api = api
        self._tell = tell
        self._is_shown = is_shown

    def register(self, routes: GuardedRoutes) -> None:
        """Register the addresses."""
        routes.shows(SiteRole.AUTHOR, HOME, self._home)
        routes.shows(SiteRole.AUTHOR, "/author/versions/<number>", self._version)
        routes.shows(SiteRole.AUTHOR, MATCHES, self._matches)
        routes.shows(SiteRole.AUTHOR, f"{MATCHES}/<path:name>", self._match)
        routes.shows(SiteRole.AUTHOR, f"{PRINTED}/<path:name>", self._printed)
        routes.does(SiteRole.AUTHOR, "/author/hand-in", self._hand_in)
        routes.does(SiteRole.AUTHOR, "/author/versions/<number>/play", self._play)

    async def _matches(self, visit: Visit) -> bytes:
        reply = await asked(self._api, visit, "matches")
        if reply.code is not HTTPStatus.OK:
            return refused_page(visit, reply)
        matches = _decoded(reply)["matches"]
        ways = [self._ways(visit, match["match"], match["head"]) for match in matches]
        return visit.page("author/matches", matches=list(zip(matches, ways, strict=True)))

    async def _match(self, visit: Visit, name: str) -> bytes:
        seat, turn = visit.number("seat"), visit.number("turn")
        reply = await asked(self._api, visit, "matches", name, seat=seat)
        if reply.code is not HTTPStatus.OK:
            return refused_page(visit, reply)
        match, top = _decoded(reply), top_of(visit.request)
        standing, foul = self._tell(match)
        said = match["conversation"]
        return visit.page(
            "author/match",
            match=match,
            ways=self._ways(visit, name, match["head"]),
            here=f"{top}{MATCHES[1:]}/{quote(name)}?seat={match['seat']}",
            printed=f"{top}{PRINTED[1:]}/{quote(name)}?seat={match['seat']}",
            turn=turn,
            standing=standing,
            foul=foul,
            answers=answers_of(said),
            spoken=() if turn is None else spoken_in(said, turn),
        )

    async def _printed(self, visit: Visit, name: str) -> bytes:
        """Send what the author's program printed as plain text."""
        reply = await asked(self._api, visit, "matches", name, "printed", seat=visit.number("seat"))
        if reply.code is not HTTPStatus.OK:
            return refused_page(visit, reply)
        return replied(visit.request, reply)

    def _ways(self, visit: Visit, name: str, head: str) -> tuple[str, str] | None:
        """Return where a match's replay is, and what verifies its record; None if nothing shows it."""
        folder, _, record = name.rpartition("/")
        if self._is_shown(folder, record):
            replays = link_to(visit.request, f"/tournaments/{quote(folder)}/replays/")
            return f"{replays}{quote(record)}.html", replays + verifying_link(f"{record}.jsonl", head)
        if folder.startswith(
            f"{PRACTICE}/{visit.person.name}/"
        ):  # that page stands alone, and verifies its record itself
            replay = link_to(visit.request, f"/author/practice/{folder.rpartition('/')[2].lstrip('0')}/replay")
            return replay, replay
        return None

    async def _hand_in(self, visit: Visit) -> bytes:
        archives = [file for file in visit.form.uploads if file.field == _ARCHIVE]
        files = [(file.name, file.data) for file in visit.form.uploads if file.field == _FOLDER]
        if bool(archives) == bool(files):
            what = "both an archive and a folder were chosen" if files else "nothing was chosen"
            reply = refusal(HTTPStatus.UNPROCESSABLE_ENTITY, what, "choose one archive or one folder")
        elif files:
            reply = await self._api.hand_in_folder(visit.person.name, files)
        else:
            query = {"name": archives[0].name}
            reply = await asked(self._api, visit, "submissions", method="PUT", body=archives[0].data, query=query)
        if reply.code is not HTTPStatus.ACCEPTED:
            return await self._home(visit, _refusal(visit, reply))
        return sent_on(visit.request, f"{HOME}/versions/{_decoded(reply)['number']}")

    async def _play(self, visit: Visit, number: str) -> bytes:
        reply = await asked(self._api, visit, "submissions", number, "present", method="PUT")
        if reply.code is not HTTPStatus.OK:
            return await self._version(visit, number, _refusal(visit, reply))
        return sent_on(visit.request, HOME)

    async def _home(self, visit: Visit, told: Mapping[str, str] = _NOTHING) -> bytes:
        listed = await asked(self._api, visit, "submissions")
        if listed.code is not HTTPStatus.OK:
            return refused_page(visit, listed)
        return visit.page("author/versions", **_decoded(listed), told=told)

    async def _version(self, visit: Visit, number: str, told: Mapping[str, str] = _NOTHING) -> bytes:
        reply = await asked(self._api, visit, "submissions", number)
        if reply.code is not HTTPStatus.OK:
            return refused_page(visit, reply)
        version = _decoded(reply)
        steps = version["steps"] if version["report"] is None else version["report"].get("steps", ())
        return visit.page("author/version", version=version, steps=steps, told=told)


async def asked(
    api: AuthorApi,
    visit: Visit,
    *path: str,
    method: str = "GET",
    query: Mapping[str, str] = _NOTHING,
    seat: int | None = None,
    body: bytes = b"",
) -> Reply:
    """Ask the service for something of the author's, or have it done."""
    query = query if seat is None else {"seat": str(seat)}
    return await api.answer(Inquiry(author=visit.person.name, method=method, path=path, query=query, body=body))


def refused_page(visit: Visit, reply: Reply) -> bytes:
    """Show the page of what the service refused."""
    return visit.page("author/refused", told=_refusal(visit, reply))


def _refusal(visit: Visit, reply: Reply) -> Mapping[str, str]:
    """Take note that something was refused; return what is wrong and what to do."""
    visit.coded(reply.code)
    return msgspec.json.decode(reply.body, type=dict[str, str])


def _decoded(reply: Reply) -> Any:
    return msgspec.json.decode(reply.body)
