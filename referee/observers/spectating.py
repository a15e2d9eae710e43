"""Writes the state of a tournament's tables for spectators: only facts that all seats may know.

A player learns nothing from it, even if a spectator passes it on: the board is drawn without the hands, and only
messages that all seats were sent are shown.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct

from ..games.base import Game
from ..match import commands as c
from ..match import events as e
from ..match.fouls import Cause
from ..text import plain_text, printable
from ..tournament.machine import Tournament
from ..tournament.match_context import Fixture, MatchEntry
from .base import MatchTransition, Observer

LATEST = 8
"""Number of latest moves and expulsions that each `table-changed` holds."""

_CAUSES = {
    Cause.TIMEOUT: "gave no answer in time",
    Cause.ILLEGAL_MOVE: "made an illegal move",
    Cause.MALFORMED_MESSAGE: "sent a malformed message",
    Cause.OUT_OF_TURN: "sent a message that was not asked for",
    Cause.FLOOD: "sent a long message that was not asked for",
    Cause.OVERSIZE: "sent a message that is too long",
    Cause.NOT_READING: "did not read what it was sent",
    Cause.DISCONNECTED: "closed its connection",
    Cause.CRASHED: "crashed",
    Cause.REFUSED_TO_START: "did not start",
}
"""Cause of an expulsion -> description. The details can be read in the record once the match is over."""
_OMITTED = ("kind", "seat", "event", "score")
"""Keys of an event that are not shown, because the text around it already shows them."""


class SeenNews(Struct, frozen=True, kw_only=True):
    """Description of a move or an expulsion that was sent to all seats."""

    turn: int
    seat: int | None
    text: str
    is_expulsion: bool


class SeenTable(Struct, frozen=True, kw_only=True):
    """A match as spectators may see it."""

    match: str
    line: int
    """Number of the last line of the match's record that is shown here, from 0."""
    head: str
    """Hash of that line."""
    turn: int
    """Number of the last turn that was asked for; 0 before the first."""
    expelled: Sequence[int]
    """Seats whose expulsion was reported to the other seats."""
    asked: Sequence[int]
    """Seats whose move the match is waiting for."""
    asked_at: float | None
    """When they were asked, in seconds since the Unix epoch; None if nobody is asked."""
    limit_ms: float | None
    """Limit for this move; None if nobody is asked."""
    bank_ms: Sequence[float | None]
    """Time left in each seat's bank at its last request; None if it has no bank, or has not been asked yet."""
    used_ms: Sequence[float] | None
    """Time that each seat has used for its moves; None if it is not known, because the match was resumed."""
    told: Sequence[SeenNews]
    """Latest news, the oldest first."""
    board: str | None
    """Board as SVG, with placeholders for names; None before the deal."""


class _Seat(Struct):
    used_ms: float = 0.0
    bank_ms: float | None = None


class _Table:
    """State of one match."""

    def __init__(self) -> None:
        self.transition: MatchTransition | None = None
        self.seats: list[_Seat] = []
        self.told: deque[SeenNews] = deque(maxlen=LATEST)
        self.expelled: list[int] = []
        self.asked_at: float | None = None
        self.limit_ms: float | None = None
        self.has_changed = False
        self._is_whole = True
        """True if the match was seen from its beginning, so that `used_ms` of each seat is complete."""

    def take(self, game: Game[Any, Any, Any], transition: MatchTransition, now: float) -> None:
        """Update the state after a transition of the match."""
        self.transition, self.has_changed = transition, True
        if not self.seats:
            self.seats = [_Seat() for _ in transition.setup.names]
            self._is_whole = isinstance(transition.event, e.MatchOpened)
        if isinstance(transition.event, e.MoveReceived):
            self.seats[transition.event.seat].used_ms += max(e.used_ms(transition.event), 0.0)
        first = next((command for command in transition.commands if isinstance(command, c.TellSeat)), None)
        if first is not None:
            self._add_news(game, transition, first)
        for command in transition.commands:
            if isinstance(command, c.AskMove):
                self.asked_at, self.limit_ms = now, command.limit_ms
                self.seats[command.seat].bank_ms = command.bank_ms
            elif isinstance(command, c.ExtendLimit):
                self.asked_at, self.limit_ms = now, command.limit_ms

    def _add_news(self, game: Game[Any, Any, Any], transition: MatchTransition, first: c.TellSeat) -> None:
        """Add the news that all seats are sent, taken from the messages to one of them."""
        for command in transition.commands:
            # All seats are sent the same news, except for `draws`: only its own seat may know it, so it is not read.
            if isinstance(command, c.TellSeat) and command.seat == first.seat:
                self.told += _describe_news(game, command.turn, command.what)
                if command.what["kind"] == "expelled":
                    self.expelled.append(command.what["seat"])

    def make_view(self, find_game: Callable[[str], Game[Any, Any, Any]]) -> SeenTable | None:
        """Return the state for spectators; None before the first transition."""
        transition = self.transition
        if transition is None:
            return None
        game = find_game(transition.setup.game)
        return SeenTable(
            match=transition.setup.match,
            line=transition.line,
            head=transition.hash,
            turn=transition.turn,
            expelled=list(self.expelled),
            asked=transition.asked,
            asked_at=self.asked_at if transition.asked else None,
            limit_ms=self.limit_ms if transition.asked else None,
            bank_ms=[seat.bank_ms for seat in self.seats],
            used_ms=[round(seat.used_ms, 3) for seat in self.seats] if self._is_whole else None,
            told=list(self.told),
            board=None if transition.position is None else game.draw_svg(transition.position, ()),
        )


def _describe_news(game: Game[Any, Any, Any], turn: int, what: dict[str, Any]) -> Iterator[SeenNews]:
    """Yield a text for each seat that did something, or to which something happened."""
    seat = what.get("seat")
    if what["kind"] == "expelled":
        text = f"is expelled: {_CAUSES[Cause(what['cause'])]}"
        yield SeenNews(turn=turn, seat=seat, text=text, is_expulsion=True)
        return
    for actor, events in groupby(what.get("events") or [what], lambda event: event.get("seat")):
        text = ", ".join(game.describe(event) or _show_fields(event) for event in events)
        yield SeenNews(turn=turn, seat=actor, text=printable(text), is_expulsion=False)


def _show_fields(event: dict[str, Any]) -> str:
    """Return an event's name and fields as text, for a game that can't describe the event."""
    rest = {key: value for key, value in event.items() if key not in _OMITTED}
    return plain_text({"action": event["event"], **rest} if "event" in event else rest)


class SpectatedTables(Observer):
    """Writes `table-changed` for each table that has changed, a few times a second.

    It writes nothing about duplicate deals: a player that still has to play the deal would see it.

    Args:
        write: function that writes one object.
        find_game: function that returns the rules of a game, given its name.
        now: function that returns the time in seconds since the Unix epoch.
    """

    def __init__(
        self,
        write: Callable[[Any], None],
        find_game: Callable[[str], Game[Any, Any, Any]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._write = write
        self._find_game = find_game
        self._now = now
        self._tables: dict[str, _Table] = {}
        """Match -> its state."""
        self._is_shown = True

    def on_tournament_begun(self, tournament: Tournament, total: int | None) -> None:
        """Decide whether to show the matches: not if a deal is played several times."""
        self._is_shown = not tournament.spec.duplicate

    def on_match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Begin to show a match."""
        if self._is_shown:
            self._tables[name] = _Table()

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Update the state of the match's table."""
        table = self._tables.get(transition.setup.match)
        if table is not None:
            table.take(self._find_game(transition.setup.game), transition, self._now())

    def refresh(self) -> None:
        """Write the tables that have changed."""
        for table in self._tables.values():
            self._write_change(table)

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Write the final state of a match."""
        table = self._tables.pop(entry.match, None)
        if table is not None:
            self._write_change(table)

    on_match_voided = on_match_closed

    def _write_change(self, table: _Table) -> None:
        if table.has_changed:
            table.has_changed = False
            self._write({"event": "table-changed", "table": table.make_view(self._find_game)})
