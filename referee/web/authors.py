"""What authors see and do: what was handed in, what came of it, their matches, practice matches, and what waits.

What authors have handed in, and their matches, are told by the service of submissions: to pages here, and to programs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from ..app.records.explain import foul_lines, standing
from ..errors import RemediableError
from ..pages.explanation_page import list_answers, list_messages
from ..pages.replay_page import head_at_turn, split_page
from ..pages.verifying import verifying_link
from ..record.explain import Explanation
from .author_api import NOWHERE, AuthorApi
from .contest.practice import Practice
from .contest.queue import QueueLine, select_lines
from .guarded_routes import AUTHOR, ORGANISER, ApiRoutes, GuardedRoutes, Visit, read_request
from .http import HTML, find_top, make_link, read_turn, redirect, refuse, send, send_pieces, send_reply
from .http_messages import Inquiry, Reply, refusal
from .person.view import SeatView, perform_act, seat_page, watch
from .sessions import Person, SiteRole
from .submissions.challenges import PRACTICE, Challenge, PracticeRules
from .workshop import Workshop

HOME, MATCHES, PRINTED = "/author", "/author/matches", "/author/printed"
_NOTHING: Mapping[str, str] = {}
_ARCHIVE, _FOLDER = "archive", "folder"
"""Fields of the form."""
PRACTICE_PAGE, QUEUE_PAGE = "/author/practice", "/author/queue"
IN_PERSON = "person"
"""Who plays, in the form: the author, and none of its versions."""
_LISTS = ("submissions", "matches")
"""What the page is made of, as the service tells it."""
PRACTICE_API, QUEUE_API = "/api/practice", "/api/queue"


def tell_foul(explained: Any) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return how an explained match ended for its seat, and what there is to know of the seat's foul."""
    explanation = msgspec.convert(explained, Explanation)
    return standing(explanation), () if explanation.verdict is None else list(
        foul_lines(explanation, explanation.verdict)
    )


class AuthorPages:
    """Lets authors hand in, and see what is theirs."""

    def __init__(self, api: AuthorApi, is_shown: Callable[[str, str], bool]) -> None:
        self._api = api
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
        match, top = _decoded(reply), find_top(visit.request)
        standing, foul = tell_foul(match)
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
            answers=list_answers(said),
            spoken=() if turn is None else list_messages(said, turn),
        )

    async def _printed(self, visit: Visit, name: str) -> bytes:
        """Send what the author's program printed as plain text."""
        reply = await asked(self._api, visit, "matches", name, "printed", seat=visit.number("seat"))
        if reply.code is not HTTPStatus.OK:
            return refused_page(visit, reply)
        return send_reply(visit.request, reply)

    def _ways(self, visit: Visit, name: str, head: str) -> tuple[str, str] | None:
        """Return where a match's replay is, and what verifies its record; None if nothing shows it."""
        folder, _, record = name.rpartition("/")
        if self._is_shown(folder, record):
            replays = make_link(visit.request, f"/tournaments/{quote(folder)}/replays/")
            return f"{replays}{quote(record)}.html", replays + verifying_link(f"{record}.jsonl", head)
        if folder.startswith(
            f"{PRACTICE}/{visit.person.name}/"
        ):  # that page stands alone, and verifies its record itself
            replay = make_link(visit.request, f"/author/practice/{folder.rpartition('/')[2].lstrip('0')}/replay")
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
        return redirect(visit.request, f"{HOME}/versions/{_decoded(reply)['number']}")

    async def _play(self, visit: Visit, number: str) -> bytes:
        reply = await asked(self._api, visit, "submissions", number, "present", method="PUT")
        if reply.code is not HTTPStatus.OK:
            return await self._version(visit, number, _refusal(visit, reply))
        return redirect(visit.request, HOME)

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
    visit.set_code(reply.code)
    return msgspec.json.decode(reply.body, type=dict[str, str])


def _decoded(reply: Reply) -> Any:
    return msgspec.json.decode(reply.body)


class AuthorPractice:
    """Lets authors ask for practice matches, play in them, and see what became of them."""

    def __init__(
        self, service: Practice, api: AuthorApi, queue: Callable[[], Sequence[QueueLine]], workshop: Workshop
    ) -> None:
        self._service = service
        self._api = api
        self._queue = queue
        self._workshop = workshop

    def register(self, routes: GuardedRoutes) -> None:
        """Register the addresses."""
        routes.shows(SiteRole.AUTHOR, PRACTICE_PAGE, self._home)
        routes.shows(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/replay", self._replay)
        routes.shows(SiteRole.AUTHOR, QUEUE_PAGE, self._waiting)
        routes.does(SiteRole.AUTHOR, PRACTICE_PAGE, self._ask)
        routes.does(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/give-up", self._give_up)
        routes.shows(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/seat", self._seat_page)
        routes.shows(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/events", partial(self._at_seat, watch))
        routes.does(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/<what>", partial(self._at_seat, perform_act))

    def _waiting(self, visit: Visit) -> bytes:
        return visit.page("author/queue", lines=select_lines(visit.person, self._queue()))

    def _seat_page(self, visit: Visit, number: str) -> Any:
        def _page(request: Any, seat: SeatView) -> bytes:
            return send(
                request,
                HTML,
                seat_page(seat, form_token=visit.form_token, number=number, top=find_top(request)).encode(),
            )

        return self._at_seat(_page, visit, number)

    def _at_seat(self, answer: Callable[..., Any], visit: Visit, number: str, **parts: str) -> Any:
        seat = self._service.seat(visit.person.name, number)
        return refuse(visit.request, HTTPStatus.NOT_FOUND) if seat is None else answer(visit.request, seat, **parts)

    async def _ask(self, visit: Visit) -> bytes:
        author, form = visit.person.name, visit.form
        version = None if form.text("plays") == IN_PERSON else form.text("version")
        tournament, opponent = form.text("tournament"), form.text("opponent")
        try:
            number = await self._service.challenge(author, tournament, version, opponent)
        except RemediableError as error:
            return await self._not_done(visit, error)
        return redirect(visit.request, PRACTICE_PAGE if version is not None else f"{PRACTICE_PAGE}/{number}/seat")

    async def _give_up(self, visit: Visit, number: str) -> bytes:
        try:
            self._service.give_up(visit.person.name, number)
        except RemediableError as error:
            return await self._not_done(visit, error)
        return redirect(visit.request, PRACTICE_PAGE)

    async def _not_done(self, visit: Visit, error: RemediableError) -> bytes:
        told = {"error": error.what, "remedy": error.remedy}
        return await self._home(visit.set_code(HTTPStatus.CONFLICT), told)

    async def _replay(self, visit: Visit, number: str) -> Any:
        request, author, turn = visit.request, visit.person.name, read_turn(visit.request)
        make = partial(self._workshop.make, request, f"author {author}")
        page = await make(_make_replay, self._service, author, number, key=(PRACTICE, author, number))
        if page is None:
            return refused_page(visit, NOWHERE)
        head, rest = page
        if turn is not None:
            head = await make(head_at_turn, head, rest, turn)
        return send_pieces(request, HTML, rest, head.encode())

    async def _home(self, visit: Visit, told: Mapping[str, str] | None = None) -> bytes:
        author, service = visit.person.name, self._service
        replies = [await asked(self._api, visit, what) for what in _LISTS]
        for reply in replies:
            if reply.code is not HTTPStatus.OK:
                return refused_page(visit, reply)
        versions, matches = (msgspec.json.decode(reply.body)[what] for reply, what in zip(replies, _LISTS, strict=True))
        challenges = service.challenges(author)
        waiting = {
            challenge.number: (challenge, why) for challenge, why in service.waiting() if challenge.author == author
        }
        return visit.page(
            "author/practice",
            rules=service.rules(),
            houses=sorted({name for challenge in service.rules() for name in challenge.houses}),
            versions=[version["number"] for version in versions if version["state"] == "passed"],
            challenges=challenges,
            why={number: why for number, (_, why) in waiting.items()},
            until={
                number: service.until(challenge).isoformat(timespec="seconds")
                for number, (challenge, _) in waiting.items()
            },
            matches={
                challenge.number: [
                    played for played in matches if played["match"].startswith(f"{PRACTICE}/{challenge.place}/")
                ]
                for challenge in challenges
            },
            told=told or {},
        )


def _make_replay(service: Practice, author: str, number: str) -> tuple[str, memoryview] | None:
    """Return the page of a match in two parts; None if there is none that is over."""
    page = service.replay(author, number)
    return None if page is None else split_page(page.encode())


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

    def __init__(self, queue: Callable[[], Sequence[QueueLine]], practice: Practice) -> None:
        self._queue = queue
        self._practice = practice

    def register(self, routes: ApiRoutes) -> None:
        """Register the addresses."""
        routes.answers("GET", PRACTICE_API, AUTHOR, self._practised)
        routes.answers("POST", PRACTICE_API, AUTHOR, self._challenge)
        routes.answers("GET", QUEUE_API, AUTHOR + ORGANISER, self._waiting)

    async def _practised(self, person: Person, _request: Any) -> PracticeState:
        service, name = self._practice, person.name
        waiting = {str(challenge.number): why for challenge, why in service.waiting() if challenge.author == name}
        return PracticeState(rules=service.rules(), challenges=service.challenges(name), waiting=waiting)

    async def _challenge(self, person: Person, request: Any) -> PracticeState:
        asked = read_request(request, PracticeRequest)
        await self._practice.challenge(person.name, asked.tournament, str(asked.version), asked.opponent)
        return await self._practised(person, request)

    async def _waiting(self, person: Person, _request: Any) -> Queue:
        return Queue(lines=select_lines(person, self._queue()))
