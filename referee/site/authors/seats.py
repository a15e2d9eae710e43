"""The seats of authors who play a practice match in person: each is its author's alone, to see and to answer for."""

from http import HTTPStatus
from typing import Protocol

from twisted.internet.defer import Deferred

from ...net.http_messages import JSON
from ..answers import HTML, refused, sent
from ..doors import Doors, Visit
from ..sessions import SiteRole
from .seat_page import PersonsSeat, act_of, seat_page

HOME = "/author/practice/<number>"


class SeatDesk(Protocol):
    """Knows the seats."""

    def seat(self, author: str, number: str) -> PersonsSeat | None:
        """Return an author's own seat in a practice match; None if there is none."""

    def leave(self, author: str) -> None:
        """Tell an author nothing any more: nobody knows which of its windows has signed out."""


class AuthorSeats:
    """Lets authors play."""

    def __init__(self, desk: SeatDesk) -> None:
        self._desk = desk

    def register(self, doors: Doors) -> None:
        """Register the addresses."""
        doors.shows(SiteRole.AUTHOR, f"{HOME}/seat", self._page)
        doors.shows(SiteRole.AUTHOR, f"{HOME}/events", self._events)
        doors.does(SiteRole.AUTHOR, f"{HOME}/<what>", self._do)

    def _page(self, visit: Visit, number: str) -> bytes:
        seat = self._desk.seat(visit.person.name, number)
        if seat is None:
            return refused(visit.request, HTTPStatus.NOT_FOUND)
        page = seat_page(seat, form_token=visit.form_token, number=number)
        return sent(visit.request, HTML, page.encode())

    def _events(self, visit: Visit, number: str) -> bytes | Deferred[None]:
        seat = self._desk.seat(visit.person.name, number)
        if seat is None:
            return refused(visit.request, HTTPStatus.NOT_FOUND)
        sent(visit.request, "text/event-stream", b"")
        seat.look_on(visit.request)
        return Deferred()  # cancelled once nobody looks on

    def _do(self, visit: Visit, number: str, what: str) -> bytes:
        seat = self._desk.seat(visit.person.name, number)
        if seat is None:
            return refused(visit.request, HTTPStatus.NOT_FOUND)
        act = act_of(visit.request, what)
        if act is not None:
            seat.do(act)
        return sent(visit.request, JSON, seat.snapshot())
