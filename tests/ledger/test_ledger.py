"""The ledger on both databases: what a tournament's steps become in it, and that it stays as it is."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import create_engine, text

from referee.ledger.ledger import Ledger, LedgerError, url_of
from referee.ledger.tables import REFUSAL, metadata
from referee.tournament import commands as c
from referee.tournament import events as e

from ..tournament.courses import AT, SALT, spec_of
from .ledgers import KEY, LATER, SPEC, begin, course, founded, opened, played, rows, ruling, step, stop, taken

# --- tournaments


def test_a_tournament_is_founded_once(ledger: Ledger) -> None:
    """The same again changes nothing."""
    before = list(ledger.rows("cup"))
    ledger.found(SPEC, SALT, KEY)
    assert list(ledger.rows("cup")) == before
    assert ledger.has("cup")
    assert not ledger.has("cap")
    assert rows(ledger, "entrants") == [(number, f"e{number}", "house:dag", None) for number in range(5)]


@pytest.mark.parametrize(
    ("spec", "salt", "key", "difference"),
    [
        (replace(SPEC, duplicate=True), SALT, KEY, "duplicate is False there, True here"),
        (spec_of(5), SALT, KEY, "format is 'swiss' there, 'roundrobin' here"),
        (SPEC, "00" * 16, KEY, "another salt or key"),
        (SPEC, SALT, "00" * 32, "another salt or key"),
    ],
    ids=["duplicate", "format", "salt", "key"],
)
def test_another_tournament_of_that_name_is_refused(
    ledger: Ledger, spec: Any, salt: str, key: str, difference: str
) -> None:
    """The organiser is told how they differ."""
    before = list(ledger.rows("cup"))
    with pytest.raises(LedgerError, match=rf"another tournament 'cup': .*{difference}.*another name"):
        ledger.found(spec, salt, key)
    assert list(ledger.rows("cup")) == before


def test_tournaments_share_a_ledger(ledger: Ledger) -> None:
    """Each has its own course, whatever the others do."""
    ledger.found(replace(SPEC, name="cap"), SALT, KEY)
    for one, other in zip(course(), course("cap"), strict=True):
        ledger.take("cup", one)
        ledger.take("cap", other)
    assert len(rows(ledger, "steps", "cap")) == len(rows(ledger, "steps", "cup")) == len(course())
    assert list(ledger.rows("none")) == []


# --- steps


def test_a_match_stands_in_the_tables(ledger: Ledger) -> None:
    """What it was opened for, what came of it, and whose steps they were."""
    tournament, steps = begin()
    name = opened(tournament, steps)
    fixture = tournament.playing[name]
    taken(ledger, steps)
    head, entrants = steps[-1].hash, f"[{fixture.entrants[0]},{fixture.entrants[1]}]"
    assert rows(ledger, "openings") == [(3, head, name, fixture.number, 1, fixture.table, 0, 0, entrants)]
    assert rows(ledger, "results") == []
    entry = played(tournament, steps)
    taken(ledger, steps)
    assert rows(ledger, "results") == [(5, entry.match, None, entry.reason, entry.turns, entry.head)]
    assert [(row[1:4], row[5:]) for row in rows(ledger, "placings")] == [
        ((seat, entrant, entry.names[seat]), (entry.scores[seat], entry.used_ms[seat]))
        for seat, entrant in enumerate(entry.fixture.entrants)
    ]
    assert [row[2:] for row in rows(ledger, "steps")] == [
        (kind, AT) for kind in ("begun", "round-paired", "match-opened", "match-opened", "match-closed")
    ]


@pytest.mark.parametrize(("ranking", "places"), [(((1,), (0,)), [2, 1]), (((0, 1),), [1, 1]), ((), [None, None])])
def test_who_shares_a_place_stands_there(ledger: Ledger, ranking: Any, places: list[int | None]) -> None:
    """As in a table of results; of a void match nobody has one."""
    tournament, steps = begin()
    played(tournament, steps, ranking=ranking, void=None if ranking else "the disk is full")
    taken(ledger, steps)
    assert [row[4] for row in rows(ledger, "placings")] == places


def test_all_that_happens_is_kept(ledger: Ledger) -> None:
    """Every table has its rows, and text of players is harmless: of what they wrote only NUL is replaced."""
    taken(ledger, course())
    assert {row[0] for row in ledger.rows("cup")} == metadata.tables.keys() - {"ledger_versions"}
    details = [row[-1] for row in rows(ledger, "fouls")]
    assert "a\u2400b '\"; \\ %s :x \u202e" in details
    (joined,) = [row for row in rows(ledger, "entrants") if row[-1] is not None]
    assert joined[:2] == (5, "late")
    assert [row[2:] for row in rows(ledger, "rulings")] == [
        (kind, name, match, "the table was wet", "the organiser")
        for kind, name, match in (
            ("replay", None, "cup-00001r1"),
            ("withdraw", "e4", None),
            ("reinstate", "e4", None),
            ("disqualify", "e3", None),
        )
    ]
    end = course()[-1].commands[0]
    assert isinstance(end, c.EndTournament)
    assert {row[2]: (row[1], row[3]) for row in rows(ledger, "standings")} == {
        line.entrant: (line.place, line.points) for line in end.standings
    }


def test_a_result_is_superseded_once_and_stays(ledger: Ledger) -> None:
    """By a fault of the referee's, by rules or by a ruling; what was only ruled is no result."""
    tournament, steps = begin()
    void = played(tournament, steps, void="the disk is full", ranking=()).match
    match = played(tournament, steps).match
    name = tournament.spec.entrants[0].name
    step(tournament, steps, ruling("void", match=match))
    step(tournament, steps, ruling("replay", match=match))
    waiting = next(each for each in tournament.fixtures() if each.match not in tournament.playing)
    name = tournament.spec.entrants[waiting.entrants[0]].name
    step(tournament, steps, ruling("award", match=waiting.match, entrant=name))
    step(tournament, steps, ruling("void", match=waiting.match))
    taken(ledger, steps)
    assert [row[1] for row in rows(ledger, "results")] == [void, match]
    assert sorted(rows(ledger, "supersessions")) == [
        (void, 4, "void: the disk is full", None),
        (match, 7, "the table was wet", "the organiser"),
    ]


def test_who_is_suspended_twice_stands_there_twice(ledger: Ledger) -> None:
    """With the line, for in between they were reinstated."""
    tournament, steps = begin()
    for kind in ("withdraw", "reinstate", "withdraw"):
        step(tournament, steps, ruling(kind, entrant="e1"))
    taken(ledger, steps)
    assert rows(ledger, "suspensions") == [(3, 1, "the table was wet"), (5, 1, "the table was wet")]
    assert [row[3] for row in rows(ledger, "steps")][2:] == [LATER] * 3


# --- the line that it is at


@pytest.mark.parametrize("known", [0, 1, 7, len(course())])
def test_what_is_known_is_told_again(url: str, known: int) -> None:
    """Another process takes in what is missing, and nothing twice."""
    with closing(founded(url)) as ledger:
        taken(ledger, course()[:known])
    with closing(Ledger(url)) as again:
        taken(again, course())
        found = list(again.rows("cup"))
        taken(again, course())
        assert list(again.rows("cup")) == found
    assert [row[2:4] for row in found if row[0] == "steps"] == [(each.line, each.hash) for each in course()]


@pytest.mark.parametrize("other", [course()[0], course()[3], course()[6]], ids=["first", "middle", "last"])
def test_another_course_is_refused(url: str, other: c.TakenStep) -> None:
    """The one that tells it, and what is written behind it, may be of the same length or shorter."""
    with closing(founded(url)) as ledger:
        taken(ledger, course()[:7])
    with closing(Ledger(url)) as ledger:
        before = list(ledger.rows("cup"))
        with pytest.raises(LedgerError, match=r"another course of cup from line .*: referee rebuild FOLDER"):
            ledger.take("cup", replace(other, hash="0" * 64))
        assert list(ledger.rows("cup")) == before
        taken(ledger, course())


def test_a_line_within_that_the_ledger_lacks_is_refused(ledger: Ledger) -> None:
    """There a referee had sealed its record, in that other course."""
    taken(ledger, [stop(1), stop(3)])
    with pytest.raises(LedgerError, match="another course of cup from line 2 on"):
        ledger.take("cup", stop(2))
    ledger.take("cup", stop(4))


REFUSED: dict[str, tuple[Callable[[Ledger], Any], str]] = {
    "never founded": (lambda ledger: ledger.take("cap", stop(1)), "no tournament 'cap'"),
    "a number too large": (
        lambda ledger: ledger.take(
            "cup",
            replace(stop(9), commands=(c.GiveBye(number=2**70, round=1, entrant=0, table=""),)),
        ),
        "the ledger .*",
    ),
    "a match twice": (
        lambda ledger: ledger.take("cup", replace(course()[2], line=9)),
        "other rows of the tournament than follow from its record; make it again",
    ),
}


@pytest.mark.parametrize(("write", "complaint"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_fit_is_refused(ledger: Ledger, write: Callable[[Ledger], Any], complaint: str) -> None:
    """The text says what is wrong, nothing of the step is kept, and the next one is taken."""
    taken(ledger, course()[:4])
    before = list(ledger.rows("cup"))
    with pytest.raises(LedgerError, match=complaint):
        write(ledger)
    assert list(ledger.rows("cup")) == before
    taken(ledger, course())


# --- append-only


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_the_database_refuses_to_change_a_row(ledger: Ledger, url: str, table: str) -> None:
    """Whoever asks, and however: rows are neither changed nor deleted nor replaced."""
    with ledger.at_once():
        taken(ledger, course())
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


# --- copying, all at once


def test_both_databases_say_the_same(url: str, tmp_path: Path) -> None:
    """Row for row, in the same order."""
    with closing(founded(url)) as one, closing(founded(url_of(tmp_path / "other.sqlite"))) as other:
        for ledger in (one, other):
            with ledger.at_once():
                taken(ledger, course())
        assert list(one.rows("cup")) == list(other.rows("cup"))


def test_all_at_once_or_nothing(ledger: Ledger) -> None:
    """If something goes wrong in between, nothing is there, and all of it may be told again."""
    with pytest.raises(LedgerError, match="another course"):
        _take_another(ledger)
    assert rows(ledger, "steps") == []
    with ledger.at_once():
        taken(ledger, course())
    assert len(rows(ledger, "steps")) == len(course())


def _take_another(ledger: Ledger) -> None:
    with ledger.at_once():
        taken(ledger, course())
        ledger.take("cup", replace(course()[2], hash="0" * 64))


def test_other_tournaments_are_copied(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new ledger adopts all that an old one has, except the tournament that is to be made again."""
    monkeypatch.setattr("referee.ledger.rows.CHUNK", 10)
    with closing(founded(url)) as old, closing(Ledger(url_of(tmp_path / "new.sqlite"))) as new:
        old.found(replace(SPEC, name="cap"), SALT, KEY)
        with old.at_once():
            taken(old, course())
            taken(old, course("cap"), "cap")
        new.adopt(old, but="cup")
        assert list(new.rows("cap")) == list(old.rows("cap"))
        assert list(new.rows("cup")) == []


def test_a_kind_of_event_without_a_table_is_a_step(ledger: Ledger) -> None:
    """A program that changed, a referee that came and went."""
    tournament, steps = begin()
    for event in (
        e.ProgramChanged(at=AT, entrant=1, digest="0f" * 32),
        e.Stopped(at=AT, why="asked to"),
        e.TournamentResumed(at=LATER, referee="1.0"),
    ):
        step(tournament, steps, event)
    taken(ledger, steps)
    assert [row[2] for row in rows(ledger, "steps")][2:] == ["program-changed", "stopped", "resumed"]
