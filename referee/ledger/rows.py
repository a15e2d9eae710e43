"""Turns the steps of a tournament into rows of a ledger."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Column, Connection, Table, insert, select, union

from ..tournament import commands as c
from ..tournament import events as e
from ..tournament.commands import TakenStep
from ..tournament.match_context import MatchEntry
from ..tournament.spec import Participant
from ..tournament.standings import Standing
from .tables import (
    byes,
    fouls,
    metadata,
    openings,
    placings,
    results,
    rulings,
    standings,
    steps,
    supersessions,
    suspensions,
    tournaments,
    versions,
)

CHUNK = 500
"""Rows that are in memory at a time when tournaments are copied."""
Rows = tuple[Table, Sequence[dict[str, Any]]]


def rows_of(step: TakenStep) -> Iterator[Rows]:
    """Yield what stands in the tables of a step, all but what depends on earlier rows; the line goes without saying."""
    event = step.event
    yield steps, [{"hash": step.hash, "event": event.__struct_config__.tag, "at": event.at}]
    match event:
        case e.MatchOpened(fixture=fixture):
            yield openings, [{**_with_stage(fixture), "entrants": _json(fixture.entrants), "head": step.hash}]
        case e.MatchClosed(entry=entry):
            yield from _result_rows(entry)
        case e.Ruled(ruling=ruling):
            plain = msgspec.structs.asdict(ruling)
            yield rulings, [{"name": plain.pop("entrant"), "ruled_by": plain.pop("by"), **plain}]
    for command in step.commands:
        match command:
            case c.SuspendEntrant():
                yield suspensions, [msgspec.structs.asdict(command)]
            case c.GiveBye():
                yield byes, [_with_stage(command)]
            case c.EndTournament():
                yield standings, [_standing_row(standing) for standing in command.standings]


def entrant_row(entrant: int, participant: Participant) -> dict[str, Any]:
    """Return what stands in `entrants` of somebody, but for the line."""
    return {"entrant": entrant, "name": participant.name, "player": participant.player}


def read_rows(connection: Connection, tournament: str) -> Iterator[tuple[Any, ...]]:
    """Yield all that is known of a tournament as plain rows of (table, column...), in a fixed order."""
    for table in metadata.sorted_tables:
        if table is not versions:
            found = select(table).where(_tournament_column(table) == tournament).order_by(*table.primary_key)
            for row in connection.execution_options(yield_per=CHUNK).execute(found):
                yield (table.name, *row)


def other_tournaments(connection: Connection, but: str) -> tuple[str, ...]:
    """Return the names of all tournaments that any row is of, except one."""
    columns = (_tournament_column(table) for table in metadata.sorted_tables if table is not versions)
    names = union(*(select(column.label("name")).where(column != but) for column in columns))
    return tuple(sorted(str(name) for name in connection.execute(names).scalars()))


def copy_rows(source: Connection, target: Connection, but: str) -> None:
    """Copy what there is of all tournaments, except one."""
    for table in metadata.sorted_tables:
        if table is not versions:
            found = select(table).where(_tournament_column(table) != but)
            rows = source.execution_options(yield_per=CHUNK).execute(found)
            for part in rows.partitions():
                target.execute(insert(table), [row._asdict() for row in part])


def _tournament_column(table: Table) -> Column[Any]:
    """Return the column of a table that says which tournament a row is of."""
    return table.c.name if table is tournaments else table.c.tournament


def _result_rows(entry: MatchEntry) -> Iterator[Rows]:
    result = {name: getattr(entry, name) for name in ("match", "void", "reason", "turns", "head")}
    yield results, [result]
    yield placings, _placing_rows(entry)
    yield fouls, [{"number": number, **msgspec.structs.asdict(foul)} for number, foul in enumerate(entry.fouls)]
    if entry.void is not None:
        yield supersessions, [{"match": entry.match, "reason": f"void: {entry.void}", "ruled_by": None}]


def _placing_rows(entry: MatchEntry) -> list[dict[str, Any]]:
    """Return what stands in `placings` of a match: a row for each seat."""
    place: dict[int, int] = {}
    for group in entry.ranking:
        first = len(place) + 1
        place.update(dict.fromkeys(group, first))
    seats = zip(entry.fixture.entrants, entry.names, entry.scores, entry.used_ms, strict=False)
    return [
        {"seat": seat, "entrant": entrant, "name": name, "place": place.get(seat), "score": score, "used_ms": used_ms}
        for seat, (entrant, name, score, used_ms) in enumerate(seats)
    ]


def _standing_row(standing: Standing) -> dict[str, Any]:
    plain = msgspec.structs.asdict(standing)
    return {**plain, "tie_breaks": _json(standing.tie_breaks), "has_withdrawn": int(standing.has_withdrawn)}


def _with_stage(of_pairing: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of what has a place in the format, `table`, under the names of columns."""
    plain = msgspec.structs.asdict(of_pairing)
    return {"stage": plain.pop("table"), **plain}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
