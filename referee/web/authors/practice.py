"""The pages of an author's practice matches, and of all of the author's that waits, and why."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol

import msgspec

from ...errors import RemediableError
from ...pages.replay_page import head_at_turn, parted
from ..author_api import NOWHERE, AuthorApi
from ..guarded_routes import GuardedRoutes, Visit
from ..http import HTML, refused, send_shared, sent, sent_on, top_of, turn_of
from ..organisers.service import QueueLine, seen_by
from ..sessions import SiteRole
from ..submissions.challenges import PRACTICE, Challenge, PracticeRules
from ..workshop import Workshop
from .pages import asked, refused_page
from .seat_page import PersonsSeat, done_at, look_on, seat_page

HOME, QUEUE = "/author/practice", "/author/queue"
IN_PERSON = "person"
"""Who plays, in the form: the author, and none of its versions."""
_LISTS = ("submissions", "matches")
"""What the page is made of, as the service tells it."""


class PracticeService(Protocol):
    """Takes challenges, and tells how they stand; whatever is refused is a ChallengeRefused."""

    def rules(self) -> Sequence[PracticeRules]:
        """Return by whose rules may be played; none, if the organiser allows no practice matches."""

    def challenges(self, author: str) -> Sequence[Challenge]:
        """Return an author's challenges, the latest first."""

    def waiting(self) -> Sequence[tuple[Challenge, str]]:
        """Return all that are not over, in their order, each with why it waits, or that it is played."""

    def until(self, challenge: Challenge) -> datetime:
        """Return when a match that is played, or that waits, is given up at the latest."""

    async def challenge(self, author: str, tournament: str, version: str | None, opponent: str) -> int:
        """Ask for a practice match, and return its number.

        Args:
            author: who asks.
            tournament: whose game and time control it has.
            version: number of the author's version that plays; None: the author plays in person.
            opponent: `house:NAME`, or the number of another version of the author's.
        """

    def give_up(self, author: str, number: str) -> None:
        """Give an author's seat up: the match ends, or is not played."""

    def replay(self, author: str, number: str) -> str | None:
        """Return the page that shows a match of the author's again; None if there is none that is over."""

    def seat(self, author: str, number: str) -> PersonsSeat | None:
        """Return an author's own seat in a practice match; None if there is none."""

    def leave(self, author: str) -> None:
        """Tell an author nothing any more: nobody knows which of its windows has signed out."""


class AuthorPractice:
    """Lets authors ask for practice matches, play in them, and see what became of them."""

    def __init__(
        self, service: PracticeService, api: AuthorApi, queue: Callable[[], Sequence[QueueLine]], workshop: Workshop
    ) -> None:
        self._service = service
        self._api = api
        self._queue = queue
        self._workshop = workshop

    def register(self, routes: GuardedRoutes) -> None:
        """Register the addresses."""
        routes.shows(SiteRole.AUTHOR, HOME, self._home)
        routes.shows(SiteRole.AUTHOR, f"{HOME}/<number>/replay", self._replay)
        routes.shows(SiteRole.AUTHOR, QUEUE, self._waiting)
        routes.does(SiteRole.AUTHOR, HOME, self._ask)
        routes.does(SiteRole.AUTHOR, f"{HOME}/<number>/give-up", self._give_up)
        routes.shows(SiteRole.AUTHOR, f"{HOME}/<number>/seat", self._seat_page)
        routes.shows(SiteRole.AUTHOR, f"{HOME}/<number>/events", partial(self._at_seat, look_on))
        routes.does(SiteRole.AUTHOR, f"{HOME}/<number>/<what>", partial(self._at_seat, done_at))

    def _waiting(self, visit: Visit) -> bytes:
        return visit.page("author/queue", lines=seen_by(visit.person, self._queue()))

    def _seat_page(self, visit: Visit, number: str) -> Any:
        def _page(request: Any, seat: PersonsSeat) -> bytes:
            return sent(
                request, HTML, seat_page(seat, form_token=visit.form_token, number=number, top=top_of(request)).encode()
            )

        return self._at_seat(_page, visit, number)

    def _at_seat(self, answer: Callable[..., Any], visit: Visit, number: str, **parts: str) -> Any:
        seat = self._service.seat(visit.person.name, number)
        return refused(visit.request, HTTPStatus.NOT_FOUND) if seat is None else answer(visit.request, seat, **parts)

    async def _ask(self, visit: Visit) -> bytes:
        author, form = visit.person.name, visit.form
        version = None if form.text("plays") == IN_PERSON else form.text("version")
        tournament, opponent = form.text("tournament"), form.text("opponent")
        try:
            number = await self._service.challenge(author, tournament, version, opponent)
        except RemediableError as error:
            return await self._not_done(visit, error)
        return sent_on(visit.request, HOME if version is not None else f"{HOME}/{number}/seat")

    async def _give_up(self, visit: Visit, number: str) -> bytes:
        try:
            self._service.give_up(visit.person.name, number)
        except RemediableError as error:
            return await self._not_done(visit, error)
        return sent_on(visit.request, HOME)

    async def _not_done(self, visit: Visit, error: RemediableError) -> bytes:
        told = {"error": error.what, "remedy": error.remedy}
        return await self._home(visit.coded(HTTPStatus.CONFLICT), told)

    async def _replay(self, visit: Visit, number: str) -> Any:
        request, author, turn = visit.request, visit.person.name, turn_of(visit.request)
        make = partial(self._workshop.make, request, f"author {author}")
        page = await make(_make_replay, self._service, author, number, key=(PRACTICE, author, number))
        if page is None:
            return refused_page(visit, NOWHERE)
        head, rest = page
        if turn is not None:
            head = await make(head_at_turn, head, rest, turn)
        return send_shared(request, HTML, rest, head.encode())

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


def _make_replay(service: PracticeService, author: str, number: str) -> tuple[str, memoryview] | None:
    """Return the page of a match in two parts; None if there is none that is over."""
    page = service.replay(author, number)
    return None if page is None else parted(page.encode())
