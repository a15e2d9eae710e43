"""What goes wrong with a ledger: killed writers, locks, full disks, files that are none. Each ends in a clear error."""

import multiprocessing
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import text

from referee.ledger import engine as ledger_engine
from referee.ledger.ledger import Ledger, LedgerError, file_of, url_of, without_password

from .ledgers import founded, rows, stop, write_until_killed

KILLS = {"sqlite": 20, "postgresql": 4}


def test_what_was_committed_survives_kill_9(url: str) -> None:
    """A writer is killed at random instants: each step that it told is there, and the next one goes on."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([write_until_killed.__module__])
    random, first = Random(11), 1
    founded(url).close()
    for _ in range(KILLS[url.partition(":")[0]]):
        told, teller = context.Pipe(duplex=False)
        writer = context.Process(target=write_until_killed, args=(url, first, teller))
        writer.start()
        teller.close()
        last = first - 1
        for _ in range(random.randrange(1, 8)):
            last = told.recv()
        writer.kill()
        writer.join()
        last = _rest(told, last)
        with closing(Ledger(url)) as ledger:
            lines = [row[0] for row in rows(ledger, "steps")]
        assert last <= len(lines) <= last + 1
        assert lines == list(range(1, len(lines) + 1))
        first = len(lines) + 1


def _rest(told: "multiprocessing.connection.Connection", last: int) -> int:
    """Return the last number that was told before the writer was killed."""
    with closing(told):
        try:
            while True:
                last = told.recv()
        except EOFError:
            return last


def _text(path: Path) -> None:
    path.write_text("This is no database, whatever its name says.\n" * 100)


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")


def _newer(path: Path) -> None:
    with closing(founded(url_of(path))) as ledger, ledger._engine.begin() as connection:
        connection.execute(text("INSERT INTO ledger_versions VALUES (99)"))


def _damaged(path: Path) -> None:
    founded(url_of(path)).close()
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(data)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (_text, "no database, or a damaged one; move it away, .* referee rebuild FOLDER"),
    "damaged": (_damaged, "no database, or a damaged one; move it away, .* referee rebuild FOLDER"),
    "a folder": (Path.mkdir, "can't be opened; its folder must exist"),
    "another program's": (_foreign, "a database of something else"),
    "a newer program's": (_newer, "has version 99, and this program knows version 1"),
}


@pytest.mark.parametrize(("make", "complaint"), FILES.values(), ids=FILES.keys())
def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path, make: Callable[[Path], object], complaint: str) -> None:
    """The text says what is wrong with it and what to do, and the file stays as it is."""
    path = tmp_path / "ledger.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LedgerError, match=complaint):
        Ledger(url_of(path))
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ledger.sqlite", "'ledger.sqlite' is no address of a ledger; that is sqlite:///FILE or postgresql://"),
        ("sqlite://", "outlives the referee, so it needs a file"),
        ("sqlite:///:memory:", "outlives the referee, so it needs a file"),
        ("mysql://host/x", "not kept in mysql"),
        ("sqlite:////nowhere/ledger", "its folder must exist"),
        ("postgresql://me:secret@127.0.0.1:1/x", r"me:\*\*\*@127.0.0.1:1/x: there is no connection to the server"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(url: str, complaint: str) -> None:
    """The text says what an address looks like, or what is not there; a password is never shown."""
    with pytest.raises(LedgerError, match=complaint):
        Ledger(url)


def test_a_database_that_is_not_there_is_refused(postgresql: str) -> None:
    """The server is there, the database is not."""
    with pytest.raises(LedgerError, match="are host, database and user right"):
        Ledger(postgresql.replace("/postgres?", "/nowhere?"))


def test_the_lock_of_another_process_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who cannot write in time says so, and can once the other one is through."""
    founded(url).close()
    monkeypatch.setattr(ledger_engine, "WAIT_S", 0.1)
    with closing(Ledger(url)) as one, closing(Ledger(url)) as other:
        with one.at_once():
            one.take("cup", stop(1))
            with pytest.raises(LedgerError, match="another process is writing to it; wait"):
                other.take("cup", stop(1))
            assert rows(other, "steps") == []
        other.take("cup", stop(2))


def test_a_full_disk_is_told_and_nothing_is_half(tmp_path: Path) -> None:
    """What was taken before stays; when there is room again, it goes on."""
    with closing(founded(url_of(tmp_path / "ledger.sqlite"))) as ledger:
        pages = _pragma(ledger, "page_count") + 1
        _pragma(ledger, f"max_page_count = {pages}")
        with pytest.raises(LedgerError, match="the disk is full; make room, and go on"):
            _take_for_ever(ledger)
        lines = [row[0] for row in rows(ledger, "steps")]
        assert lines == list(range(1, len(lines) + 1))
        _pragma(ledger, f"max_page_count = {pages + 1000}")
        ledger.take("cup", stop(len(lines) + 1))
        assert len(rows(ledger, "steps")) == len(lines) + 1


def _take_for_ever(ledger: Ledger) -> None:
    for number in count(1):
        ledger.take("cup", stop(number))


def _pragma(ledger: Ledger, words: str) -> int:
    """Ask SQLite for something, on the ledger's one connection."""
    with ledger._readers.connect() as connection:
        return int(connection.exec_driver_sql(f"PRAGMA {words}").scalar_one())


def test_a_ledger_is_settled_into_one_file(tmp_path: Path) -> None:
    """It may be moved then, and not while somebody else has it open."""
    path = tmp_path / "a folder%20of#" / "ledger.sqlite"
    path.parent.mkdir()
    with closing(founded(url_of(path))) as ledger, closing(Ledger(url_of(path))) as other:
        ledger.take("cup", stop(1))
        with pytest.raises(LedgerError, match="another process"), other._reading():
            ledger.settle()
    ledger.settle()
    assert [item.name for item in path.parent.iterdir()] == ["ledger.sqlite"]
    moved = path.rename(tmp_path / "moved.sqlite")
    with closing(Ledger(url_of(moved))) as ledger:
        assert [row[0] for row in rows(ledger, "steps")] == [1]


def test_a_path_with_a_question_mark_is_kept_or_refused(tmp_path: Path) -> None:
    """What would be the address of another file is none."""
    path = tmp_path / "why?" / "ledger.sqlite"
    try:
        assert file_of(url_of(path)) == path
    except LedgerError as error:
        assert "must not have a question mark" in str(error)  # noqa: PT017  # which of both depends on the library


@pytest.mark.parametrize(
    ("url", "path", "shown"),
    [
        ("sqlite:///a/b.sqlite", Path("a/b.sqlite"), "sqlite:///a/b.sqlite"),
        ("postgresql://me:secret@host/db", None, "postgresql://me:***@host/db"),
    ],
)
def test_addresses_are_taken_apart(url: str, path: Path | None, shown: str) -> None:
    """The file of an address is told, and what of it may be shown."""
    assert file_of(url) == path
    assert without_password(url) == shown
