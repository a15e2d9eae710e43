"""The pages of an author: what was handed in, what came of it, and its matches; all of it as the service tells it."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import quote

import msgspec

from ...net.http_messages import Inquiry, Reply
from ...pages.desk_pages import DeskPages
from ...pages.explanation_page import answers_of, spoken_in
from ...pages.verifying import verifying_link
from ...submissions.api import AuthorApi
from ...submissions.challenges import PRACTICE
from ..answers import HTML, replied, sent, sent_on
from ..doors import Doors, Visit
from ..person_streams import PersonStreams, followed
from ..sessions import SiteRole

HOME, MATCHES, PRINTED = "/author", "/author/matches", "/author/printed"
_NOTHING: Mapping[str, str] = {}


class TellFoul(Protocol):
    """Says in words what an explanation tells."""

    def __call__(self, explained: Any) -> tuple[str, Sequence[tuple[str, str]]]:
        """Return how the match ended for the seat, and label and text of what there is to know of its foul."""


class AuthorPages:
    """Lets authors hand in, and see what is theirs.

    Args:
        is_shown: tells of a tournament and a match whether everybody may see its replay.
    """

    def __init__(
        self,
        api: AuthorApi,
        tell: TellFoul,
        pages: DeskPages,
        streams: PersonStreams,
        is_shown: Callable[[str, str], bool],
    ) -> None:
        self._api = api
        self._tell = tell
        self._pages = pages
        self._streams = streams
        self._is_shown = is_shown

    def register(self, doors: Doors) -> None:
        """Register the addresses."""
        doors.shows(SiteRole.AUTHOR, HOME)(self._versions)
        doors.shows(SiteRole.AUTHOR, "/author/events")(self._events)
        doors.shows(SiteRole.AUTHOR, "/author/versions/<number>")(self._version)
        doors.shows(SiteRole.AUTHOR, MATCHES)(self._matches)
        doors.shows(SiteRole.AUTHOR, f"{MATCHES}/<path:name>")(self._match)
        doors.shows(SiteRole.AUTHOR, f"{PRINTED}/<path:name>")(self._printed)
        doors.does(SiteRole.AUTHOR, "/author/hand-in")(self._hand_in)
        doors.does(SiteRole.AUTHOR, "/author/versions/<number>/play")(self._play)

    async def _versions(self, visit: Visit) -> bytes:
        return await self._home(visit, _NOTHING)

    async def _events(self, visit: Visit) -> Any:
        return await followed(visit, self._streams)

    async def _version(self, visit: Visit, number: str) -> bytes:
        return await self._shown(visit, number, _NOTHING)

    async def _matches(self, visit: Visit) -> bytes:
        reply = await self._asked(visit, "GET", "matches")
        if reply.code is not HTTPStatus.OK:
            return self._page(visit, "author/refused", told=_refused(visit, reply))
        matches = _decoded(reply)["matches"]
        ways = [self._ways(visit.person.name, match["match"], match["head"]) for match in matches]
        return self._page(visit, "author/matches", matches=list(zip(matches, ways, strict=True)))

    async def _match(self, visit: Visit, name: str) -> bytes:
        seat, turn = visit.number("seat"), visit.number("turn")
        reply = await self._asked(visit, "GET", "matches", name, seat=seat)
        if reply.code is not HTTPStatus.OK:
            return self._page(visit, "author/refused", told=_refused(visit, reply))
        match = _decoded(reply)
        standing, foul = self._tell(match)
        said = match["conversation"]
        return self._page(
            visit,
            "author/match",
            match=match,
            ways=self._ways(visit.person.name, name, match["head"]),
            here=f"{MATCHES}/{quote(name)}?seat={match['seat']}",
            printed=f"{PRINTED}/{quote(name)}?seat={match['seat']}",
            turn=turn,
            standing=standing,
            foul=foul,
            answers=answers_of(said),
            spoken=() if turn is None else spoken_in(said, turn),
        )

    async def _printed(self, visit: Visit, name: str) -> bytes:
        """Send what the author's program printed as plain text."""
        reply = await self._asked(visit, "GET", "matches", name, "printed", seat=visit.number("seat"))
        if reply.code is not HTTPStatus.OK:
            return self._page(visit, "author/refused", told=_refused(visit, reply))
        return replied(visit.request, reply)

    def _ways(self, author: str, name: str, head: str) -> tuple[str, str] | None:
        """Return where a match's replay is, and what verifies its record; None if nothing shows it."""
        folder, _, record = name.rpartition("/")
        if self._is_shown(folder, record):
            replays = f"/tournaments/{quote(folder)}/replays/"
            return f"{replays}{quote(record)}.html", replays + verifying_link(f"{record}.jsonl", head)
        if folder.startswith(f"{PRACTICE}/{author}/"):  # that page stands alone, and verifies its record itself
            replay = f"/author/practice/{folder.rpartition('/')[2].lstrip('0')}/replay"
            return replay, replay
        return None

    async def _hand_in(self, visit: Visit) -> bytes:
        reply = await self._asked(visit, "PUT", "submissions", body=visit.form.upload)
        if reply.code is not HTTPStatus.ACCEPTED:
            return await self._home(visit, _refused(visit, reply))
        return sent_on(visit.request, f"{HOME}/versions/{_decoded(reply)['number']}")

    async def _play(self, visit: Visit, number: str) -> bytes:
        reply = await self._asked(visit, "PUT", "submissions", number, "present")
        if reply.code is not HTTPStatus.OK:
            return await self._shown(visit, number, _refused(visit, reply))
        return sent_on(visit.request, HOME)

    async def _home(self, visit: Visit, told: Mapping[str, str]) -> bytes:
        listed = await self._asked(visit, "GET", "submissions")
        if listed.code is not HTTPStatus.OK:
            return self._page(visit, "author/refused", told=_refused(visit, listed))
        return self._page(visit, "author/versions", **_decoded(listed), told=told)

    async def _shown(self, visit: Visit, number: str, told: Mapping[str, str]) -> bytes:
        reply = await self._asked(visit, "GET", "submissions", number)
        if reply.code is not HTTPStatus.OK:
            return self._page(visit, "author/refused", told=_refused(visit, reply))
        version = _decoded(reply)
        steps = version["steps"] if version["report"] is None else version["report"].get("steps", ())
        return self._page(visit, "author/version", version=version, steps=steps, told=told)

    def _page(self, visit: Visit, name: str, **values: Any) -> bytes:
        page = self._pages.page(name, visit.person.name, visit.form_token, **values)
        return sent(visit.request, HTML, page.encode())

    async def _asked(self, visit: Visit, method: str, *path: str, seat: int | None = None, body: bytes = b"") -> Reply:
        query = {} if seat is None else {"seat": str(seat)}
        inquiry = Inquiry(author=visit.person.name, method=method, path=path, query=query, body=body)
        return await self._api.answer(inquiry)


def _decoded(reply: Reply) -> Any:
    return msgspec.json.decode(reply.body)


def _refused(visit: Visit, reply: Reply) -> Mapping[str, str]:
    """Take note that something was refused; return what is wrong and what to do."""
    visit.request.setResponseCode(reply.code)
    return msgspec.json.decode(reply.body, type=dict[str, str])
