"""The tables of a contest as spectators see them while matches are played."""

# Only public facts arrive here, because observers/spectating.py has removed the others in the process of the
# tournament. This module adds names, and delays everything by the time that contest.toml sets.
#
# Most bytes of a board's drawing define its symbols, which hardly ever change. So a drawing is split in two, and an
# event has the symbols only if they are new. With hundreds of spectators, this avoids most of the site's traffic.

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..clock import Clock
from ..observers.spectating import SeenNews, SeenTable
from ..pages.words import with_names
from .contest_json import OpenMatch
from .event_streams import EventStreams


class LiveTable(OpenMatch, frozen=True, kw_only=True):
    """A table with its open match, or else with the last match that was played there."""

    tournament: str
    table: int
    """Number of the table, from 1."""
    is_over: bool = False
    result: str | None = None
    """Result in words, and the points; None while the match is open."""
    expelled: Sequence[int] = ()
    """Seats that were expelled."""
    lines: Sequence[SeenNews] = ()
    """Latest events, the oldest first."""
    asked: Sequence[int] = ()
    """Seats whose moves the referee is waiting for."""
    asked_at: float | None = None
    """Time at which the referee requested these moves, in seconds of the Unix epoch."""
    limit_ms: float | None = None
    bank_ms: Sequence[float | None] = ()
    used_ms: Sequence[float] | None = None
    """Time that the moves of each seat have taken so far; None if it is not known."""
    turn: int = 0
    line: int | None = None
    """Number of the record's line from which this state was made."""
    head: str | None = None
    """Hash of that line."""
    symbols: str | None = None
    """`<defs>` of the board's drawing, which hardly ever change; None in an event: unchanged."""
    board: str | None = None
    """Rest of the drawing, as SVG; None: no board is shown."""


class LiveState(Struct, frozen=True, kw_only=True):
    """The state of tables."""

    spectators: str
    """Setting `spectators` of contest.toml."""
    is_whole: bool
    """True: these are all tables; false: these are the tables that have changed."""
    tables: Sequence[LiveTable]


class LiveTables:
    """All tables of a contest.

    Args:
        clock: the reactor, or a test's clock.
        spectators: setting `spectators` of contest.toml.
        delay_s: delay of what spectators see, in seconds.
    """

    def __init__(self, clock: Clock, spectators: str, delay_s: float = 0.0) -> None:
        self._clock = clock
        self._spectators = spectators
        self._delay_s = delay_s
        self._tables: dict[tuple[str, int], LiveTable] = {}
        self._changed: set[tuple[str, int]] = set()
        """Tables that have changed since the last event."""
        self._is_relaid = False
        """True if a table was added or removed since the last event."""
        self._symbols: dict[tuple[str, int], str | None] = {}
        """Symbols of each table in the last event."""
        self.streams = EventStreams(clock, self.whole, self._news)

    @property
    def state(self) -> LiveState:
        """State of all tables."""
        return self._state([self._tables[key] for key in sorted(self._tables)], is_whole=True)

    def whole(self) -> bytes:
        """Return the state of all tables as JSON."""
        return msgspec.json.encode(self.state)

    def open_match(self, table: LiveTable) -> None:
        """Show a match that has begun at a table."""
        self._soon(self._place, table)

    def show_match(self, tournament: str, seen: SeenTable) -> None:
        """Show the new state of a match."""
        if self._delay_s:  # states wait for minutes, so they wait compressed: drawings shrink to an eighth
            self._soon(self._unpack, tournament, zlib.compress(msgspec.json.encode(seen), 1))
        else:
            self._show(tournament, seen)

    def close_match(self, tournament: str, match: str, result: str) -> None:
        """Show the result of a match that is over."""
        self._soon(self._close, tournament, match, result)

    def clear_tournament(self, tournament: str) -> None:
        """Remove the tables of a tournament whose process has ended."""
        self._soon(self._clear, tournament)

    def _soon(self, act: Callable[..., None], *args: Any) -> None:
        if self._delay_s:
            self._clock.callLater(self._delay_s, act, *args)
        else:
            act(*args)

    def _unpack(self, tournament: str, packed: bytes) -> None:
        self._show(tournament, msgspec.json.decode(zlib.decompress(packed), type=SeenTable))

    def _show(self, tournament: str, seen: SeenTable) -> None:
        table = self._find_table(tournament, seen.match)
        if table is not None:
            self._place(_update(table, seen, self._delay_s))

    def _close(self, tournament: str, match: str, result: str) -> None:
        table = self._find_table(tournament, match)
        if table is not None:
            self._place(replace(table, is_over=True, result=result, asked=(), asked_at=None))

    def _clear(self, tournament: str) -> None:
        shown = [key for key in self._tables if key[0] == tournament]
        for key in shown:
            del self._tables[key]
            self._is_relaid = True
        if shown:
            self.streams.notify()

    def _find_table(self, tournament: str, match: str) -> LiveTable | None:
        tables = (table for table in self._tables.values() if table.tournament == tournament)
        return next((table for table in tables if table.match == match), None)

    def _place(self, table: LiveTable) -> None:
        key = table.tournament, table.table
        self._is_relaid |= key not in self._tables
        self._tables[key] = table
        self._changed.add(key)
        self.streams.notify()

    def _news(self) -> bytes:
        """Return the tables that have changed since the last call, as JSON."""
        keys, self._changed = sorted(self._changed & self._tables.keys()), set()
        if self._is_relaid:
            self._is_relaid = False
            return self.whole()
        return msgspec.json.encode(self._state([self._brief(key) for key in keys], is_whole=False))

    def _brief(self, key: tuple[str, int]) -> LiveTable:
        """Return a table, without its symbols if every open page already has them."""
        table = self._tables[key]
        is_known = self._symbols.get(key) == table.symbols
        self._symbols[key] = table.symbols
        return replace(table, symbols=None) if is_known else table

    def _state(self, tables: Sequence[LiveTable], *, is_whole: bool) -> LiveState:
        return LiveState(spectators=self._spectators, is_whole=is_whole, tables=tables)


def _update(table: LiveTable, seen: SeenTable, delay_s: float) -> LiveTable:
    symbols, board = (None, None) if seen.board is None else _split_drawing(with_names(seen.board, table.names))
    return replace(
        table,
        expelled=seen.expelled,
        lines=seen.told,
        asked=seen.asked,
        asked_at=None if seen.asked_at is None else seen.asked_at + delay_s,
        limit_ms=seen.limit_ms,
        bank_ms=seen.bank_ms,
        used_ms=seen.used_ms,
        turn=seen.turn,
        line=seen.line,
        head=seen.head,
        symbols=symbols,
        board=board,
    )


def _split_drawing(svg: str) -> tuple[str, str]:
    """Return the `<defs>` of a drawing, and the rest of the drawing."""
    before, begin, rest = svg.partition("<defs>")
    symbols, end, after = rest.partition("</defs>")
    return begin + symbols + end, before + after
