"""Makes a ledger from the record of a tournament, and compares one with it.

Whether the record holds by itself is the auditor's part.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..plugins import find_format
from ..record.reader import RecordError
from ..record.tournament_record import TournamentRecord, refold
from ..tournament.history import new_tournament
from ..tournament.machine import Tournament
from .engine import LedgerError, clear_errors, in_memory, read_only
from .ledger import Ledger
from .making import is_made
from .rows import other_tournaments, read_rows


def check_ledger(path: Path, record: TournamentRecord) -> tuple[str, ...]:
    """Check that a ledger says of a tournament what follows from its record, and nothing else.

    Args:
        path: the ledger, in SQLite; it is only read, and nothing is written beside it.
        record: of the tournament.

    Returns:
        The names of other tournaments that it tells of, too; of them nothing was checked.

    Raises:
        RecordError: it is no ledger, is damaged, or says something else; the first row that differs is told. Or the
            record can't be folded.
        PluginError: the tournament's format is not installed.
        BadFormat: the format can't be played with the spec's options and entrants.
    """
    name = record.header.spec.name
    try:
        with closing(Ledger(in_memory())) as made, _rows(path, name) as (found, others):
            with made.at_once():
                project(record, made)
            for expected, row in zip_longest(made.rows(name), found, fillvalue=()):
                if expected != row:
                    raise RecordError(path, 0, _shown(expected), _shown(row))
            return others
    except LedgerError as error:
        raise RecordError(path, 0, "a ledger of the tournament", str(error)) from None


def project(record: TournamentRecord, ledger: Ledger) -> Tournament:
    """Write a whole tournament into a ledger; it is quick within a block that writes at once.

    Returns:
        The tournament after its last step.

    Raises:
        RecordError: the record can't be folded.
        LedgerError: the ledger can't be written.
        PluginError: the tournament's format is not installed.
        BadFormat: the format can't be played with the spec's options and entrants.
    """
    header = record.header
    tournament = new_tournament(header.spec, find_format(header.spec.format), header.salt)
    ledger.found(header.spec, header.salt, header.key)
    for step in refold(record, tournament.handle):
        ledger.take(header.spec.name, step)
    return tournament


@contextmanager
def _rows(path: Path, tournament: str) -> Iterator[tuple[Iterator[tuple[Any, ...]], tuple[str, ...]]]:
    """Yield what a file has of a tournament, and the names of others.

    Raises:
        LedgerError: it is no sound ledger.
    """
    if not path.is_file():
        raise LedgerError("no file")
    engine = read_only(path)
    try:
        with clear_errors(engine), engine.execution_options(is_reader=True).connect() as connection:
            faults = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
            if faults != "ok" or not is_made(connection):
                raise LedgerError(f"a database that is damaged or empty: {faults}")
            yield read_rows(connection, tournament), other_tournaments(connection, tournament)
    finally:
        engine.dispose()


def _shown(row: tuple[Any, ...]) -> str:
    return f"in {row[0]}: {row[1:]}"[:300] if row else "nothing"
