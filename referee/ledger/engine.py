"""Opens the database of a ledger, SQLite or PostgreSQL, and words what can go wrong.

SQLite keeps a write-ahead log, so that others may read while a referee writes, and does not wait for the disk at every
commit (`synchronous=NORMAL`). A referee that is killed loses nothing by that. A power cut may take the last steps
from the ledger, never from its middle; the record of the tournament has them. To wait (`FULL`) took 10 ms a commit on a
busy disk.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ..errors import RefereeError

WAIT_S = 10
"""How long a database that another process has locked is waited for, in a thread of the ledger's own. A guess."""
CONNECT_S = 5
_IN_MEMORY = "sqlite+pysqlite://"
FORMS = "sqlite:///FILE or postgresql://USER@HOST/DATABASE"
_REMEDIES = (
    (("database is locked", "lock timeout"), "another process is writing to it; wait until that is done, or end it"),
    (("disk is full", "no space left"), "the disk is full; make room, and go on: the record has what is missing"),
    (
        ("not a database", "malformed"),
        "it is no database, or a damaged one; move it away, and make it again from the record: referee rebuild FOLDER",
    ),
    (("unable to open",), "it can't be opened; its folder must exist, and you must be allowed to write there"),
    (
        ("append-only", "unique constraint", "foreign key"),
        "it has other rows of the tournament than follow from its record; make it again: referee rebuild FOLDER",
    ),
    (("readonly database", "read-only", "permission denied"), "you are not allowed to write to it"),
    (
        ("connection", "connect"),
        "there is no connection to the server; is it running, and are host, database and user right?",
    ),
)
"""Parts of what a database says -> what it means, and what to do."""


class LedgerError(RefereeError):
    """The ledger can't be used, or holds something else; the text says what to do."""


def engine_of(url: str) -> Engine:
    """Return the engine of a database; it connects when it is first used.

    Raises:
        LedgerError: it is no URL of SQLite or PostgreSQL, or the driver is not installed.
    """
    try:
        address = make_url(url)
    except ArgumentError:
        raise LedgerError(f"{url!r} is no address of a ledger; that is {FORMS}") from None
    kind = address.get_backend_name()
    if kind == "sqlite":
        return _sqlite(address)
    if kind == "postgresql":
        return _postgresql(address)
    raise LedgerError(f"a ledger is not kept in {kind}; its address is {FORMS}")


def _sqlite(address: URL) -> Engine:
    if not address.database or address.database == ":memory:":
        raise LedgerError(f"a ledger outlives the referee, so it needs a file: {FORMS}")
    return _prepared(create_engine(address.set(drivername="sqlite+pysqlite"), connect_args={"timeout": WAIT_S}))


def in_memory() -> Engine:
    """Return the engine of a new SQLite database that is gone when it is let go of."""
    return _prepared(create_engine(_IN_MEMORY, poolclass=StaticPool))


def read_only(path: Path) -> Engine:
    """Return the engine of a file in SQLite that may be anybody's: nothing is written, not even beside it."""
    has_log = path.with_name(f"{path.name}-wal").exists()
    address = f"{path.absolute().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}"

    def _opened() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, timeout=WAIT_S)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        return connection

    return _prepared(create_engine(_IN_MEMORY, poolclass=StaticPool, creator=_opened))


def _prepared(engine: Engine) -> Engine:
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _postgresql(address: URL) -> Engine:
    options = f"-c lock_timeout={WAIT_S}s {address.query.get('options', '')}"
    arguments = {"connect_timeout": CONNECT_S, "client_encoding": "utf8", "options": options}
    try:
        return create_engine(address.set(drivername="postgresql+psycopg"), connect_args=arguments, pool_pre_ping=True)
    except ImportError:
        raise LedgerError("PostgreSQL's driver is not installed: pip install 'bot-referee[postgres]'") from None


def _prepare(connection: Any, _record: Any) -> None:
    """Set up a connection to SQLite; transactions are begun by `_begin`, not by the driver."""
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    """Begin a transaction; one that will write takes the lock at once, for later it could not get it any more."""
    is_reader = connection.get_execution_options().get("is_reader", False)
    connection.exec_driver_sql("BEGIN" if is_reader else "BEGIN IMMEDIATE")


def set_journal(engine: Engine, mode: str) -> None:
    """Let an SQLite database keep a write-ahead log (`wal`), or none but for each transaction (`delete`).

    Raises:
        LedgerError: it can't; another process has it open, or its disk is no place for shared memory.
    """
    with clear_errors(engine):
        connection = engine.raw_connection()
        try:
            (kept,) = connection.cursor().execute(f"PRAGMA journal_mode = {mode}").fetchone()
        finally:
            connection.close()
    if kept != mode:
        raise LedgerError(f"the ledger {shown(engine)} can't be kept there: a disk of this machine is needed")


@contextmanager
def clear_errors(engine: Engine) -> Iterator[None]:
    """Turn what a database and its driver raise into an error that says what to do.

    Raises:
        LedgerError: something went wrong.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OverflowError, UnicodeError) as error:
        raise LedgerError(f"the ledger {shown(engine)}: {_meaning(error)}") from error


def _meaning(error: BaseException) -> str:
    """Return what an error means and what to do, if that is known, and else what the database said."""
    said = str(getattr(error, "orig", None) or error).strip()
    lowered = said.lower()
    known = (remedy for parts, remedy in _REMEDIES if any(part in lowered for part in parts))
    return next(known, said.partition("\n")[0])


def shown(engine: Engine) -> str:
    """Return the address of a database, without its password."""
    return engine.url.set(drivername=engine.url.get_backend_name()).render_as_string(hide_password=True)
