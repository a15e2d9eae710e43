"""The tables of a ledger, and what makes its database refuse to change a row.

A row is written once. SQLite and PostgreSQL refuse to change or delete one, whoever asks; whoever drops that refusal
first can forge a ledger, but not the records that it can be made again from.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
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


class Words(TypeDecorator[str]):
    """Text, perhaps of a player's; PostgreSQL takes no NUL, so its picture stands for it in every database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """Return a text as it is kept."""
        return None if value is None else value.replace("\0", "\u2400")


metadata = MetaData()
_AT_STEP = {"line": "steps"}


def _table(
    name: str, *columns: Column[Any], key: tuple[str, ...], parents: Mapping[str, str] = _AT_STEP, unique: str = ""
) -> Table:
    """Return a table whose rows belong to a tournament.

    Args:
        name: its own.
        columns: but for the tournament's name.
        key: the columns that tell its rows apart within the tournament.
        parents: column -> the table with a column of that name that a row belongs to.
        unique: another column that tells its rows apart.
    """
    links = (
        ForeignKeyConstraint(["tournament", column], [f"{parent}.tournament", f"{parent}.{column}"])
        for column, parent in parents.items()
    )
    others = [UniqueConstraint("tournament", unique)] if unique else []
    tournament = Column("tournament", Words, ForeignKey("tournaments.name"), nullable=False)
    return Table(name, metadata, tournament, *columns, PrimaryKeyConstraint("tournament", *key), *links, *others)


def _text(name: str, *, is_optional: bool = False) -> Column[Any]:
    return Column(name, Words, nullable=is_optional)


def _number(name: str, *, is_optional: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=is_optional)


def _measure(name: str) -> Column[Any]:
    return Column(name, Double, nullable=False)


versions = Table("ledger_versions", metadata, Column("version", Integer, primary_key=True, autoincrement=False))
tournaments = Table(
    "tournaments", metadata, Column("name", Words, primary_key=True), _text("spec"), _text("salt"), _text("key")
)
entrants = _table(
    "entrants",
    _number("entrant"),
    _text("name"),
    _text("player"),
    _number("line", is_optional=True),  # where it joined; those that were there from the start have none
    key=("entrant",),
)
steps = _table("steps", _number("line"), _text("hash"), _text("event"), _text("at"), key=("line",), parents={})
openings = _table(
    "openings",
    _number("line"),
    _text("head"),
    _text("match"),
    _number("number"),
    _number("round"),
    _text("stage"),  # a column called `table` has to be quoted by whoever asks for it
    _number("leg"),
    _number("attempt"),
    _text("entrants"),
    key=("line",),
    unique="match",
)
results = _table(
    "results",
    _number("line"),
    _text("match"),
    _text("void", is_optional=True),
    _text("reason"),
    _number("turns"),
    _text("head"),
    key=("line",),
    parents={**_AT_STEP, "match": "openings"},
    unique="match",
)
placings = _table(
    "placings",
    _number("line"),
    _number("seat"),
    _number("entrant"),
    _text("name"),
    _number("place", is_optional=True),
    _number("score"),
    _measure("used_ms"),
    key=("line", "seat"),
    parents={"line": "results"},
)
fouls = _table(
    "fouls",
    _number("line"),
    _number("number"),
    _number("seat"),
    _text("cause"),
    _number("turn"),
    _text("rule", is_optional=True),
    _text("code", is_optional=True),
    _text("detail"),
    key=("line", "number"),
    parents={"line": "results"},
)
supersessions = _table(
    "supersessions",
    _text("match"),
    _number("line"),
    _text("reason"),
    _text("ruled_by", is_optional=True),
    key=("match",),
    parents={**_AT_STEP, "match": "results"},
)
suspensions = _table("suspensions", _number("line"), _number("entrant"), _text("why"), key=("line", "entrant"))
byes = _table(
    "byes",
    _number("line"),
    _number("number"),
    _number("round"),
    _number("entrant"),
    _text("stage"),
    _number("against", is_optional=True),
    key=("line", "number"),
)
rulings = _table(
    "rulings",
    _number("line"),
    _text("id"),
    _text("kind"),
    _text("name", is_optional=True),
    _text("match", is_optional=True),
    _text("reason"),
    _text("ruled_by"),
    key=("line",),
)
standings = _table(
    "standings",
    _number("line"),
    _number("place"),
    _number("entrant"),
    _measure("points"),
    _text("tie_breaks"),
    _number("played"),
    _number("byes"),
    _number("has_withdrawn"),
    key=("line", "entrant"),
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
