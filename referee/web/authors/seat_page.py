"""Seats that persons play on in a browser: what the page asks, and who answers it."""

from typing import Any, Protocol

from msgspec import Struct
from twisted.internet.defer import Deferred

from ...pages.rendering import page
from ..http import sent, streamed
from ..http_messages import JSON

_MAX_DIGITS, _MAX_CHARS = 9, 100
"""Of a number, and of what is touched."""
_ARGUMENTS = (b"turn", b"at", b"option")


class Act(Struct, frozen=True, kw_only=True):
    """What somebody does on the page of a seat."""

    what: str
    """`touch`, `undo` or `hand-in`."""
    turn: int
    """Number of the turn that the page showed."""
    at: int
    """How much was chosen there."""
    option: str
    """What is touched; empty: nothing."""


class PersonsSeat(Protocol):
    """The seat of a person."""

    @property
    def title(self) -> str:
        """Return what is played."""

    @property
    def name(self) -> str:
        """Return who plays."""

    def look_on(self, request: Any) -> None:
        """Tell somebody how everything stands, and all that changes from then on."""

    def do(self, act: Act) -> None:
        """Do what the person wants; nothing if the page was not the newest, or it makes no sense."""

    def snapshot(self) -> bytes:
        """Return what is to be seen, as JSON."""


def look_on(request: Any, seat: PersonsSeat) -> Deferred[bytes]:
    """Tell who asks how a seat stands, and all that changes from then on."""
    return streamed(request, seat.look_on)


def done_at(request: Any, seat: PersonsSeat, what: str) -> bytes:
    """Do at a seat what a request asks for, if its page could ask so, and return what is to be seen then."""
    turn, at, option = (request.args.get(name, [b""])[0].decode(errors="replace") for name in _ARGUMENTS)
    are_numbers = all(text.isdecimal() and len(text) <= _MAX_DIGITS for text in (turn, at))
    if are_numbers and len(what + option) <= _MAX_CHARS:
        seat.do(Act(what=what, turn=int(turn), at=int(at), option=option))
    return sent(request, JSON, seat.snapshot())


def seat_page(seat: PersonsSeat, *, form_token: str = "", number: str | None = None, top: str = "") -> str:
    """Return the page of a seat; what it shows it asks for.

    Args:
        seat: whose page it is.
        form_token: that it brings with all that it asks to be done; empty: nobody looks for one.
        number: of the practice match, on a contest's site; None: it is none.
        top: the first page of that site, as this page sees it.
    """
    return page(
        "person",
        None,
        scripts=("following",),
        may_ask=True,
        may_send=number is not None,
        title=seat.title,
        name=seat.name,
        form_token=form_token,
        number=number,
        top=top,
    )
