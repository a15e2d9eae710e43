"""What the page of a person's seat shows, and what is done on it: the same wherever the page is."""

from collections.abc import Callable

from msgspec import Struct

from ...pages.words import with_names
from ..authors.seat_page import Act
from .seat import PersonSeat

PACE_S = 0.05
"""Between two snapshots: at once, for a person, and yet many steps of programs together."""
SAID = 60


class PageState(Struct, frozen=True, kw_only=True):
    """What the page shows at one moment."""

    version: int = 0
    """Of two, the one with the higher number is newer."""
    names: tuple[str, ...] = ()
    svg: str = ""
    """The board as the seat may see it; empty before the deal."""
    turn: int = 0
    asked: bool = False
    """Whether a move is asked for."""
    touched: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    ready: bool = False
    left_ms: float = 0.0
    waiting: str = ""
    """Whose move is waited for."""
    still: str = ""
    """Why nothing is played just now, though it will be; empty: it is."""
    said: list[str] = []
    over: str = ""
    """Why this person has nothing more to do; empty: it has."""
    closed: bool = False
    """Whether there will be nothing new."""


class SeatPage:
    """The page of one person.

    Args:
        seat: the person's.
    """

    def __init__(self, seat: PersonSeat) -> None:
        self.seat = seat
        self.changed: Callable[[], None] = lambda: None
        """Called whenever there is something new to be seen."""
        self._is_closed = False
        self._version = 1
        seat.changed = self._change

    def state(self) -> PageState:
        """Return what is to be seen."""
        seat, asked = self.seat, self.seat.choosing
        return PageState(
            version=self._version,
            names=seat.names,
            svg=self._drawn(),
            turn=seat.turn,
            asked=asked is not None,
            touched=asked.touched if asked else (),
            options=asked.options if asked else (),
            ready=asked is not None and asked.move is not None,
            left_ms=seat.left_s * 1000,
            waiting=seat.waiting,
            said=seat.said[-SAID:],
            over=seat.over,
            closed=self._is_closed,
        )

    def do(self, act: Act) -> None:
        """Do what the person wants; nothing if the page was not the newest, or it makes no sense."""
        asked = self.seat.choosing
        if asked is None or (act.turn, act.at) != (self.seat.turn, len(asked.touched)):
            return
        if act.what == "touch":
            asked.switch(act.option)
        elif act.what == "undo":
            asked.undo()
        elif act.what == "hand-in":
            self.seat.hand_in()
        self._change()

    def close(self) -> None:
        """Tell that there will be nothing new."""
        self._is_closed = True
        self._change()

    def _change(self) -> None:
        self._version += 1
        self.changed()

    def _drawn(self) -> str:
        seat = self.seat
        if seat.position is None:
            return ""
        chosen = seat.choosing.steps if seat.choosing else ()
        return with_names(seat.game.draw_svg(seat.position, (seat.seat,), chosen), seat.names)
