"""Writes the state of a tournament's tables as spectators may see it: what all seats may know, and nothing else.

Players learn nothing from it while they play, even if a spectator passes it on: the board is drawn without any seat's
hand, and of the messages only those are shown that all seats were sent.
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
"""Latest moves and expulsions that every change repeats."""

_CAUSES = {
    Cause.TIMEOUT: "gave no answer in time",
    Cause.ILLEGAL_MOVE: "made an illegal move",
    Cause.MALFORMED_MESSAGE: "sent what is no message",
    Cause.OUT_OF_TURN: "sent a message that nothing asked for",
    Cause.FLOOD: "sent a long message that nothing asked for",
    Cause.OVERSIZE: "sent a message that is too long",
    Cause.NOT_READING: "did not read what it was sent",
    Cause.DISCONNECTED: "closed its connection",
    Cause.CRASHED: "crashed",
    Cause.REFUSED_TO_START: "did not start",
}
"""Cause of an expulsion -> words. Rule, bytes and detail follow in the record, once the match is over."""
_UNSAID = ("kind", "seat", "event", "score")
"""Keys of an event that the words next to it already say."""


class SeenNews(Struct, frozen=True, kw_only=True):
    """A move or an expulsion that all seats were told of, in words."""

    turn: int
    seat: int | None
    text: str
    is_expulsion: bool


class SeenTable(Struct, frozen=True, kw_only=True):
    """A match as spectators may see it."""

    match: str
    line: int
    """Number of the last line of its record that this is made from, from 0."""
    head: str
    """Hash of that line."""
    turn: int
    """Number of the last turn that was asked; 0 before the first."""
    expelled: Sequence[int]
    """The seats of whose expulsion the others were told."""
    asked: Sequence[int]
    """The seats that are asked for a move."""
    asked_at: float | None
    """When they were asked, in seconds of the Unix epoch."""
    limit_ms: float | None
    """Limit for this move."""
    bank_ms: Sequence[float | None]
    """Time left in each seat's bank when it was asked last; None: it has no bank, or was not asked yet."""
    used_ms: Sequence[float] | None
    """Time of each seat's moves so far; None if the match was resumed."""
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
        """True if its first transition was seen."""

    def take(self, game: Game[Any, Any, Any], transition: MatchTransition, now: float) -> None:
        """Take a transition."""
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
        """Add what one of the seats is sent: the others are sent the same, except what one of them draws."""
        for command in transition.commands:
            # One seat's messages are enough, and `draws` is never read: only its own seat may know what it drew.
            if isinstance(command, c.TellSeat) and command.seat == first.seat:
                self.told += _word(game, command.turn, command.what)
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


def _word(game: Game[Any, Any, Any], turn: int, what: dict[str, Any]) -> Iterator[SeenNews]:
    """Yield news in words: a line for each seat that did something, or to which something happened."""
    seat = what.get("seat")
    if what["kind"] == "expelled":
        text = f"is expelled: {_CAUSES[Cause(what['cause'])]}"
        yield SeenNews(turn=turn, seat=seat, text=text, is_expulsion=True)
        return
    for actor, events in groupby(what.get("events") or [what], lambda event: event.get("seat")):
        text = ", ".join(game.describe(event) or _show_fields(event) for event in events)
        yield SeenNews(turn=turn, seat=actor, text=printable(text), is_expulsion=False)


def _show_fields(event: dict[str, Any]) -> str:
    """Return an event of a game that describes none: its name, and its fields."""
    rest = {key: value for key, value in event.items() if key not in _UNSAID}
    return plain_text({"action": event["event"], **rest} if "event" in event else rest)


class SpectatedTables(Observer):
    """Writes `table-changed` for each table that has changed, a few times a second.

    It writes nothing about duplicate deals: a player that still has to play the deal would see it.

    Args:
        write: writes one object.
        find_game: a game's name -> its rules.
        now: seconds of the Unix epoch.
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
        """See whether deals are played once."""
        self._is_shown = not tournament.spec.duplicate

    def on_match_opened(self, name: str, table: int, fixture: Fixture) -> None:
        """Look at a match from now on."""
        if self._is_shown:
            self._tables[name] = _Table()

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Keep what has changed."""
        table = self._tables.get(transition.setup.match)
        if table is not None:
            table.take(self._find_game(transition.setup.game), transition, self._now())

    def refresh(self) -> None:
        """Write what has changed."""
        for table in self._tables.values():
            self._write_change(table)

    def on_match_closed(self, entry: MatchEntry) -> None:
        """Write how a match stood at its end."""
        table = self._tables.pop(entry.match, None)
        if table is not None:
            self._write_change(table)

    on_match_voided = on_match_closed

    def _write_change(self, table: _Table) -> None:
        if table.has_changed:
            table.has_changed = False
            self._write({"event": "table-changed", "table": table.make_view(self._find_game)})
