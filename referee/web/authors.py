"""The pages and the API for authors: their versions, their matches, practice matches and the queue."""

# Pages and programs use the same AuthorService, so both have the same rights, limits and messages. A refusal is an
# exception in both cases: a page shows its two sentences, and a program gets them as JSON.
#
# The address of an author's match contains the path of its record. This text is only compared with the names in the
# author's own list; it is never used as a path.

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct
from twisted.internet.defer import maybeDeferred

from ..app.records.explain import foul_lines, word_standing
from ..errors import BadRequest, RemediableError
from ..files.tree import MIB
from ..pages.explanation_page import list_answers, list_messages
from ..pages.replay_page import head_at_turn, split_page
from ..pages.verifying import verifying_link
from ..pages.words import move_words
from ..plugins import find_game
from .author_service import AuthorService, NotYours
from .contest.messenger import MailAddresses
from .contest.notices import Notices
from .contest.practice import Practice
from .contest.queue import NextMatch, QueueLine, select_lines
from .guarded_routes import AUTHOR, ORGANISER, ApiRoutes, GuardedRoutes, Visit, find_status, read_request
from .http import (
    HTML,
    LINES,
    PLAIN_TEXT,
    Reply,
    RequestRefused,
    find_top,
    make_link,
    read_turn,
    redirect,
    refuse,
    send,
    send_pieces,
)
from .person.browser import SeatView, perform_act, seat_page, watch
from .sessions import Person, SiteRole
from .submissions.archive import MAX_PACKED_BYTES, make_player
from .submissions.challenges import PRACTICE, Challenge, PracticeRules
from .submissions.store import VersionState
from .workshop import Workshop

HOME, MATCHES, PRINTED = "/author", "/author/matches", "/author/printed"
PRACTICE_PAGE, QUEUE_PAGE = "/author/practice", "/author/queue"
VERSIONS_API, MATCHES_API, PRACTICE_API, QUEUE_API = "/submissions", "/matches", "/api/practice", "/api/queue"
ARCHIVE = "application/octet-stream"
"""Media type of an archive, whatever its format: browsers save it."""
IN_PERSON = "person"
"""Value of the form's field `plays` if the author plays in person, not one of its versions."""
_FILES = "archive"
"""Field of the form for an archive or single files; another field is for a folder."""
_SEAT_DIGITS = 9


class AuthorPages:
    """The pages on which authors hand in, and see their versions and matches.

    Args:
        service: carries out what authors request.
        is_shown: (tournament, match) -> whether everybody may see the replay.
        list_next: author -> the next match of its program, in each tournament.
        notices: takes appeals.
        mail: mailboxes of the authors; None: the contest sends no mail.
    """

    def __init__(
        self,
        service: AuthorService,
        is_shown: Callable[[str, str], bool],
        list_next: Callable[[str], Sequence[NextMatch]],
        notices: Notices,
        mail: MailAddresses | None,
    ) -> None:
        self._service = service
        self._is_shown = is_shown
        self._list_next = list_next
        self._notices = notices
        self._mail = mail

    def register(self, routes: GuardedRoutes) -> None:
        """Register the addresses."""
        for path, show in (
            (HOME, self._home),
            (f"{HOME}/versions/<number>", self._version),
            (MATCHES, self._matches),
            (f"{MATCHES}/<path:name>", self._match),
            (f"{PRINTED}/<path:name>", self._output),
        ):
            routes.shows(SiteRole.AUTHOR, path, partial(show_or_explain, show))
        routes.shows(SiteRole.AUTHOR, f"{HOME}/versions/<number>/archive", partial(show_or_explain, self._archive))
        routes.does(SiteRole.AUTHOR, f"{HOME}/hand-in", self._hand_in)
        routes.does(SiteRole.AUTHOR, f"{HOME}/mail", partial(show_or_explain, self._set_mail))
        routes.does(SiteRole.AUTHOR, f"{HOME}/appeal", partial(show_or_explain, self._appeal))
        routes.does(SiteRole.AUTHOR, f"{HOME}/versions/<number>/play", partial(show_or_explain, self._play))

    async def _home(self, visit: Visit, refused: RemediableError | None = None) -> bytes:
        versions = await self._service.list_versions(visit.person.name)
        return visit.page(
            "author/versions",
            submissions=versions.submissions,
            present=versions.present,
            mailbox=None if self._mail is None else self._mail.find(visit.person.name),
            refused_because=refused,
        )

    async def _version(self, visit: Visit, number: str, refused: RemediableError | None = None) -> bytes:
        version = await self._service.find_version(visit.person.name, number)
        report: Any = version.report  # plain JSON, because another release of the referee may have written it
        steps = version.steps if report is None else report.get("steps", ())
        coming = self._list_next(visit.person.name) if version.plays else ()
        return visit.page("author/version", version=version, steps=steps, coming=coming, refused_because=refused)

    async def _archive(self, visit: Visit, number: str) -> Any:
        name, data = await self._service.read_archive(visit.person.name, number)
        visit.request.setHeader("Content-Disposition", f'attachment; filename="{name}"')
        return send_pieces(visit.request, ARCHIVE, data)

    async def _set_mail(self, visit: Visit) -> bytes:
        """Set the mailbox for messages about an author's own program."""
        try:
            if self._mail is None:
                raise BadRequest("this contest sends no mail")
            self._mail.set(visit.person.name, visit.form.text("address"))
        except BadRequest as error:
            raise RequestRefused(HTTPStatus.CONFLICT, str(error), "go back to your programs") from None
        return redirect(visit.request, HOME)

    async def _appeal(self, visit: Visit) -> bytes:
        """Accept an appeal against the expulsion of the author's program in a match of a tournament."""
        author, name = visit.person.name, visit.form.text("match")
        try:
            explanation = await self._service.explain(author, name, None)
        except NotYours:
            explanation = None
        if explanation is None or explanation.verdict is None or name.startswith(f"{PRACTICE}/"):
            what = "your program was not expelled in a tournament match of this name"
            raise RequestRefused(HTTPStatus.CONFLICT, what, "appeal on the page of the match")
        try:
            self._notices.appeal(author, name.rpartition("/")[2], visit.form.text("text"))
        except BadRequest as error:
            raise RequestRefused(HTTPStatus.CONFLICT, str(error), "go back to the match") from None
        return redirect(visit.request, f"{MATCHES}/{quote(name)}?seat={explanation.seat}")

    async def _hand_in(self, visit: Visit) -> Any:
        author = visit.person.name
        fields = {file.field for file in visit.form.uploads}
        files: Sequence[tuple[str, bytes]] = [(file.name, file.data) for file in visit.form.uploads]
        try:
            if len(fields) != 1:
                what = "both files and a folder were chosen" if fields else "nothing was chosen"
                raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, what, "choose an archive, files, or a folder")
            lone = fields == {_FILES} and len(files) == 1
            player = make_player(*files[0]) if lone else files
            if player is not None:
                version = await self._service.hand_in_folder(author, player)
            else:
                version = await self._service.hand_in(author, files[0][1], files[0][0])
        except RemediableError as error:
            return await show_or_explain(self._home, visit.set_code(find_status(error)), error)
        return redirect(visit.request, f"{HOME}/versions/{version.number}")

    async def _play(self, visit: Visit, number: str) -> bytes:
        try:
            await self._service.choose(visit.person.name, number)
        except NotYours:
            raise
        except RemediableError as error:
            return await self._version(visit.set_code(find_status(error)), number, error)
        return redirect(visit.request, HOME)

    async def _matches(self, visit: Visit) -> bytes:
        matches = (await self._service.list_matches(visit.person.name)).matches
        return visit.page(
            "author/matches", matches=[(match, self._find_ways(visit, match.match, match.head)) for match in matches]
        )

    async def _match(self, visit: Visit, name: str) -> bytes:
        explanation = await self._service.explain(visit.person.name, name, visit.number("seat"))
        match, top, turn = msgspec.to_builtins(explanation), find_top(visit.request), visit.number("turn")
        verdict = explanation.verdict
        return visit.page(
            "author/match",
            match=match,
            ways=self._find_ways(visit, name, explanation.head),
            here=f"{top}{MATCHES[1:]}/{quote(name)}?seat={explanation.seat}",
            printed=f"{top}{PRINTED[1:]}/{quote(name)}?seat={explanation.seat}",
            turn=turn,
            path=name,
            appeal=self._notices.find_appeal(visit.person.name, name.rpartition("/")[2]),
            may_appeal=verdict is not None and not name.startswith(f"{PRACTICE}/"),
            standing=word_standing(explanation),
            foul=() if verdict is None else list(foul_lines(explanation, verdict)),
            answers=list_answers(match["conversation"], partial(move_words, find_game(explanation.game))),
            spoken=() if turn is None else list_messages(match["conversation"], turn),
        )

    async def _output(self, visit: Visit, name: str) -> bytes:
        """Send the output of the author's program as plain text, so that a browser does not read it as a page."""
        text = await self._service.read_output(visit.person.name, name, visit.number("seat"))
        return send(visit.request, PLAIN_TEXT, text.encode())

    def _find_ways(self, visit: Visit, name: str, head: str) -> tuple[str, str] | None:
        """Return links to a match's replay and to the page that verifies its record; None if nothing shows it."""
        folder, _, record = name.rpartition("/")
        if self._is_shown(folder, record):
            replays = make_link(visit.request, f"/tournaments/{quote(folder)}/replays/")
            return f"{replays}{quote(record)}.html", replays + verifying_link(f"{record}.jsonl", head)
        if folder.startswith(f"{PRACTICE}/{visit.person.name}/"):
            # The replay of a practice match is a single page, which contains the verifier.
            number = folder.rpartition("/")[2].lstrip("0")
            replay = make_link(visit.request, f"{PRACTICE_PAGE}/{number}/replay")
            return replay, replay
        return None


async def show_or_explain(show: Callable[..., Any], visit: Visit, *args: Any, **parts: Any) -> Any:
    """Show a page of an author; if the request is refused, show why and what to do."""
    try:
        return await maybeDeferred(show, visit, *args, **parts)
    except RemediableError as error:
        return visit.set_code(find_status(error)).page("author/refused", refused_because=error)


class AuthorPractice:
    """The pages on which authors ask for practice matches, play in them, and see the results."""

    def __init__(
        self, practice: Practice, service: AuthorService, queue: Callable[[], Sequence[QueueLine]], workshop: Workshop
    ) -> None:
        self._practice = practice
        self._service = service
        self._queue = queue
        self._workshop = workshop

    def register(self, routes: GuardedRoutes) -> None:
        """Register the addresses."""
        for path, show in (
            (PRACTICE_PAGE, self._home),
            (f"{PRACTICE_PAGE}/<number>/replay", self._replay),
            (QUEUE_PAGE, self._show_queue),
            (f"{PRACTICE_PAGE}/<number>/seat", self._seat_page),
            (f"{PRACTICE_PAGE}/<number>/events", partial(self._at_seat, watch)),
        ):
            routes.shows(SiteRole.AUTHOR, path, partial(show_or_explain, show))
        routes.does(SiteRole.AUTHOR, PRACTICE_PAGE, self._ask)
        routes.does(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/give-up", self._give_up)
        routes.does(SiteRole.AUTHOR, f"{PRACTICE_PAGE}/<number>/<what>", partial(self._at_seat, perform_act))

    def _show_queue(self, visit: Visit) -> bytes:
        return visit.page("author/queue", lines=select_lines(visit.person, self._queue()))

    def _seat_page(self, visit: Visit, number: str) -> Any:
        def _page(request: Any, seat: SeatView) -> bytes:
            text = seat_page(seat, form_token=visit.form_token, number=number, top=find_top(request))
            return send(request, HTML, text.encode())

        return self._at_seat(_page, visit, number)

    def _at_seat(self, answer: Callable[..., Any], visit: Visit, number: str, **parts: str) -> Any:
        seat = self._practice.seat(visit.person.name, number)
        return refuse(visit.request, HTTPStatus.NOT_FOUND) if seat is None else answer(visit.request, seat, **parts)

    async def _ask(self, visit: Visit) -> bytes:
        author, form = visit.person.name, visit.form
        version = None if form.text("plays") == IN_PERSON else form.text("version")
        try:
            number = await self._practice.challenge(author, form.text("tournament"), version, form.text("opponent"))
        except RemediableError as error:
            return await self._explain(visit, error)
        return redirect(visit.request, PRACTICE_PAGE if version is not None else f"{PRACTICE_PAGE}/{number}/seat")

    async def _give_up(self, visit: Visit, number: str) -> bytes:
        try:
            self._practice.give_up(visit.person.name, number)
        except RemediableError as error:
            return await self._explain(visit, error)
        return redirect(visit.request, PRACTICE_PAGE)

    async def _explain(self, visit: Visit, error: RemediableError) -> bytes:
        result: bytes = await show_or_explain(self._home, visit.set_code(HTTPStatus.CONFLICT), error)
        return result

    async def _replay(self, visit: Visit, number: str) -> Any:
        request, author, turn = visit.request, visit.person.name, read_turn(visit.request)
        make = partial(self._workshop.make, request, f"author {author}")
        page = await make(_make_replay, self._practice, author, number, key=(PRACTICE, author, number))
        if page is None:
            raise NotYours
        head, rest = page
        if turn is not None:
            head = await make(head_at_turn, head, rest, turn)
        return send_pieces(request, HTML, rest, head.encode())

    async def _home(self, visit: Visit, refused: RemediableError | None = None) -> bytes:
        author, practice = visit.person.name, self._practice
        versions = (await self._service.list_versions(author)).submissions
        matches = (await self._service.list_matches(author)).matches
        challenges, rules = practice.challenges(author), practice.rules()
        waiting = {
            challenge.number: (challenge, why) for challenge, why in practice.waiting() if challenge.author == author
        }
        return visit.page(
            "author/practice",
            rules=rules,
            houses=_sort_houses(rules),
            versions=[version.number for version in versions if version.state is VersionState.PASSED],
            challenges=challenges,
            why={number: why for number, (_, why) in waiting.items()},
            until={
                number: practice.until(challenge).isoformat(timespec="seconds")
                for number, (challenge, _) in waiting.items()
            },
            matches={
                challenge.number: [
                    match for match in matches if match.match.startswith(f"{PRACTICE}/{challenge.place}/")
                ]
                for challenge in challenges
            },
            refused_because=refused,
        )


def _sort_houses(rules: Sequence[PracticeRules]) -> list[str]:
    """Return the house players of all rules. Players that can play by most rules come first: they fit most often."""
    counts = Counter(name for each in rules for name in each.houses)
    return sorted(counts, key=lambda name: (-counts[name], name))


def _make_replay(practice: Practice, author: str, number: str) -> tuple[str, memoryview] | None:
    """Return the page of a finished practice match in two parts; None if the author has no such match."""
    page = practice.replay(author, number)
    return None if page is None else split_page(page.encode())


class PracticeState(Struct, frozen=True, kw_only=True):
    """The practice matches of an author."""

    rules: Sequence[PracticeRules]
    """Tournaments whose rules may be used; empty if the organiser allows no practice matches."""
    challenges: Sequence[Challenge]
    waiting: Mapping[str, str]
    """Number of a challenge that is not over -> its state in words: why it waits, or that it is played."""


class PracticeRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Request of an author for a practice match."""

    tournament: str
    version: int
    opponent: str
    """`house:NAME`, or the number of one of the author's other versions."""


class Queue(Struct, frozen=True, kw_only=True):
    """What is waiting. An author gets all of its own lines; an organiser gets a limited number of lines."""

    lines: Sequence[QueueLine]


class AuthorApi:
    """Answers the programs of authors, such as `referee submit`.

    Args:
        service: carries out what authors request.
        practice: practice matches of all authors.
        queue: returns everything that is waiting.
    """

    def __init__(self, service: AuthorService, practice: Practice, queue: Callable[[], Sequence[QueueLine]]) -> None:
        self._service = service
        self._practice = practice
        self._queue = queue

    def register(self, routes: ApiRoutes) -> None:
        """Register the addresses."""
        for method, path, answer in (
            ("GET", VERSIONS_API, self._list_versions),
            ("PUT", VERSIONS_API, self._hand_in),
            ("GET", f"{VERSIONS_API}/<path:rest>", self._version),
            ("PUT", f"{VERSIONS_API}/<path:rest>", self._choose),
            ("GET", MATCHES_API, self._list_matches),
            ("GET", f"{MATCHES_API}/<path:rest>", self._match),
            ("GET", PRACTICE_API, self._list_practice),
            ("POST", PRACTICE_API, self._challenge),
        ):
            routes.answers(method, path, AUTHOR, answer)
        routes.answers("GET", QUEUE_API, AUTHOR + ORGANISER, self._list_queue)

    async def _list_versions(self, person: Person, _request: Any) -> Struct:
        return await self._service.list_versions(person.name)

    async def _hand_in(self, person: Person, request: Any) -> Reply:
        length = request.getHeader("content-length") or ""
        if not (length.isascii() and length.isdecimal()):
            text = "the request does not announce the length of its body"
            raise RequestRefused(HTTPStatus.LENGTH_REQUIRED, text, "send a Content-Length")
        if int(length) > MAX_PACKED_BYTES:
            remedy = f"an archive may have {MAX_PACKED_BYTES // MIB} MiB; leave out what the program does not need"
            raise RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is {length} bytes long", remedy)
        name = (request.args.get(b"name") or [b""])[0].decode(errors="replace")
        version = await self._service.hand_in(person.name, request.content.read(), name)
        return Reply(code=HTTPStatus.ACCEPTED, body=msgspec.json.encode(version))

    async def _version(self, person: Person, request: Any, **_rest: str) -> Struct | Reply:
        match _split_path(request):
            case (_, number):
                return await self._service.find_version(person.name, number)
            case (_, number, "archive"):
                return Reply(body=(await self._service.read_archive(person.name, number))[1], content_type=ARCHIVE)
            case (_, _, "present"):
                raise _refuse_method(request, "PUT")
        raise NotYours

    async def _choose(self, person: Person, request: Any, **_rest: str) -> Struct:
        match _split_path(request):
            case (_, number, "present"):
                return await self._service.choose(person.name, number)
            case (_, _):
                raise _refuse_method(request, "GET, HEAD")
        raise NotYours

    async def _list_matches(self, person: Person, _request: Any) -> Struct:
        return await self._service.list_matches(person.name)

    async def _match(self, person: Person, request: Any, **_rest: str) -> Struct | Reply:
        author, seat = person.name, _read_seat(request)
        match _split_path(request):
            case (_, name):
                return await self._service.explain(author, name, seat)
            case (_, name, "record"):
                return Reply(body=await self._service.read_record(author, name, seat), content_type=LINES)
            case (_, name, "printed"):
                text = await self._service.read_output(author, name, seat)
                return Reply(body=text.encode(), content_type=PLAIN_TEXT)
        raise NotYours

    async def _list_practice(self, person: Person, _request: Any) -> PracticeState:
        practice, name = self._practice, person.name
        waiting = {str(challenge.number): why for challenge, why in practice.waiting() if challenge.author == name}
        return PracticeState(rules=practice.rules(), challenges=practice.challenges(name), waiting=waiting)

    async def _challenge(self, person: Person, request: Any) -> PracticeState:
        wanted = read_request(request, PracticeRequest)
        await self._practice.challenge(person.name, wanted.tournament, str(wanted.version), wanted.opponent)
        return await self._list_practice(person, request)

    async def _list_queue(self, person: Person, _request: Any) -> Queue:
        return Queue(lines=select_lines(person, self._queue()))


def _split_path(request: Any) -> tuple[str, ...]:
    """Return the parts of a request's path, decoded.

    Klein's own routing decodes %2F before it splits, but the name of a match has a slash in it.
    """
    path = request.uri.decode("latin-1").partition("?")[0]
    return tuple(unquote(part, errors="replace") for part in path.split("/")[1:])


def _refuse_method(request: Any, allow: str) -> RequestRefused:
    """Return the refusal of a method; the answer names the allowed ones."""
    request.setHeader("Allow", allow)
    return RequestRefused(HTTPStatus.METHOD_NOT_ALLOWED, "this address does not accept that method", f"use {allow}")


def _read_seat(request: Any) -> int | None:
    """Return the seat in a request's query; None if there is none; -1, which no seat has, if it is not a number."""
    values = request.args.get(b"seat")
    if not values:
        return None
    text = values[0].decode("latin-1")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _SEAT_DIGITS else -1
