"""Turns entries and contexts into rows of a ledger, and rows back."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Column, Connection, Row, Table, insert, select

from ..tournament.match_context import FoulEntry, MatchContext, MatchEntry
from ..tournament.spec import TournamentSpec, differences
from .tables import fouls, openings, placings, results, tournaments

CONTEXT = ("opening", "number", "round", "stage", "leg", "attempt", "entrants", "taken")
"""Columns of `openings` that say what a match was opened for."""
CHUNK = 500
"""Results, or rows to copy, that are in memory at a time."""


def context_row(context: MatchContext) -> dict[str, Any]:
    """Return what stands in `openings` of what a match was opened for."""
    return {
        "opening": context.opening,
        "number": context.number,
        "round": context.round,
        "stage": context.table,
        "leg": context.leg,
        "attempt": context.attempt,
        "entrants": msgspec.json.encode(context.entrants).decode(),
        "taken": msgspec.json.encode(context.taken).decode(),
    }


def placing_rows(entry: MatchEntry) -> list[dict[str, Any]]:
    """Return what stands in `placings` of a match: a row for each seat."""
    place: dict[int, int] = {}
    for group in entry.ranking:
        first = len(place) + 1
        place.update(dict.fromkeys(group, first))
    return [
        {
            "seat": seat,
            "entrant": entrant,
            "name": entry.names[seat],
            "place": place.get(seat),
            "score": entry.scores[seat],
            "used_ms": entry.used_ms[seat],
        }
        for seat, entrant in enumerate(entry.context.entrants)
    ]


def foul_rows(entry: MatchEntry) -> list[dict[str, Any]]:
    """Return what stands in `fouls` of a match, numbered in the order in which they happened."""
    return [{"number": number, **msgspec.structs.asdict(foul)} for number, foul in enumerate(entry.fouls)]


def read_chunk(connection: Connection, tournament: str, after: int) -> list[tuple[int, MatchEntry]]:
    """Read the next entries of a tournament, with their places in its order.

    Args:
        connection: to the database.
        tournament: its name.
        after: the place of the last entry that was read; 0 to begin with.

    Returns:
        At most CHUNK.
    """
    mine = select(results).where(results.c.tournament == tournament, results.c.sequence > after)
    rows = connection.execute(mine.order_by(results.c.sequence).limit(CHUNK)).all()
    if not rows:
        return []
    span = (rows[0].sequence, rows[-1].sequence)
    opened = _by_match(connection, tournament, [row.match for row in rows])
    seats = _by_sequence(connection, placings, tournament, span, placings.c.seat)
    expelled = _by_sequence(connection, fouls, tournament, span, fouls.c.number)
    return [
        (row.sequence, _entry(row, opened[row.match], seats[row.sequence], expelled.get(row.sequence, ())))
        for row in rows
    ]


def copy_rows(source: Connection, target: Connection, table: Table, but: str) -> None:
    """Copy what a table has of all tournaments, except one."""
    found = select(table).where(tournament_column(table) != but)
    rows = source.execution_options(yield_per=CHUNK).execute(found)
    for part in rows.partitions():
        target.execute(insert(table), [row._asdict() for row in part])


def tournament_column(table: Table) -> Column[Any]:
    """Return the column of a table that says which tournament a row is of."""
    return table.c.name if table is tournaments else table.c.tournament


def _by_match(connection: Connection, tournament: str, matches: Sequence[str]) -> Mapping[str, Row[Any]]:
    """Return match -> its opening; a join would be planned badly by a database that has not yet counted its rows."""
    mine = select(openings).where(openings.c.tournament == tournament, openings.c.match.in_(matches))
    return {row.match: row for row in connection.execute(mine)}


def _by_sequence(
    connection: Connection, table: Table, tournament: str, span: tuple[int, int], order: Column[Any]
) -> Mapping[int, Sequence[Row[Any]]]:
    """Return what a table has of some results, in a fixed order: result -> rows."""
    mine = select(table).where(table.c.tournament == tournament, table.c.sequence.between(*span))
    found: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(mine.order_by(table.c.sequence, order)):
        found.setdefault(row.sequence, []).append(row)
    return found


def _entry(row: Row[Any], opened: Row[Any], seats: Sequence[Row[Any]], expelled: Sequence[Row[Any]]) -> MatchEntry:
    places = sorted({seat.place for seat in seats if seat.place is not None})
    return MatchEntry(
        match=row.match,
        context=_context(opened),
        names=tuple(seat.name for seat in seats),
        void=row.void,
        ranking=tuple(tuple(seat.seat for seat in seats if seat.place == place) for place in places),
        scores=tuple(seat.score for seat in seats),
        fouls=tuple(_foul(foul) for foul in expelled),
        reason=row.reason,
        turns=row.turns,
        used_ms=tuple(seat.used_ms for seat in seats),
        head=row.head,
    )


def _context(row: Row[Any]) -> MatchContext:
    return MatchContext(
        tournament=row.tournament,
        opening=row.opening,
        number=row.number,
        round=row.round,
        table=row.stage,
        leg=row.leg,
        attempt=row.attempt,
        entrants=msgspec.json.decode(row.entrants, type=tuple[int, ...]),
        taken=msgspec.json.decode(row.taken, type=tuple[str, ...]),
    )


def _foul(row: Row[Any]) -> FoulEntry:
    return FoulEntry(seat=row.seat, cause=row.cause, turn=row.turn, rule=row.rule, code=row.code, detail=row.detail)


def told_apart(old: tuple[TournamentSpec, str], new: tuple[TournamentSpec, str]) -> str:
    """Return in words how two tournaments differ."""
    changed = differences(old[0], new[0]).items()
    parts = [f"{key} is {before!r:.80} there, {now!r:.80} here" for key, (before, now) in changed]
    return ", ".join(parts) if parts else "the same spec, but another salt, so its lots fell otherwise"
