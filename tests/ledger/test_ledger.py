"""The ledger on both databases: what goes in comes out, in order, and stays as it is."""

from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import create_engine, text

from referee.ledger.ledger import Ledger, LedgerError, url_of
from referee.ledger.tables import REFUSAL, metadata
from referee.tournament.match_context import FoulEntry, MatchEntry

from ..tournament.courses import spec_of
from .ledgers import AT, SALT, SPEC, entry_of, founded, in_tournament

_NUMBERS = count()

# --- tournaments


def test_a_tournament_is_founded_once(ledger: Ledger) -> None:
    """The same again changes nothing; what was founded comes back."""
    ledger.found(SPEC, SALT)
    assert ledger.spec("cup") == (SPEC, SALT)
    assert ledger.spec("cap") is None


@pytest.mark.parametrize(
    ("spec", "salt", "difference"),
    [
        (spec_of(4, duplicate=True), SALT, "duplicate is False there, True here"),
        (spec_of(4, "swiss"), SALT, "format is 'roundrobin' there, 'swiss' here"),
        (SPEC, "00" * 16, "another salt"),
    ],
)
def test_another_tournament_of_that_name_is_refused(ledger: Ledger, spec: Any, salt: str, difference: str) -> None:
    """The organiser is told how they differ."""
    with pytest.raises(LedgerError, match=rf"another tournament 'cup': .*{difference}.*another name"):
        ledger.found(spec, salt)
    assert ledger.spec("cup") == (SPEC, SALT)


def test_tournaments_share_a_ledger(ledger: Ledger) -> None:
    """Each has its own results, counted from 1, whatever the others do."""
    ledger.found(replace(SPEC, name="cap"), SALT)
    for number in (1, 2, 3):
        assert ledger.take(entry_of(number), AT) == number
        assert ledger.take(in_tournament(entry_of(number), "cap"), AT) == number
    assert [entry.match for entry in ledger.entries("cap")] == ["cap-00001", "cap-00002", "cap-00003"]
    assert [entry.match for entry in ledger.entries("cup")] == ["cup-00001", "cup-00002", "cup-00003"]
    assert list(ledger.entries("none")) == []


# --- results


@pytest.fixture
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let ten rows be in memory at a time, and return that."""
    monkeypatch.setattr("referee.ledger.ledger.CHUNK", 10)
    monkeypatch.setattr("referee.ledger.rows.CHUNK", 10)
    return 10


@pytest.mark.parametrize("last", [19, 20, 21])
def test_results_come_in_the_order_in_which_they_were_taken(ledger: Ledger, few_at_a_time: int, last: int) -> None:
    """Whatever their numbers are, over the bounds of what is read at a time, and while more are taken."""
    assert few_at_a_time == 10
    numbers = [*range(last, 0, -1)]
    with ledger.at_once():
        assert [ledger.take(entry_of(number), AT) for number in numbers] == list(range(1, last + 1))
    reading = ledger.entries("cup")
    assert next(reading) == entry_of(last)
    ledger.take(entry_of(last + 1), AT)
    assert [item.context.number for item in reading] == [*numbers[1:], last + 1]


@pytest.mark.parametrize(
    "entry",
    [
        entry_of(1, void="the disk is full", ranking=(), scores=(0, 0), fouls=(), reason=""),
        entry_of(1, ranking=((0, 1),), fouls=()),
        entry_of(1, scores=(2**62, -(2**62)), turns=10**9, used_ms=(0.001, 86_400_000.125)),
        entry_of(
            1, fouls=(FoulEntry(seat=1, cause="oversize", turn=0, code="x"), FoulEntry(seat=0, cause="y", turn=1))
        ),
        entry_of(1, names=("Ä" * 20, "'; DROP TABLE results; --")),
    ],
    ids=["void", "drawn", "large", "two fouls", "names"],
)
def test_a_result_comes_out_as_it_went_in(ledger: Ledger, entry: MatchEntry) -> None:
    """Every field of it."""
    ledger.take(entry, AT)
    assert list(ledger.entries("cup")) == [entry]


@pytest.fixture(scope="module")
def any_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """Return a ledger that many examples share, each with a tournament of its own."""
    made = founded(url_of(tmp_path_factory.mktemp("any") / "ledger.sqlite"))
    yield made
    made.close()


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_any_result_comes_out_as_it_went_in(any_ledger: Ledger, data: st.DataObject) -> None:
    """Whatever players wrote, and however many they were; of what they wrote only NUL is replaced."""
    name = f"any{next(_NUMBERS)}"
    entries = [in_tournament(entry_of(number, **data.draw(fields(number))), name) for number in (1, 2)]
    with any_ledger.at_once():
        any_ledger.found(replace(SPEC, name=name), SALT)
        for entry in entries:
            any_ledger.take(entry, AT)
    assert list(any_ledger.entries(name)) == [_pictured(entry) for entry in entries]


@st.composite
def fields(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """Return fields that the result of a tournament's match may have."""
    words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    seats = draw(st.integers(2, 6))
    order = draw(st.permutations(range(seats)))
    cuts = sorted({0, seats, *draw(st.sets(st.integers(1, seats - 1)))})
    ranking = tuple(tuple(sorted(order[one:other])) for one, other in pairwise(cuts))
    fouls = st.builds(
        FoulEntry,
        seat=st.integers(0, seats - 1),
        cause=words,
        turn=st.integers(0, 10**6),
        rule=st.none() | words,
        code=st.none() | words,
        detail=words,
    )
    opening = {"entrants": tuple(order), "table": draw(words), "taken": tuple(draw(st.lists(words)))}
    return {
        "context": replace(entry_of(number).context, attempt=draw(st.integers(0, 2**62)), **opening),
        "names": tuple(draw(words) for _ in range(seats)),
        "void": draw(st.none() | words),
        "ranking": draw(st.sampled_from([(), ranking])),
        "scores": tuple(draw(st.integers(-(2**62), 2**62)) for _ in range(seats)),
        "fouls": tuple(draw(st.lists(fouls, max_size=3))),
        "used_ms": tuple(draw(st.floats(0, 1e9)) for _ in range(seats)),
    }


def _pictured(entry: MatchEntry) -> MatchEntry:
    """Return an entry with a picture in place of each NUL in what stands in a column of its own."""

    def picture(words: str | None) -> Any:
        return None if words is None else words.replace("\0", "\u2400")

    return replace(
        entry,
        context=replace(entry.context, table=picture(entry.context.table)),
        names=tuple(picture(name) for name in entry.names),
        void=picture(entry.void),
        fouls=tuple(
            replace(
                foul,
                cause=picture(foul.cause),
                rule=picture(foul.rule),
                code=picture(foul.code),
                detail=picture(foul.detail),
            )
            for foul in entry.fouls
        ),
    )


def test_what_a_player_wrote_is_harmless(ledger: Ledger) -> None:
    """NUL, which PostgreSQL refuses, is pictured; all else is kept."""
    detail = "a\0b '\"; \\ %s :x \u202e \U0001f600"
    ledger.take(entry_of(1, fouls=(FoulEntry(seat=0, cause="flood", turn=1, detail=detail),)), AT)
    (entry,) = ledger.entries("cup")
    assert entry.fouls[0].detail == detail.replace("\0", "\u2400")


def test_a_match_that_is_played_on_was_opened_once(ledger: Ledger) -> None:
    """Opened again for the same it stays as it is, before its result and after."""
    context = entry_of(1).context
    ledger.opened("cup-00001", context, AT)
    ledger.opened("cup-00001", context, "later")
    ledger.take(entry_of(1), AT)
    ledger.opened("cup-00001", context, "later")
    assert sum(row[0] == "openings" for row in ledger.dump("cup")) == 1


def _supersede_twice(ledger: Ledger) -> None:
    ledger.supersede("cup-00001", "void", None, AT)
    ledger.supersede("cup-00001", "so", None, AT)


REFUSED: dict[str, tuple[Callable[[Ledger], Any], str]] = {
    "taken twice": (lambda ledger: ledger.take(entry_of(1), AT), "cup-00001 was taken before, as result 1 of cup"),
    "opened for something else": (
        lambda ledger: ledger.opened("cup-00001", entry_of(2).context, AT),
        "cup-00001 as opened for something else; .* referee rebuild FOLDER",
    ),
    "taken as something else": (
        lambda ledger: ledger.take(entry_of(2, context=entry_of(3).context), AT),
        "cup-00002 as opened for something else",
    ),
    "never founded": (lambda ledger: ledger.take(in_tournament(entry_of(1), "cap"), AT), "no tournament 'cap'"),
    "opened, never founded": (
        lambda ledger: ledger.opened("cap-1", in_tournament(entry_of(1), "cap").context, AT),
        "no tournament 'cap'",
    ),
    "suspended, never founded": (lambda ledger: ledger.suspend("cap", 1, "late", AT), "no tournament 'cap'"),
    "no such result": (lambda ledger: ledger.supersede("cup-00002", "so", None, AT), "no result of cup-00002"),
    "superseded twice": (
        _supersede_twice,
        "cup-00001 is superseded already: void",
    ),
    "a number too large": (lambda ledger: ledger.take(entry_of(3, scores=(2**70, 0)), AT), "the ledger .*"),
}


@pytest.mark.parametrize(("write", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_contradicts_the_ledger_is_refused(ledger: Ledger, write: Callable[[Ledger], Any], complaint: str) -> None:
    """The text says what is wrong, and the results stay as they were."""
    ledger.take(entry_of(1), AT)
    ledger.opened("cup-00002", entry_of(2).context, AT)
    with pytest.raises(LedgerError, match=complaint):
        write(ledger)
    assert list(ledger.entries("cup")) == [entry_of(1)]
    assert ledger.take(entry_of(2), AT) == 2


def test_a_result_is_superseded_with_a_reason_and_stays(ledger: Ledger) -> None:
    """It comes out as it was taken; why it does not count, and who said so, stands beside it."""
    ledger.take(entry_of(1), AT)
    ledger.supersede("cup-00001", "the table was wet", "the organiser", AT)
    assert list(ledger.entries("cup")) == [entry_of(1)]
    assert ("supersessions", "cup", 1, "the table was wet", "the organiser") in ledger.dump("cup")


def test_who_is_suspended_stays_so_for_the_first_reason(ledger: Ledger) -> None:
    """A referee that was started again may say it again."""
    ledger.suspend("cup", 2, "failed to start", AT)
    ledger.suspend("cup", 2, "said otherwise", AT)
    assert [row for row in ledger.dump("cup") if row[0] == "suspensions"] == [
        ("suspensions", "cup", 2, "failed to start")
    ]


# --- append-only


def _filled(ledger: Ledger) -> None:
    ledger.take(entry_of(1), AT)
    ledger.supersede("cup-00001", "so", None, AT)
    ledger.suspend("cup", 1, "so", AT)


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_the_database_refuses_to_change_a_row(ledger: Ledger, url: str, table: str) -> None:
    """Whoever asks, and however: rows are neither changed nor deleted nor replaced."""
    _filled(ledger)
    columns = ", ".join(metadata.tables[table].columns.keys())
    first = metadata.tables[table].primary_key.columns.keys()[0]
    asked = [f"UPDATE {table} SET {first} = {first}", f"DELETE FROM {table}"]
    if url.startswith("sqlite"):
        asked.append(f"INSERT OR REPLACE INTO {table} SELECT {columns} FROM {table}")
    else:
        asked.append(f"TRUNCATE {table} CASCADE")
        asked.append(f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({first}) DO UPDATE SET {first} = NULL")
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    before = _rows(engine, table)
    assert before
    for statement in asked:
        with pytest.raises(Exception, match=f"{REFUSAL}|no unique"), engine.begin() as connection:
            connection.execute(text(statement))
    assert _rows(engine, table) == before
    engine.dispose()


def _rows(engine: Any, table: str) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text(f"SELECT * FROM {table}")))


# --- comparing, copying, sharing


def test_dumps_tell_ledgers_apart_by_what_counts(url: str, tmp_path: Path) -> None:
    """Times of day and the time that answers took do not show in a dump, all else does; on whichever database."""
    one, other = founded(url), founded(url_of(tmp_path / "other.sqlite"))
    _filled(one)
    other.opened("cup-00001", entry_of(1).context, "later")
    other.take(entry_of(1, used_ms=(9.0, 9.0)), "later")
    other.suspend("cup", 1, "so", "later")
    assert one.dump("cup") != other.dump("cup")
    other.supersede("cup-00001", "so", None, "later")
    assert one.dump("cup") == other.dump("cup")
    assert {row[0] for row in one.dump("cup")} == metadata.tables.keys() - {"ledger_versions"}
    one.close()
    other.close()


def test_all_at_once_or_nothing(ledger: Ledger) -> None:
    """What is written together is there together; if something goes wrong in between, none of it is."""
    with pytest.raises(LedgerError, match="taken before"):
        _take_twice(ledger)
    assert list(ledger.entries("cup")) == []
    with ledger.at_once():
        ledger.take(entry_of(1), AT)
        assert list(ledger.entries("cup")) == [entry_of(1)]
    assert list(ledger.entries("cup")) == [entry_of(1)]


def _take_twice(ledger: Ledger) -> None:
    with ledger.at_once():
        ledger.take(entry_of(1), AT)
        ledger.take(entry_of(1), AT)


def test_other_tournaments_are_copied(url: str, tmp_path: Path, few_at_a_time: int) -> None:
    """A new ledger adopts all that an old one has, except the tournament that is to be made again."""
    old, new = founded(url), Ledger(url_of(tmp_path / "new.sqlite"))
    old.found(replace(SPEC, name="cap"), SALT)
    with old.at_once():
        _filled(old)
        for number in range(1, 2 * few_at_a_time + 2):
            old.take(in_tournament(entry_of(number), "cap"), AT)
        old.supersede("cap-00007", "so", "me", AT)
    new.adopt(old, but="cup")
    assert new.dump("cap") == old.dump("cap")
    assert new.dump("cup") == []
    old.close()
    new.close()


def test_two_referees_take_results_at_the_same_time(url: str) -> None:
    """Each result has a place of its own in the order, and none is lost."""
    founded(url).close()
    ledgers = [Ledger(url), Ledger(url)]
    places: list[int] = []

    def _take(ledger: Ledger, first: int) -> None:
        places.extend([ledger.take(entry_of(number), AT) for number in range(first, 40, 2)])

    threads = [Thread(target=_take, args=(ledger, first)) for first, ledger in enumerate(ledgers, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(places) == list(range(1, 40))
    assert len(list(ledgers[0].entries("cup"))) == 39
    for ledger in ledgers:
        ledger.close()
