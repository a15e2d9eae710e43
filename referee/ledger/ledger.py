"""The ledger: what came of every match, to be queried.

The records are the truth, and the ledger can be made again from them (`referee rebuild`). It only grows: a result is
never changed, but superseded with a reason, and the database itself refuses anything else. Several tournaments may
share one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import URL, BindParameter, Connection, Table, bindparam, func, insert, inspect, select, text

from ..tournament.match_context import MatchContext, MatchEntry
from ..tournament.spec import TournamentSpec
from .engine import LedgerError, clear_errors, engine_of, set_journal, shown
from .rows import (
    CHUNK,
    CONTEXT,
    context_row,
    copy_rows,
    foul_rows,
    placing_rows,
    read_chunk,
    told_apart,
    tournament_column,
)
from .tables import (
    VERSION,
    entrants,
    fouls,
    guards,
    metadata,
    openings,
    placings,
    results,
    supersessions,
    suspensions,
    tournaments,
    versions,
)

__all__ = ["FILE", "Ledger", "LedgerError", "file_of", "url_of", "without_password"]

FILE = "ledger.sqlite"
"""Name of the ledger in a tournament's folder, if it has no other place."""
_TOURNAMENT: BindParameter[str] = bindparam("tournament")
_MATCH: BindParameter[str] = bindparam("match")
_LOCK = select(tournaments.c.name).where(tournaments.c.name == _TOURNAMENT).with_for_update()
_LAST = select(func.max(results.c.sequence)).where(results.c.tournament == _TOURNAMENT)
_SEQUENCE_OF = select(results.c.sequence).where(results.c.tournament == _TOURNAMENT, results.c.match == _MATCH)
_OPENING_OF = select(*(openings.c[name] for name in CONTEXT)).where(
    openings.c.tournament == _TOURNAMENT, openings.c.match == _MATCH
)
_INSERTS = {table: insert(table) for table in metadata.tables.values()}
"""Statements are built once: to build one takes several times as long as to run it."""
_MAKING = 7_205_759
"""Key of the lock under which one process makes the tables in PostgreSQL while another wants to."""


def url_of(path: Path) -> str:
    """Return the address of a ledger in a file.

    Raises:
        LedgerError: its path has a question mark, and SQLAlchemy is older than 2.1, where no address can have one.
    """
    url = URL.create("sqlite", database=str(path)).render_as_string()
    if file_of(url) != path:
        raise LedgerError(f"a ledger can't be kept in {path}: its path must not have a question mark")
    return url


def file_of(url: str) -> Path | None:
    """Return the file of a ledger in SQLite; None if it is kept by a server.

    Raises:
        LedgerError: it is no address of a ledger.
    """
    engine = engine_of(url)
    return Path(str(engine.url.database)) if engine.dialect.name == "sqlite" else None


def without_password(url: str) -> str:
    """Return the address of a ledger as it may be shown.

    Raises:
        LedgerError: it is no address of a ledger.
    """
    return shown(engine_of(url))


class Ledger:
    """A ledger of tournaments; its tables are made on first use.

    Every method that writes is a transaction of its own, and what it wrote outlives the process when it returns.

    Args:
        url: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`, as SQLAlchemy takes them.

    Raises:
        LedgerError: the database can't be used, is something else's, or was made by a newer program. So does every
            method.
    """

    def __init__(self, url: str) -> None:
        self._engine = engine_of(url)
        self._readers = self._engine.execution_options(is_reader=True)
        self._held: Connection | None = None
        """Of the transaction that all writing belongs to, within `at_once`."""
        with self._reading() as connection:
            is_made = self._is_made(connection)
        if not is_made:
            self._make()
        if self._is_sqlite:
            set_journal(self._engine, "wal")

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write all that is written within, or nothing of it; within another such block, with all of that."""
        if self._held is not None:
            yield
            return
        with self._writing() as connection:
            self._held = connection
            try:
                yield
            finally:
                self._held = None

    # --- writing

    def found(self, spec: TournamentSpec, salt: str) -> None:
        """Keep what a tournament is; nothing happens if the same is there.

        Args:
            spec: what was settled.
            salt: from which its chance is derived, in hex.

        Raises:
            LedgerError: another tournament of that name is there; the text says how it differs.
        """
        with self._writing() as connection:
            known = self._spec(connection, spec.name)
            if known is None:
                plain = {"name": spec.name, "spec": msgspec.json.encode(spec).decode(), "salt": salt}
                connection.execute(insert(tournaments), plain)
                numbered = enumerate(spec.entrants)
                rows = [
                    {"entrant": number, "name": participant.name, "player": participant.player}
                    for number, participant in numbered
                ]
                self._add(connection, entrants, spec.name, rows)
            elif known != (spec, salt):
                raise LedgerError(
                    f"the ledger {shown(self._engine)} has another tournament {spec.name!r}: "
                    f"{told_apart(known, (spec, salt))}; give this one another name, or a ledger of its own"
                )

    def opened(self, match: str, context: MatchContext, at: str) -> None:
        """Keep that a match was opened; nothing happens if that is known, as when it is played on.

        Args:
            match: its name.
            context: what it was opened for.
            at: the time of day, for people.

        Raises:
            LedgerError: it was opened for something else before, or its tournament was not founded.
        """
        with self._writing() as connection:
            self._lock(connection, context.tournament)
            self._open(connection, match, context, at)

    def take(self, entry: MatchEntry, at: str) -> int:
        """Keep what came of a match; that it was opened is kept as well, if it is not known.

        Args:
            entry: the result.
            at: the time of day, for people.

        Returns:
            Its place in the order of the tournament's results, from 1.

        Raises:
            LedgerError: a result of this match is there, or its tournament was not founded.
        """
        tournament = entry.context.tournament
        with self._writing() as connection:
            self._lock(connection, tournament)
            if (before := self._sequence_of(connection, tournament, entry.match)) is not None:
                raise LedgerError(f"{entry.match} was taken before, as result {before} of {tournament}")
            self._open(connection, entry.match, entry.context, at)
            sequence = (connection.execute(_LAST, {"tournament": tournament}).scalar() or 0) + 1
            result = {
                "match": entry.match,
                "void": entry.void,
                "reason": entry.reason,
                "turns": entry.turns,
                "head": entry.head,
                "at": at,
            }
            for table, rows in ((results, [result]), (placings, placing_rows(entry)), (fouls, foul_rows(entry))):
                self._add(connection, table, tournament, [{"sequence": sequence, **row} for row in rows])
        return sequence

    def suspend(self, tournament: str, entrant: int, why: str, at: str) -> None:
        """Keep that an entrant plays no more; who is suspended stays so for the first reason."""
        with self._writing() as connection:
            self._lock(connection, tournament)
            is_known = select(suspensions.c.why).where(
                suspensions.c.tournament == tournament, suspensions.c.entrant == entrant
            )
            if connection.execute(is_known).first() is None:
                self._add(connection, suspensions, tournament, [{"entrant": entrant, "why": why, "at": at}])

    def supersede(self, match: str, reason: str, by: str | None, at: str) -> None:
        """Keep that what came of a match does not count.

        Args:
            match: of which there is a result.
            reason: for people.
            by: who decided it; None: it followed from the rules of the tournament.
            at: the time of day, for people.

        Raises:
            LedgerError: there is no result of it, or it is superseded already.
        """
        with self._writing() as connection:
            found = connection.execute(select(results.c.tournament).where(results.c.match == match)).first()
            if found is None:
                raise LedgerError(f"there is no result of {match} to be superseded")
            self._lock(connection, found.tournament)
            sequence = self._sequence_of(connection, found.tournament, match)
            one = (supersessions.c.tournament == found.tournament) & (supersessions.c.sequence == sequence)
            if (before := connection.execute(select(supersessions.c.reason).where(one)).first()) is not None:
                raise LedgerError(f"the result of {match} is superseded already: {before.reason}")
            row = {"sequence": sequence, "reason": reason, "ruled_by": by, "at": at}
            self._add(connection, supersessions, found.tournament, [row])

    def adopt(self, other: "Ledger", *, but: str) -> None:
        """Copy all tournaments of another ledger into this one, except one.

        Args:
            other: the ledger.
            but: the name of the tournament that is left out.
        """
        with self._writing() as connection, other._reading() as source:  # noqa: SLF001  # it is a ledger, too
            for table in metadata.sorted_tables:
                if table is not versions:
                    copy_rows(source, connection, table, but)

    def settle(self) -> None:
        """Put everything that an SQLite ledger knows into its one file, and close it: it may be moved then.

        Raises:
            LedgerError: another process has it open.
        """
        self._engine.dispose()
        set_journal(self._engine, "delete")
        self._engine.dispose()

    # --- reading

    def spec(self, name: str) -> tuple[TournamentSpec, str] | None:
        """Return the spec and the salt of a tournament; None if it is not known."""
        with self._reading() as connection:
            return self._spec(connection, name)

    def entries(self, tournament: str) -> Iterator[MatchEntry]:
        """Yield what came of every match in the order in which it was taken, superseded ones included.

        They are read by and by: at no time are more than some hundred in memory, or is a transaction open between two.
        Seats that share a place come in ascending order.
        """
        last = 0
        while True:
            with self._reading() as connection:
                chunk = read_chunk(connection, tournament, last)
            yield from (entry for _, entry in chunk)
            if len(chunk) < CHUNK:
                return
            last = chunk[-1][0]

    def dump(self, tournament: str) -> list[tuple[Any, ...]]:
        """Return all that is known of a tournament as plain rows, to compare two ledgers.

        Returns:
            Rows of (table, column...) in a fixed order; without times of day, and without the time that answers took.
        """
        rows: list[tuple[Any, ...]] = []
        with self._reading() as connection:
            for table in sorted(metadata.tables.values(), key=lambda item: item.name):
                if table is not versions:
                    kept = [column for column in table.columns if not column.info]
                    found = select(*kept).where(tournament_column(table) == tournament).order_by(*table.primary_key)
                    rows += [(table.name, *row) for row in connection.execute(found)]
        return rows

    # --- inside

    @property
    def _is_sqlite(self) -> bool:
        return self._engine.dialect.name == "sqlite"

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with clear_errors(self._engine):
            if self._held is not None:
                yield self._held
            else:
                with self._engine.begin() as connection:
                    yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with clear_errors(self._engine):
            if self._held is not None:
                yield self._held
            else:
                with self._readers.connect() as connection:
                    yield connection

    def _is_made(self, connection: Connection) -> bool:
        """Tell whether the tables are there.

        Raises:
            LedgerError: they are another program's, or a newer one's.
        """
        names = set(inspect(connection).get_table_names())
        if versions.name not in names:
            if names and (self._is_sqlite or names & metadata.tables.keys()):
                raise LedgerError(f"{shown(self._engine)} is a database of something else; give the ledger its own")
            return False
        found = connection.execute(select(func.max(versions.c.version))).scalar()
        if found != VERSION:
            raise LedgerError(
                f"the ledger {shown(self._engine)} has version {found}, and this program knows version {VERSION}: "
                "use the program that made it, or make another ledger from the records: referee rebuild FOLDER"
            )
        return True

    def _make(self) -> None:
        with self._writing() as connection:
            if not self._is_sqlite:
                connection.execute(select(func.pg_advisory_xact_lock(_MAKING)))
            if self._is_made(connection):
                return  # another process was quicker
            metadata.create_all(connection, checkfirst=False)
            for statement in guards(self._engine.dialect.name):
                connection.execute(text(statement))
            connection.execute(insert(versions), {"version": VERSION})

    def _lock(self, connection: Connection, tournament: str) -> None:
        """Let no other process write to a tournament until this transaction is over.

        Raises:
            LedgerError: the tournament was not founded.
        """
        if connection.execute(_LOCK, {"tournament": tournament}).first() is None:
            raise LedgerError(f"the ledger {shown(self._engine)} has no tournament {tournament!r}")

    @staticmethod
    def _add(connection: Connection, table: Table, tournament: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            connection.execute(_INSERTS[table], [{"tournament": tournament, **row} for row in rows])

    def _open(self, connection: Connection, match: str, context: MatchContext, at: str) -> None:
        """Keep that a match was opened, unless that is known.

        Raises:
            LedgerError: it was opened for something else.
        """
        row = context_row(context)
        known = connection.execute(_OPENING_OF, {"tournament": context.tournament, "match": match}).first()
        if known is None:
            self._add(connection, openings, context.tournament, [{"match": match, **row, "at": at}])
        elif known._asdict() != row:
            raise LedgerError(
                f"the ledger {shown(self._engine)} has {match} as opened for something else; "
                "make it again from the records: referee rebuild FOLDER"
            )

    @staticmethod
    def _sequence_of(connection: Connection, tournament: str, match: str) -> int | None:
        return connection.execute(_SEQUENCE_OF, {"tournament": tournament, "match": match}).scalar()

    def _spec(self, connection: Connection, name: str) -> tuple[TournamentSpec, str] | None:
        row = connection.execute(select(tournaments).where(tournaments.c.name == name)).first()
        if row is None:
            return None
        try:
            return msgspec.json.decode(row.spec, type=TournamentSpec), row.salt
        except msgspec.DecodeError as error:
            raise LedgerError(f"the ledger {shown(self._engine)} has no spec of {name!r}: {error}") from None
