"""The tables of a ledger, and what makes its database refuse to change a row.

A row is written once. SQLite and PostgreSQL refuse to change or delete one, whoever asks; whoever drops that refusal
first can forge a ledger, but not the records that it can be made again from.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

VERSION = 1
"""Of these tables; counts up whenever an older program would misread them."""
REFUSAL = "the ledger is append-only"
"""What the database says to whoever would change it."""
VOLATILE = {"is_volatile": True}
"""Marks what two runs with the same results do not share: times of day, and how long answers took."""


class Words(TypeDecorator[str]):
    """Text, perhaps of a player's; PostgreSQL takes no NUL, so its picture stands for it in every database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Return a text as it is kept."""
        return None if value is None else value.replace("\0", "\u2400")


metadata = MetaData()


def _of_tournament(*key: str, unique: tuple[str, ...] = (), parent: str = "tournaments") -> list[Any]:
    """Return the constraints of a table whose rows belong to a tournament.

    Args:
        key: the columns that tell its rows apart within the tournament.
        unique: others that do so, too.
        parent: the table that a row belongs to; they share what comes first in both keys.
    """
    own = {
        "tournaments": (["tournament"], ["tournaments.name"]),
        "openings": (["tournament", "match"], ["openings.tournament", "openings.match"]),
        "results": (["tournament", "sequence"], ["results.tournament", "results.sequence"]),
    }
    columns, target = own[parent]
    constraints: list[Any] = [PrimaryKeyConstraint("tournament", *key), ForeignKeyConstraint(columns, target)]
    return constraints + ([UniqueConstraint("tournament", *unique)] if unique else [])


def _text(name: str, *, is_optional: bool = False, is_volatile: bool = False) -> Column[Any]:
    return Column(name, Words, nullable=is_optional, info=VOLATILE if is_volatile else {})


def _number(name: str, *, is_optional: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=is_optional)


versions = Table("ledger_versions", metadata, Column("version", Integer, primary_key=True, autoincrement=False))
tournaments = Table("tournaments", metadata, Column("name", Words, primary_key=True), _text("spec"), _text("salt"))
entrants = Table(
    "entrants",
    metadata,
    _text("tournament"),
    _number("entrant"),
    _text("name"),
    _text("player"),
    *_of_tournament("entrant"),
)
openings = Table(
    "openings",
    metadata,
    _text("tournament"),
    _text("match"),
    _number("opening"),
    _number("number"),
    _number("round"),
    _text("stage"),  # a column called `table` has to be quoted by whoever asks for it
    _number("leg"),
    _number("attempt"),
    _text("entrants"),
    _text("taken"),
    _text("at", is_volatile=True),
    *_of_tournament("match", unique=("opening",)),
)
results = Table(
    "results",
    metadata,
    _text("tournament"),
    _number("sequence"),
    _text("match"),
    _text("void", is_optional=True),
    _text("reason"),
    _number("turns"),
    _text("head"),
    _text("at", is_volatile=True),
    *_of_tournament("sequence", unique=("match",), parent="openings"),
)
placings = Table(
    "placings",
    metadata,
    _text("tournament"),
    _number("sequence"),
    _number("seat"),
    _number("entrant"),
    _text("name"),
    _number("place", is_optional=True),
    _number("score"),
    Column("used_ms", Double, nullable=False, info=VOLATILE),
    *_of_tournament("sequence", "seat", parent="results"),
)
fouls = Table(
    "fouls",
    metadata,
    _text("tournament"),
    _number("sequence"),
    _number("number"),
    _number("seat"),
    _text("cause"),
    _number("turn"),
    _text("rule", is_optional=True),
    _text("code", is_optional=True),
    _text("detail"),
    *_of_tournament("sequence", "number", parent="results"),
)
supersessions = Table(
    "supersessions",
    metadata,
    _text("tournament"),
    _number("sequence"),
    _text("reason"),
    _text("ruled_by", is_optional=True),
    _text("at", is_volatile=True),
    *_of_tournament("sequence", parent="results"),
)
suspensions = Table(
    "suspensions",
    metadata,
    _text("tournament"),
    _number("entrant"),
    _text("why"),
    _text("at", is_volatile=True),
    *_of_tournament("entrant"),
)


def guards(dialect: str) -> Iterator[str]:
    """Yield the statements after which a database refuses to change a row.

    Args:
        dialect: `sqlite` or `postgresql`.
    """
    if dialect == "postgresql":
        yield (
            "CREATE FUNCTION ledger_refuses() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
        )
    for table in metadata.sorted_tables:
        yield from _sqlite_guards(table) if dialect == "sqlite" else _postgresql_guards(table)


def _postgresql_guards(table: Table) -> Iterator[str]:
    yield (
        f"CREATE TRIGGER {table.name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table.name} "
        "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuses()"
    )


def _sqlite_guards(table: Table) -> Iterator[str]:
    """Yield a table's triggers; the one for inserts stops INSERT OR REPLACE, which deletes without asking any other."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    keys = [
        constraint
        for constraint in table.constraints
        if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint)
    ]
    matches = (" AND ".join(f"{column.name} = NEW.{column.name}" for column in key.columns) for key in keys)
    source = f"FROM {table.name} WHERE"
    there = " OR ".join(f"EXISTS (SELECT 1 {source} {match})" for match in sorted(matches))
    yield f"CREATE TRIGGER {table.name}_no_update BEFORE UPDATE ON {table.name} {refuse}"
    yield f"CREATE TRIGGER {table.name}_no_delete BEFORE DELETE ON {table.name} {refuse}"
    yield f"CREATE TRIGGER {table.name}_no_replace BEFORE INSERT ON {table.name} WHEN {there} {refuse}"
