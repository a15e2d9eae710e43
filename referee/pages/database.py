"""Writes a tournament into a database, for queries that no page answers.

The database is an export of the tournament's record, like every table of the report. Each export replaces the rows of
its tournament in one transaction. So several tournaments can share a database, and nobody sees half an export.
"""

# The schema is flat on purpose: each thing that happened has a row, whose key is the line of the record. Views such as
# "points by round" are queries. An organiser who wants faster queries can add an index: the export drops no table, and
# deletes only rows of its own tournament.
#
# There are no migrations. The record is the truth, and a new export takes only seconds.

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKey,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    create_engine,
    delete,
    insert,
    make_url,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from ..errors import RefereeError
from ..record.tournament_record import TournamentHeader
from ..tournament import commands as c
from ..tournament import events as e
from ..tournament.commands import TakenTransition
from ..tournament.match_context import MatchEntry
from ..tournament.standings import Standing

FILE = "tournament.sqlite"
"""Name of the database in a tournament's folder."""
CHUNK = 1000
"""Most rows of one table to send to the database at a time."""

Rows = dict[Table, list[dict[str, Any]]]


class DatabaseError(RefereeError):
    """A database can't be written; the text names the database and says what to do."""


class PlainText(TypeDecorator[str]):
    """A text, possibly from a player. PostgreSQL does not accept NUL, so the symbol for NUL is stored instead."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Return a text in the form that the database stores; called by SQLAlchemy."""
        return None if value is None else value.replace("\0", "\u2400")


metadata = MetaData()


def _table(name: str, *columns: Column[Any]) -> Table:
    """Return a table in which each row belongs to a tournament."""
    tournament = Column("tournament", PlainText, ForeignKey("tournaments.name"), primary_key=True)
    return Table(name, metadata, tournament, *columns)


def _key(name: str) -> Column[Any]:
    """Return a column that, with the tournament, identifies a row."""
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


def _text(name: str, *, is_optional: bool = False) -> Column[Any]:
    return Column(name, PlainText, nullable=is_optional)


def _number(name: str, *, is_optional: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=is_optional)


def _measure(name: str) -> Column[Any]:
    return Column(name, Double, nullable=False)


tournaments = Table(
    "tournaments", metadata, Column("name", PlainText, primary_key=True), _text("spec"), _text("salt"), _text("key")
)
entrants = _table("entrants", _key("entrant"), _text("name"), _text("player"), _number("line", is_optional=True))
steps = _table("steps", _key("line"), _text("hash"), _text("event"), _text("at"))
openings = _table(
    "openings",
    _key("line"),
    _text("head"),
    _text("match"),
    _number("number"),
    _number("round"),
    _text("stage"),  # a column called `table` would have to be quoted in every query
    _number("leg"),
    _number("attempt"),
    _text("entrants"),
)
results = _table(
    "results",
    _key("line"),
    _text("match"),
    _text("void", is_optional=True),
    _text("reason"),
    _number("turns"),
    _text("head"),
)
placings = _table(
    "placings",
    _key("line"),
    _key("seat"),
    _number("entrant"),
    _text("name"),
    _number("place", is_optional=True),
    _number("score"),
    _measure("used_ms"),
)
fouls = _table(
    "fouls",
    _key("line"),
    _key("number"),
    _number("seat"),
    _text("cause"),
    _number("turn"),
    _text("rule", is_optional=True),
    _text("code", is_optional=True),
    _text("detail"),
)
supersessions = _table(
    "supersessions",
    _key("line"),
    Column("match", PlainText, primary_key=True),
    _text("reason"),
    _text("ruled_by", is_optional=True),
)
suspensions = _table("suspensions", _key("line"), _key("entrant"), _text("why"))
byes = _table(
    "byes",
    _key("line"),
    _key("number"),
    _number("round"),
    _number("entrant"),
    _text("stage"),
    _number("against", is_optional=True),
)
rulings = _table(
    "rulings",
    _key("line"),
    _text("id"),
    _text("kind"),
    _text("name", is_optional=True),
    _text("match", is_optional=True),
    _text("reason"),
    _text("ruled_by"),
)
standings = _table(
    "standings",
    _key("line"),
    _key("entrant"),
    _number("place"),
    _measure("points"),
    _text("tie_breaks"),
    _number("played"),
    _number("byes"),
    _number("has_withdrawn"),
)
ladder_ratings = _table("ladder_ratings", _key("entrant"), _measure("rating"))


def write_database(
    address: str,
    header: TournamentHeader,
    taken: Iterable[TakenTransition],
    placing_ratings: Sequence[float] | None = None,
) -> str:
    """Write a tournament into a database; this replaces all earlier rows of the tournament.

    Args:
        address: file of an SQLite database, or the URL of any database that SQLAlchemy supports.
        header: header of the tournament's record.
        taken: the transitions of the tournament, in their order.
        placing_ratings: final rating of each entrant, if ratings decide the places; else None.

    Returns:
        The address without its password, so that it may be shown.

    Raises:
        DatabaseError: the address is not a URL, the driver is not installed, or the database can't be written. In this
            case the database does not change.
    """
    url = _parse_url(address) if "://" in address else URL.create("sqlite", database=address)
    where = url.set(drivername=url.get_backend_name()).render_as_string() if "://" in address else address
    engine = _make_engine(url)
    try:
        with engine.begin() as connection:
            metadata.create_all(connection)
            _replace(connection, header.spec.name, make_rows(header, taken, placing_ratings))
    except (SQLAlchemyError, OverflowError, UnicodeError) as error:
        what = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise DatabaseError(f"can't write the database {where}: {what}") from error
    finally:
        engine.dispose()
    return where


def make_rows(
    header: TournamentHeader, taken: Iterable[TakenTransition], placing_ratings: Sequence[float] | None = None
) -> Rows:
    """Return all rows of a tournament, by table.

    Args:
        header: header of the tournament's record.
        taken: the transitions of the tournament, in their order.
        placing_ratings: final rating of each entrant, if ratings decide the places; else None.
    """
    rows: Rows = {table: [] for table in metadata.sorted_tables}
    spec = header.spec
    rows[tournaments].append({"name": spec.name, "spec": _json(spec), "salt": header.salt, "key": header.key})
    for participant in spec.entrants:
        _add_entrant(rows, participant.name, participant.player, None)
    counting: set[str] = set()
    for transition in taken:
        for table, added in _transition_rows(transition, counting):
            rows[table] += [{**row, "line": transition.line} for row in added]
        if isinstance(transition.event, e.EntrantJoined):
            _add_entrant(rows, transition.event.participant.name, transition.event.participant.player, transition.line)
    rated = enumerate(placing_ratings or ())
    rows[ladder_ratings] += [{"entrant": entrant, "rating": rating} for entrant, rating in rated]
    return rows


def _parse_url(text: str) -> URL:
    """Return the URL of a database. For PostgreSQL, use the driver of our extra, unless the URL names a driver."""
    try:
        url = make_url(text)
    except ArgumentError:
        example = "sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        raise DatabaseError(f"{text!r} is not the URL of a database; write {example}") from None
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def _make_engine(url: URL) -> Engine:
    try:
        return create_engine(url)
    except (ImportError, NoSuchModuleError) as error:
        remedy = (
            "in a checkout of the referee, pip install '.[postgres]'"
            if url.get_backend_name() == "postgresql"
            else "install it"
        )
        raise DatabaseError(f"the driver of {url.render_as_string()} is missing: {error}; {remedy}") from None


def _replace(connection: Connection, tournament: str, rows: Rows) -> None:
    for table in reversed(metadata.sorted_tables):
        column = table.c.name if table is tournaments else table.c.tournament
        connection.execute(delete(table).where(column == tournament))
    for table in metadata.sorted_tables:
        tournament_key: Mapping[str, str] = {} if table is tournaments else {"tournament": tournament}
        for start in range(0, len(rows[table]), CHUNK):
            connection.execute(insert(table), [{**tournament_key, **row} for row in rows[table][start : start + CHUNK]])


def _add_entrant(rows: Rows, name: str, player: str, line: int | None) -> None:
    """Add an entrant. `line` is the line at which it joined late; None if it took part from the beginning."""
    rows[entrants].append({"entrant": len(rows[entrants]), "name": name, "player": player, "line": line})


def _transition_rows(
    transition: TakenTransition, counting: set[str]
) -> Iterator[tuple[Table, Sequence[dict[str, Any]]]]:
    """Yield the rows of a transition, without the number of its line.

    Args:
        transition: transition of the tournament.
        counting: matches whose result counts so far; this function updates the set.
    """
    event = transition.event
    yield steps, [{"hash": transition.hash, "event": event.__struct_config__.tag, "at": event.at}]
    match event:
        case e.MatchOpened(fixture=fixture):
            yield openings, [{**_with_stage(fixture), "entrants": _json(fixture.entrants), "head": transition.hash}]
        case e.MatchClosed(entry=entry):
            yield from _result_rows(entry, counting)
        case e.Ruled(ruling=ruling):
            plain = msgspec.structs.asdict(ruling)
            yield rulings, [{"name": plain.pop("entrant"), "ruled_by": plain.pop("by"), **plain}]
    for command in transition.commands:
        match command:
            case c.SuspendEntrant():
                yield suspensions, [msgspec.structs.asdict(command)]
            case c.GiveBye():
                yield byes, [_with_stage(command)]
            case c.EndTournament():
                yield standings, [_standing_row(standing) for standing in command.standings]
            case c.DisregardMatch(match=match, why=why) if (
                match in counting
            ):  # an awarded match has no row in `results`
                counting.remove(match)
                ruled_by = event.ruling.by if isinstance(event, e.Ruled) else None
                yield supersessions, [{"match": match, "reason": why, "ruled_by": ruled_by}]


def _result_rows(entry: MatchEntry, counting: set[str]) -> Iterator[tuple[Table, Sequence[dict[str, Any]]]]:
    yield results, [{name: getattr(entry, name) for name in ("match", "void", "reason", "turns", "head")}]
    yield placings, _placing_rows(entry)
    yield fouls, [{"number": number, **msgspec.structs.asdict(foul)} for number, foul in enumerate(entry.fouls)]
    if entry.void is None:
        counting.add(entry.match)
    else:
        yield supersessions, [{"match": entry.match, "reason": f"void: {entry.void}", "ruled_by": None}]


def _placing_rows(entry: MatchEntry) -> list[dict[str, Any]]:
    """Return a row for each seat of a match."""
    place: dict[int, int] = {}
    for group in entry.ranking:
        place |= dict.fromkeys(group, len(place) + 1)
    seats = zip(entry.fixture.entrants, entry.names, entry.scores, entry.used_ms, strict=False)
    return [
        {"seat": seat, "entrant": entrant, "name": name, "place": place.get(seat), "score": score, "used_ms": used_ms}
        for seat, (entrant, name, score, used_ms) in enumerate(seats)
    ]


def _standing_row(standing: Standing) -> dict[str, Any]:
    plain = msgspec.structs.asdict(standing)
    return {**plain, "tie_breaks": _json(standing.tie_breaks), "has_withdrawn": int(standing.has_withdrawn)}


def _with_stage(fields: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a fixture or a bye under the names of their columns: `table` becomes `stage`."""
    plain = msgspec.structs.asdict(fields)
    return {"stage": plain.pop("table"), **plain}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
