"""A ledger is compared with the record of its tournament: whatever was changed is told, and nothing is written."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.ledger.checking import check_ledger, project
from referee.ledger.ledger import FILE, Ledger, url_of
from referee.ledger.tables import metadata
from referee.record.reader import RecordError
from referee.record.tournament_record import TournamentRecord

from ..tournament.courses import SALT
from .ledgers import KEY, SPEC, course, write_record

TABLES = sorted(metadata.tables.keys() - {"ledger_versions"})


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> TournamentRecord:
    """Return the record of a tournament, with its ledger beside it."""
    record = write_record(tmp_path_factory.mktemp("cup"), SPEC, course())
    with closing(Ledger(url_of(record.path.with_name(FILE)))) as ledger:
        ledger.found(replace(SPEC, name="other"), SALT, KEY)
        with ledger.at_once():
            project(record, ledger)
        ledger.settle()
    return record


@pytest.fixture
def copy(record: TournamentRecord, tmp_path: Path) -> Path:
    """Return a copy of that ledger."""
    return Path(shutil.copy(record.path.with_name(FILE), tmp_path))


def files(path: Path) -> dict[str, bytes]:
    """Return what lies beside a file, and itself."""
    return {each.name: each.read_bytes() for each in path.parent.iterdir()}


def test_what_follows_from_the_record_holds(record: TournamentRecord, copy: Path) -> None:
    """Other tournaments may share the ledger; nothing is written, not even beside it."""
    before = files(copy)
    check_ledger(copy, record)
    assert files(copy) == before


def test_what_a_killed_referee_left_in_the_log_is_read(record: TournamentRecord, tmp_path: Path) -> None:
    """The write-ahead log is part of the ledger, and stays as it is."""
    live, left = tmp_path / "live" / FILE, tmp_path / "left" / FILE
    live.parent.mkdir()
    with closing(Ledger(url_of(live))) as ledger:
        with ledger.at_once():
            project(record, ledger)
        shutil.copytree(live.parent, left.parent)
    before = files(left)
    assert before[f"{FILE}-wal"]
    check_ledger(left, record)
    after = files(left)
    assert {name: after[name] for name in (FILE, f"{FILE}-wal")} == {
        name: before[name] for name in (FILE, f"{FILE}-wal")
    }


def changed(path: Path, statement: str) -> None:
    """Change a ledger behind its guards."""
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.executescript(statement)


@pytest.mark.parametrize("table", TABLES)
def test_a_row_less_is_told(record: TournamentRecord, copy: Path, table: str) -> None:
    """Of every table."""
    column = "name" if table == "tournaments" else "tournament"
    changed(copy, f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table} WHERE {column} = 'cup')")
    with pytest.raises(RecordError, match=rf"{FILE}: expected in {table}: .*; found "):
        check_ledger(copy, record)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (name, column.name)
        for name in TABLES
        for column in metadata.tables[name].columns
        if (name, column.name) != ("tournaments", "name")
    ],
)
def test_another_value_is_told(record: TournamentRecord, copy: Path, table: str, column: str) -> None:
    """In every column: times of day stand in the record, too."""
    own = "name" if table == "tournaments" else "tournament"
    row = f"(SELECT max(rowid) FROM {table} WHERE {own} = 'cup')"
    changed(copy, f"UPDATE {table} SET {column} = ifnull({column}, '') || '7' WHERE rowid = {row}")
    with pytest.raises(RecordError, match=rf"{FILE}: expected in {table}: .*; found "):
        check_ledger(copy, record)


def _nothing(path: Path) -> None:
    path.write_bytes(b"")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _view(path: Path) -> None:
    changed(path, "ALTER TABLE steps RENAME TO kept; CREATE VIEW steps AS SELECT * FROM kept")


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (Path.unlink, "no file"),
    "a folder": (_folder, "no file"),
    "empty": (_nothing, "damaged or empty"),
    "text": (lambda path: path.write_text("This is no database.\n" * 100), "no database"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:9000]), "damaged"),
    "a table that is a view": (_view, "lacks steps"),
    "another version": (lambda path: changed(path, "UPDATE ledger_versions SET version = 99"), "has version 99"),
    "text that is none": (lambda path: changed(path, "UPDATE steps SET at = CAST(x'ff' AS TEXT)"), "a ledger of the"),
    "another program's": (lambda path: changed(path, "DROP TABLE ledger_versions"), "a database of something else"),
    "without the tournament": (
        lambda path: changed(path, "UPDATE tournaments SET name = 'cap' WHERE name = 'cup'"),
        "expected in tournaments: .'cup'.*; found in steps",
    ),
}


@pytest.mark.parametrize(("spoil", "complaint"), SPOILED.values(), ids=SPOILED.keys())
def test_what_is_no_ledger_is_told(
    record: TournamentRecord, copy: Path, spoil: Callable[[Path], object], complaint: str
) -> None:
    """Whatever lies there, and it stays as it is."""
    spoil(copy)
    before = files(copy) if copy.is_file() else None
    with pytest.raises(RecordError, match=complaint):
        check_ledger(copy, record)
    assert (files(copy) if copy.is_file() else None) == before


@given(place=st.integers(0, 2**20), byte=st.integers(1, 255))
@settings(max_examples=100, deadline=None)
def test_a_spoiled_byte_is_told_or_means_nothing(
    record: TournamentRecord, tmp_path_factory: pytest.TempPathFactory, place: int, byte: int
) -> None:
    """Nothing else is raised, wherever it is; in the text of the spec or a hash it is always told."""
    data = bytearray(record.path.with_name(FILE).read_bytes())
    data[place % len(data)] ^= byte
    path = tmp_path_factory.mktemp("byte") / FILE
    path.write_bytes(data)
    try:
        check_ledger(path, record)
    except RecordError as error:
        assert error.path == path  # noqa: PT017  # both may be
    assert path.read_bytes() == data
