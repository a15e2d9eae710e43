"""The ledger: the course of every tournament, to be queried.

It is a projection of the tournaments' records, which are the truth, and can be made again from them (`referee
rebuild`). It only grows: a result is never changed, but superseded with a reason, and the database itself refuses
anything else. Several tournaments may share one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import URL, BindParameter, Connection, Engine, Table, bindparam, func, insert, select

from ..tournament import commands as c
from ..tournament import events as e
from ..tournament.commands import TakenStep
from ..tournament.spec import TournamentSpec, differences
from . import FILE
from .engine import LedgerError, clear_errors, engine_of, set_journal, shown
from .making import is_made, make
from .rows import copy_rows, entrant_row, read_rows, rows_of
from .tables import entrants, metadata, results, steps, supersessions, tournaments

__all__ = ["FILE", "Ledger", "LedgerError", "file_of", "url_of", "without_password"]

_TOURNAMENT: BindParameter[str] = bindparam("tournament")
_MATCH: BindParameter[str] = bindparam("match")
_STEPS = select(steps.c.line, steps.c.hash).where(steps.c.tournament == _TOURNAMENT)
_LAST = select(func.max(steps.c.line)).where(steps.c.tournament == _TOURNAMENT)
_ENTRANTS = select(func.count()).where(entrants.c.tournament == _TOURNAMENT)
_COUNTS = select(results.c.line).where(
    results.c.tournament == _TOURNAMENT,
    results.c.match == _MATCH,
    ~select(supersessions.c.line)
    .where(supersessions.c.tournament == results.c.tournament, supersessions.c.match == results.c.match)
    .exists(),
)
"""The result of a match, if there is one that is not superseded."""
_INSERTS = {table: insert(table) for table in metadata.tables.values()}
"""Statements are built once: to build one takes several times as long as to run it."""


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
        where: `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`, as SQLAlchemy takes them, or the engine of a
            database that nothing else is done with.

    Raises:
        LedgerError: the database can't be used, is something else's, or was made by a newer program. So does every
            method.
    """

    def __init__(self, where: str | Engine) -> None:
        self._engine = engine_of(where) if isinstance(where, str) else where
        self._readers = self._engine.execution_options(is_reader=True)
        self._held: Connection | None = None
        """Of the transaction that all writing belongs to, within `at_once`."""
        self._last: dict[str, int] = {}
        """Tournament -> line of the last step that is kept, as far as it was asked for."""
        self._hashes: dict[str, dict[int, str]] = {}
        """Tournament -> line -> hash of all steps that were kept before; gone with the first new step."""
        with self._reading() as connection:
            has_tables = is_made(connection)
        if not has_tables:
            with self._writing() as connection:
                make(connection)
        if isinstance(where, str) and self._engine.dialect.name == "sqlite":
            set_journal(self._engine, "wal")

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Write all that is written within, or nothing of it; such blocks do not nest."""
        try:
            with self._writing() as connection:
                self._held = connection
                yield
        except BaseException:
            self._last.clear()
            self._hashes.clear()
            raise
        finally:
            self._held = None

    # --- writing

    def found(self, spec: TournamentSpec, salt: str, key: str) -> None:
        """Keep what a tournament is; nothing happens if the same is there.

        Args:
            spec: what was settled before it began.
            salt: from which its chance is derived, in hex.
            key: the public key that seals its record, in hex.

        Raises:
            LedgerError: another tournament of that name is there; the text says how it differs.
        """
        with self._writing() as connection:
            known = self._known(connection, spec.name)
            if known is None:
                plain = {"name": spec.name, "spec": msgspec.json.encode(spec).decode(), "salt": salt, "key": key}
                connection.execute(_INSERTS[tournaments], plain)
                rows = [{**entrant_row(*numbered), "line": None} for numbered in enumerate(spec.entrants)]
                self._add(connection, entrants, spec.name, rows)
            elif known != (spec, salt, key):
                raise LedgerError(
                    f"the ledger {shown(self._engine)} has another tournament {spec.name!r}: "
                    f"{_told_apart(known, (spec, salt, key))}; give this one another name, or a ledger of its own"
                )

    def take(self, tournament: str, step: TakenStep) -> None:
        """Keep a step and all that follows from it; nothing happens if it is known.

        Args:
            tournament: its name.
            step: as it stands in the tournament's record.

        Raises:
            LedgerError: the tournament was not founded, or took another course.
        """
        line = step.line
        if line <= self._last_of(tournament):
            if self._hashes_of(tournament).get(line) != step.hash:
                raise LedgerError(
                    f"the ledger {shown(self._engine)} has another course of {tournament} from line {line} on, "
                    "and is left as it is; when this referee has ended, make it again from the record: "
                    "referee rebuild FOLDER"
                )
            return
        with self._writing() as connection:
            for table, rows in rows_of(step):
                self._add(connection, table, tournament, [{**row, "line": line} for row in rows])
            self._add_joined(connection, tournament, step)
            self._supersede(connection, tournament, step)
        self._last[tournament] = line
        self._hashes.pop(tournament, None)

    def adopt(self, other: "Ledger", *, but: str) -> None:
        """Copy all tournaments of another ledger into this one, except one.

        Args:
            other: the ledger.
            but: the name of the tournament that is left out.
        """
        with self._writing() as connection, other._reading() as source:  # noqa: SLF001  # it is a ledger, too
            copy_rows(source, connection, but)

    def settle(self) -> None:
        """Put everything that an SQLite ledger knows into its one file, and close it: it may be moved then.

        Raises:
            LedgerError: another process has it open.
        """
        self._engine.dispose()
        set_journal(self._engine, "delete")
        self._engine.dispose()

    # --- reading

    def has(self, tournament: str) -> bool:
        """Tell whether a tournament was founded."""
        with self._reading() as connection:
            return self._known(connection, tournament) is not None

    def rows(self, tournament: str) -> Iterator[tuple[Any, ...]]:
        """Yield all that is known of a tournament as plain rows of (table, column...), in a fixed order."""
        with self._reading() as connection:
            yield from read_rows(connection, tournament)

    # --- inside

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

    @staticmethod
    def _add(connection: Connection, table: Table, tournament: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            connection.execute(_INSERTS[table], [{"tournament": tournament, **row} for row in rows])

    def _add_joined(self, connection: Connection, tournament: str, step: TakenStep) -> None:
        """Keep who has joined, as the last of the entrants."""
        if isinstance(step.event, e.EntrantJoined):
            number = connection.execute(_ENTRANTS, {"tournament": tournament}).scalar_one()
            row = {**entrant_row(number, step.event.participant), "line": step.line}
            self._add(connection, entrants, tournament, [row])

    def _supersede(self, connection: Connection, tournament: str, step: TakenStep) -> None:
        """Keep which result does not count any more; what was only ruled is no result."""
        ruled_by = step.event.ruling.by if isinstance(step.event, e.Ruled) else None
        for command in step.commands:
            if isinstance(command, c.DisregardMatch):
                match = command.match
                if connection.execute(_COUNTS, {"tournament": tournament, "match": match}).first() is not None:
                    row = {"match": match, "line": step.line, "reason": command.why, "ruled_by": ruled_by}
                    self._add(connection, supersessions, tournament, [row])

    def _last_of(self, tournament: str) -> int:
        """Return the line of the last step that is kept of a tournament; 0 if there is none.

        Raises:
            LedgerError: the tournament was not founded.
        """
        if tournament not in self._last:
            with self._reading() as connection:
                if self._known(connection, tournament) is None:
                    raise LedgerError(f"the ledger {shown(self._engine)} has no tournament {tournament!r}")
                self._last[tournament] = connection.execute(_LAST, {"tournament": tournament}).scalar() or 0
        return self._last[tournament]

    def _hashes_of(self, tournament: str) -> dict[int, str]:
        """Return line -> hash of all steps that are kept of a tournament; they are read once."""
        if tournament not in self._hashes:
            with self._reading() as connection:
                found = connection.execute(_STEPS, {"tournament": tournament})
                self._hashes[tournament] = {row.line: row.hash for row in found}
        return self._hashes[tournament]

    def _known(self, connection: Connection, name: str) -> tuple[TournamentSpec, str, str] | None:
        """Return spec, salt and key of a tournament; None if it was not founded."""
        row = connection.execute(select(tournaments).where(tournaments.c.name == name)).first()
        if row is None:
            return None
        try:
            return msgspec.json.decode(row.spec, type=TournamentSpec), row.salt, row.key
        except (msgspec.DecodeError, RecursionError) as error:
            raise LedgerError(f"the ledger {shown(self._engine)} has no spec of {name!r}: {error}") from None


def _told_apart(old: tuple[TournamentSpec, str, str], new: tuple[TournamentSpec, str, str]) -> str:
    """Return in words how two tournaments differ."""
    changed = differences(old[0], new[0]).items()
    parts = [f"{key} is {before!r:.80} there, {now!r:.80} here" for key, (before, now) in changed]
    same = "the same spec, but another salt or key: its lots fell otherwise, or another referee ran it"
    return ", ".join(parts) if parts else same
