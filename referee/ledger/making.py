"""Makes the tables of a ledger in a database, and tells whether they are there."""

from sqlalchemy import Connection, func, insert, inspect, select, text

from .engine import LedgerError, shown
from .tables import VERSION, guards, metadata, versions

_MAKING = 7_205_759
"""Key of the lock under which one process makes the tables in PostgreSQL while another wants to."""


def is_made(connection: Connection) -> bool:
    """Tell whether the tables of a ledger are in a database.

    Raises:
        LedgerError: they are another program's, or a newer one's, or some are missing.
    """
    base, is_sqlite = shown(connection.engine), connection.dialect.name == "sqlite"
    names = set(inspect(connection).get_table_names())
    if versions.name not in names:
        if names and (is_sqlite or names & metadata.tables.keys()):
            raise LedgerError(f"{base} is a database of something else; give the ledger its own")
        return False
    found = connection.execute(select(func.max(versions.c.version))).scalar()
    if found != VERSION:
        raise LedgerError(
            f"the ledger {base} has version {found}, and this program knows version {VERSION}: "
            "use the program that made it, or make another ledger from the record: referee rebuild FOLDER"
        )
    if missing := metadata.tables.keys() - names:
        raise LedgerError(f"the ledger {base} lacks {', '.join(sorted(missing))}; put it aside: referee rebuild FOLDER")
    return True


def make(connection: Connection) -> None:
    """Make the tables, unless another process was quicker."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_MAKING)))
    if not is_made(connection):
        metadata.create_all(connection, checkfirst=False)
        for statement in guards(connection.dialect.name):
            connection.execute(text(statement))
        connection.execute(insert(versions), {"version": VERSION})
